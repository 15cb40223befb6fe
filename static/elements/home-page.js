import { cards, challengesOf, results, standings } from "../view.js";
import { arrange, give, h } from "./dom.js";
import "./copy-line.js";
import "./result-list.js";
import "./score-board.js";
import "./session-card.js";

/** @import { Board } from "../arena.js" */
/** @import { Wall } from "../view.js" */

export const GLOBAL = "global"; // the board of all challenges

/**
 * <home-page>: what is being played, who leads, what has ended. Call `show`; the wish for another board comes up as
 * `board`, with the challenge's type.
 */
class HomePage extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  /** @type {Map<string, any>} */ #cards = new Map();
  #parts = {
    count: h("span", { class: "count" }),
    wall: h("div", { class: "wall" }),
    choice: /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Challenge" })),
    board: /** @type {any} */ (h("score-board")),
    results: /** @type {any} */ (h("result-list")),
  };

  connectedCallback() {
    if (this.childElementCount) return;
    const { count, wall, choice, board, results } = this.#parts;
    choice.addEventListener("change", () => {
      this.dispatchEvent(new CustomEvent("board", { detail: choice.value, bubbles: true }));
    });
    this.append(
      h("h1", { class: "unseen", tabindex: -1 }, "Arena"),
      h("section", { "aria-labelledby": "live" }, h("h2", { id: "live" }, "Live ", count), wall),
      h(
        "div",
        { class: "columns" },
        h("section", { "aria-labelledby": "leaders" }, h("div", { class: "bar" }, h("h2", { id: "leaders" }, "Leaderboard"), choice), board),
        h("section", { "aria-labelledby": "finished" }, h("div", { class: "bar" }, h("h2", { id: "finished" }, "Finished")), results),
      ),
    );
  }

  /** @param {Wall | null} wall null before the lobby has answered @param {Map<string, Board>} boards @param {string} chosen */
  show(wall, boards, chosen) {
    if (wall) this.#showWall(wall);
    if (wall) this.#parts.results.results = results(wall);
    this.#showChoice(wall ? challengesOf(wall) : new Map(), chosen);
    const board = boards.get(chosen);
    this.#parts.board.standings = board ? standings(board) : null;
  }

  #showWall(/** @type {Wall} */ wall) {
    const all = cards(wall);
    const kept = new Map(all.map((card) => [card.id, this.#cards.get(card.id) ?? give(/** @type {any} */ (h("session-card")), { now: this.now })]));
    for (const card of all) kept.get(card.id).card = card;
    this.#cards = kept;
    this.#parts.count.textContent = all.length ? String(all.length) : "";
    arrange(this.#parts.wall, all.length ? [...kept.values()] : [this.#parts.wall.querySelector(".empty") ?? quiet()]);
  }

  #showChoice(/** @type {Map<string, string>} */ challenges, /** @type {string} */ chosen) {
    const { choice } = this.#parts;
    const wanted = [[GLOBAL, "All challenges"], ...[...challenges].sort()];
    const known = new Set(Array.from(choice.options, (option) => option.value));
    for (const [type, name] of wanted) if (!known.has(type)) choice.append(h("option", { value: type }, name));
    choice.value = chosen;
  }
}

/** What to do when nothing is going on. */
function quiet() {
  const demo = give(/** @type {any} */ (h("copy-line")), { text: "arena demo" });
  const frame = give(/** @type {any} */ (h("copy-line")), { text: '{"type": "create", "challengeType": "psi"}' });
  return h(
    "div",
    { class: "empty" },
    h("p", {}, "No game is being played right now. Let the house bots play:"),
    demo,
    h("p", {}, "Or open a session with this frame on the socket ", h("code", {}, "/ws"), ", and hand out the invites it answers with:"),
    frame,
  );
}

customElements.define("home-page", HomePage);
