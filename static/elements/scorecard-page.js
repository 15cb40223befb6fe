import { caseOf, compared } from "../scorecards.js";
import { h, mark, nameOf, seatColour } from "./dom.js";

/** @import { Challenge } from "../arena.js" */
/** @import { Cell, Line, SeatCards } from "../scorecards.js" */
/** @import { Player } from "../view.js" */

/** <scorecard-page>: what an evaluation found, seats side by side. Call `show`, `wait` or `fail`; a wish to see more comes up as `closer`. */
class ScorecardPage extends HTMLElement {
  /** @type {Challenge | null} */ #challenge = null;
  /** @type {Player[]} */ #players = [];
  #more = h("button", { type: "button" }, "Show evidence and reasons");
  #problem = h("p", { class: "problem", role: "alert" });

  connectedCallback() {
    this.#more.addEventListener("click", () => this.dispatchEvent(new CustomEvent("closer", { bubbles: true })));
    if (!this.childElementCount) this.replaceChildren(h("p", { class: "empty" }, "Loading the scorecards…"));
  }

  /** The game is still going on. @param {Challenge} challenge */
  wait(challenge) {
    this.replaceChildren(header(challenge), h("p", { class: "empty", role: "status" }, "The game is not over. The scorecards appear here by themselves as soon as it is."));
  }

  /** @param {Challenge} challenge @param {Player[]} players @param {SeatCards[]} seats */
  show(challenge, players, seats) {
    [this.#challenge, this.#players] = [challenge, players];
    this.#draw(seats, [this.#more, this.#problem]);
  }

  /** The same with everything in it. @param {SeatCards[]} seats */
  reveal(seats) {
    this.#draw(seats, [h("p", { class: "note", role: "status" }, "With evidence, reasons and what was expected: for those who keep the packs.")]);
    for (const part of this.querySelectorAll("details")) part.open = true;
  }

  refuse(/** @type {string} */ sentence) {
    this.#problem.textContent = sentence;
  }

  /** @param {SeatCards[]} seats @param {HTMLElement[]} beside */
  #draw(seats, beside) {
    if (!this.#challenge) return;
    const { challengeType, id } = this.#challenge;
    const count = Math.max(0, ...seats.map(({ cases }) => cases.length));
    const cases = Array.from({ length: count }, (_, place) => caseOf(seats, place));
    this.replaceChildren(
      header(this.#challenge, seats[0]?.cases[0]?.pack),
      h("section", { "aria-labelledby": "together" }, h("h2", { id: "together" }, seats.length > 1 ? "Seats side by side" : "All cases together"), table("Seats side by side", this.#heads(seats), [{ title: "", lines: compared(seats) }])),
      h("p", { class: "closer" }, ...beside),
      ...cases.map(({ name, parts }, place) =>
        h(
          "section",
          { class: "case", "aria-labelledby": `case-${place}` },
          h("h2", { id: `case-${place}` }, "Case ", h("bdi", {}, name)),
          table(`Case ${name}`, this.#heads(seats), parts),
          h("p", { class: "about" }, "Everything that happened: ", ...seats.map(({ seat }) => h("a", { href: `/api/challenges/${encodeURIComponent(challengeType)}/${encodeURIComponent(id)}/runs/${seat}/${encodeURIComponent(name)}/events`, download: `${name}-${seat + 1}.ndjson` }, "events of ", nameOf(this.#players[seat]?.name ?? `player ${seat + 1}`)))),
        ),
      ),
    );
  }

  /** @param {SeatCards[]} seats */
  #heads(seats) {
    return seats.map(({ seat }) => h("th", { scope: "col", class: "seat" }, h("span", { class: "speaker", "data-seat": seatColour(seat) }, mark(seat), nameOf(this.#players[seat]?.name ?? `Player ${seat + 1}`))));
  }

  /** Nothing can be shown. @param {string} title @param {string} sentence */
  fail(title, sentence) {
    this.replaceChildren(h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, h("a", { href: "/packs" }, "See all packs"))));
  }
}

/** @param {Challenge} challenge @param {{version: number, content_hash: string}} [pack] */
function header({ id, name, challengeType }, pack) {
  return h(
    "header",
    { class: "challenge-head" },
    h("a", { class: "back", href: `/session/${encodeURIComponent(id)}` }, "← The session"),
    h("h1", { tabindex: -1 }, "Scorecards · ", h("bdi", {}, name)),
    h("p", { class: "facts" }, h("a", { href: `/packs/${encodeURIComponent(challengeType)}${pack ? `?version=${pack.version}` : ""}` }, pack ? `version ${pack.version} of the pack` : "the pack"), pack && h("code", { class: "handle", title: pack.content_hash }, `${pack.content_hash.slice(0, 19)}…`)),
  );
}

/** @param {string} label @param {HTMLElement[]} heads @param {{title: string, lines: Line[]}[]} parts */
function table(label, heads, parts) {
  const rows = (/** @type {Line[]} */ lines) => lines.map(({ label, about, cells }) => h("tr", {}, h("th", { scope: "row" }, label, about && h("span", { class: "about" }, about)), ...cells.map(draw)));
  const titled = (/** @type {string} */ title) => title !== "" && h("tr", { class: "part" }, h("th", { scope: "rowgroup", colspan: heads.length + 1 }, title));
  const columns = h("colgroup", {}, h("col", { class: "what" }), ...heads.map(() => h("col", { class: "seat" })));
  const head = h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "unseen" }, "What")), ...heads));
  return h("div", { class: "wide", role: "region", "aria-label": label, tabindex: 0 }, h("table", { class: "cards" }, columns, head, ...parts.map(({ title, lines }) => h("tbody", {}, titled(title), ...rows(lines)))));
}

/** One value: what it is, how much of the best possible, and what lies behind it. @param {Cell} cell */
function draw({ kind, text, share, more = [] }) {
  const value = h("span", { class: `value ${kind}` }, kind === "pass" || kind === "fail" ? h("span", { class: "unseen" }, kind === "pass" ? "passed " : "failed ") : "", text);
  const bar = typeof share === "number" && h("meter", { min: 0, max: 1, value: share, "aria-hidden": "true" });
  const behind = more.length > 0 && h("details", {}, h("summary", {}, "why"), h("dl", {}, ...more.map(([name, said]) => h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, said)))));
  return h("td", {}, h("div", { class: "cell" }, value, bar), behind);
}

customElements.define("scorecard-page", ScorecardPage);
