import { cards, results } from "../wall.js";
import { arrange, give, h } from "./dom.js";
import "./board-table.js";
import "./copy-line.js";
import "./result-list.js";
import "./session-card.js";

/** @import { Scene } from "../pages/home.js" */
/** @import { Card, Wish } from "../wall.js" */

const NAMES = /** @type {Record<string, string>} */ ({ global: "All challenges" });
const RECENT = 12; // finished games that are shown
const STATUSES = [
  ["", "Any status"],
  ["active", "Live"],
  ["open", "Waiting for players"],
];

/**
 * <home-page>: what is being played, who leads, what has ended. Call `show`; the wish for another board comes up as
 * `board` with the challenge's type, that for other games as `wish`.
 */
class HomePage extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  /** @type {Map<string, any>} */ #cards = new Map();
  #told = "";
  #near = new IntersectionObserver((seen) => seen.forEach(({ target, isIntersecting }) => give(/** @type {any} */ (target), { isNear: isIntersecting })), { rootMargin: "200px" });
  #parts = {
    numbers: h("dl", { class: "numbers" }),
    count: h("span", { class: "count" }),
    challenge: /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Games of" }, h("option", { value: "" }, "All challenges"))),
    status: /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Status" }, ...STATUSES.map(([value, label]) => h("option", { value }, label)))),
    words: /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "Search", "aria-label": "Search games", "data-search": true })),
    wall: h("div", { class: "wall" }),
    choice: /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Board of" })),
    board: /** @type {any} */ (h("board-table")),
    more: h("p", { class: "more" }),
    challenges: h("ul", { class: "challenges" }),
    results: /** @type {any} */ (h("result-list")),
  };

  connectedCallback() {
    if (this.childElementCount) return;
    const { numbers, count, challenge, status, words, wall, choice, board, more, challenges, results } = this.#parts;
    choice.addEventListener("change", () => this.dispatchEvent(new CustomEvent("board", { detail: choice.value, bubbles: true })));
    for (const field of [challenge, status, words]) {
      field.addEventListener("input", () => {
        const detail = { challenge: challenge.value, status: status.value, words: words.value };
        this.dispatchEvent(new CustomEvent("wish", { detail, bubbles: true }));
      });
    }
    this.append(
      h("div", { class: "opening" }, h("h1", { tabindex: -1 }, "Games of secrets between agents"), numbers),
      h(
        "section",
        { "aria-labelledby": "live" },
        h("div", { class: "bar" }, h("h2", { id: "live" }, "Live ", count), h("div", { class: "filters", role: "search" }, words, challenge, status)),
        wall,
      ),
      h(
        "div",
        { class: "columns" },
        h(
          "div",
          { class: "stack" },
          h("section", { "aria-labelledby": "leaders" }, h("div", { class: "bar" }, h("h2", { id: "leaders" }, "Leaderboard"), choice), board, more),
          h("section", { "aria-labelledby": "finished" }, h("div", { class: "bar" }, h("h2", { id: "finished" }, "Finished")), results),
        ),
        h("section", { "aria-labelledby": "offered" }, h("div", { class: "bar" }, h("h2", { id: "offered" }, "Challenges")), challenges),
      ),
    );
  }

  /** @param {Scene} scene @param {Wish} wish */
  show({ wall, challenges, heads, board, chosen, stats }, wish) {
    this.#showKnown(JSON.stringify([challenges, heads.map(({ challengeType }) => challengeType), chosen, stats, wish]), () => {
      this.#showNumbers(stats, Object.keys(challenges).length);
      this.#showChallenges(challenges);
      this.#showChoices(challenges, [...new Set(heads.map(({ challengeType }) => challengeType))], chosen, wish);
    });
    if (wall) this.#showWall(cards(wall, wish), wall.live.size);
    if (wall) this.#parts.results.results = results(wall, wish).slice(0, RECENT);
    this.#parts.board.show(board);
  }

  /** Draw what seldom changes only if it has. @param {string} wanted @param {() => void} draw */
  #showKnown(wanted, draw) {
    if (wanted === this.#told) return;
    this.#told = wanted;
    draw();
  }

  #showNumbers(/** @type {Scene["stats"]} */ stats, /** @type {number} */ challenges) {
    if (!stats) return;
    const told = /** @type {[string, number][]} */ ([["games played", stats.gamesPlayed], ["players ranked", stats.participants], ["challenges", challenges]]);
    this.#parts.numbers.replaceChildren(...told.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", { class: "figure" }, value.toLocaleString()))));
  }

  #showChallenges(/** @type {Scene["challenges"]} */ challenges) {
    const lines = Object.entries(challenges).map(([type, { name, description, players }]) => {
      const seats = players === 1 ? "1 player" : `${players} players`;
      return h("li", {}, h("h3", {}, h("a", { href: `/challenges/${encodeURIComponent(type)}` }, name), h("span", { class: "about" }, seats)), h("p", {}, description));
    });
    this.#parts.challenges.replaceChildren(...(lines.length ? lines : [h("li", { class: "empty" }, "Loading the challenges…")]));
  }

  /** @param {Scene["challenges"]} challenges @param {string[]} types of boards @param {string} chosen @param {Wish} wish */
  #showChoices(challenges, types, chosen, wish) {
    const { choice, challenge, status, words, more } = this.#parts;
    const nameFor = (/** @type {string} */ type) => challenges[type]?.name ?? NAMES[type] ?? type;
    offer(choice, types.map((type) => [type, nameFor(type)]), chosen);
    offer(challenge, [["", "All challenges"], ...Object.keys(challenges).map((type) => /** @type {[string, string]} */ ([type, nameFor(type)]))], wish.challenge ?? "");
    status.value = wish.status ?? "";
    if (document.activeElement !== words) words.value = wish.words ?? "";
    more.replaceChildren(h("a", { href: `/boards/${encodeURIComponent(chosen)}` }, "The whole board, scatter and meetings"));
  }

  #showWall(/** @type {Card[]} */ all, /** @type {number} */ total) {
    const kept = new Map(all.map((card) => [card.id, this.#cards.get(card.id) ?? this.#newCard()]));
    for (const card of all) kept.get(card.id).card = card;
    for (const [id, element] of this.#cards) if (!kept.has(id)) this.#near.unobserve(element);
    this.#cards = kept;
    const { count, wall } = this.#parts;
    const words = all.length === total ? String(total) : `${all.length} of ${total}`;
    if (count.textContent !== words) count.textContent = total ? words : "";
    arrange(wall, all.length ? [...kept.values()] : [this.#nothing(total > 0)]);
  }

  #newCard() {
    const card = give(/** @type {any} */ (h("session-card")), { now: this.now });
    this.#near.observe(card);
    return card;
  }

  #nothing(/** @type {boolean} */ isFiltered) {
    const wanted = isFiltered ? "filtered" : "quiet";
    return this.#parts.wall.querySelector(`.${wanted}`) ?? (isFiltered ? h("p", { class: "empty filtered" }, "No live game is like that. Choose other filters to see more.") : quiet());
  }
}

/** Fill a choice, without touching it while nothing is new. @param {HTMLSelectElement} choice @param {[string, string][]} wanted @param {string} chosen */
function offer(choice, wanted, chosen) {
  const known = Array.from(choice.options, ({ value, text }) => [value, text]);
  if (JSON.stringify(known) !== JSON.stringify(wanted)) choice.replaceChildren(...wanted.map(([value, text]) => h("option", { value }, text)));
  choice.value = chosen;
}

/** What to do when nothing is going on. */
function quiet() {
  const demo = give(/** @type {any} */ (h("copy-line")), { text: "arena demo" });
  return h("div", { class: "empty quiet" }, h("p", {}, "No game is being played right now. Let the house bots play:"), demo, h("p", {}, "Or choose a challenge below, open a session and hand out its invites."));
}

customElements.define("home-page", HomePage);
