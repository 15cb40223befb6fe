import { clock, signed } from "../view.js";
import { dayOf, h, mark, nameOf, seatColour } from "./dom.js";

/** @import { Result } from "../wall.js" */

/** <result-list>: finished games, newest first. Assign `empty`, the words for when there are none, and `results`; a game is drawn once. */
class ResultList extends HTMLElement {
  empty = "No game has ended yet. When one does, it is listed here with its scores and its replay.";
  /** @type {Map<string, HTMLElement>} */ #drawn = new Map();

  set results(/** @type {Result[]} */ results) {
    const named = new Map(results.map((result) => [keyOf(result), result]));
    if (this.childElementCount && [...named.keys()].join() === [...this.#drawn.keys()].join()) return;
    this.#drawn = new Map([...named].map(([key, result]) => [key, this.#drawn.get(key) ?? game(result)]));
    if (results.length === 0) {
      this.replaceChildren(h("p", { class: "empty" }, this.empty));
    } else {
      this.#show();
    }
  }

  #show() {
    const heads = ["Player", "Security", "Utility"].map((head, place) => {
      return h("th", { scope: "col", class: place ? "number" : null }, head);
    });
    this.replaceChildren(
      h(
        "div",
        { class: "wide", role: "region", "aria-label": "Finished games", tabindex: 0 },
        h("table", { class: "results" }, h("thead", {}, h("tr", {}, ...heads)), ...this.#drawn.values()),
      ),
    );
  }
}

/** What tells a game from others, and its players' names from earlier ones. @param {Result} result */
function keyOf({ id, players }) {
  return JSON.stringify([id, ...players.map(({ name }) => name)]);
}

/** One game: a head with its name, and a line per player. @param {Result} result */
function game({ id, title, endedAt, lasted, players, attributions }) {
  const link = h("a", { href: `/session/${encodeURIComponent(id)}` }, title);
  const about = h("span", { class: "about" }, dayOf(endedAt), ` · ${clock(lasted)}`);
  return h(
    "tbody",
    {},
    h("tr", { class: "game" }, h("th", { scope: "rowgroup", colspan: 3 }, h("div", {}, link, about))),
    ...players.map(({ seat, name, user, score }) =>
      h(
        "tr",
        {},
        h(
          "th",
          { scope: "row" },
          h(
            "div",
            { class: "player" },
            h("span", { class: "speaker", "data-seat": seatColour(seat) }, mark(seat), user ? h("a", { class: "to-player", href: `/players/${encodeURIComponent(user)}` }, nameOf(name)) : nameOf(name)),
            attributions.some(({ from, isBreach }) => isBreach && from === seat) && h("span", { class: "breach" }, "breach"),
          ),
        ),
        h("td", { class: "number" }, signed(score?.security ?? null)),
        h("td", { class: "number" }, signed(score?.utility ?? null)),
      ),
    ),
  );
}

customElements.define("result-list", ResultList);
