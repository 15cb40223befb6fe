import { clock, signed } from "../view.js";
import { h, mark, nameOf, seatColour, timeOf } from "./dom.js";

/** @import { results } from "../view.js" */
/** @typedef {ReturnType<typeof results>[number]} Result */

/** <result-list>: finished games, newest first. Assign `results`; a game is drawn once. */
class ResultList extends HTMLElement {
  /** @type {Map<string, HTMLElement>} */ #drawn = new Map();

  set results(/** @type {Result[]} */ results) {
    const ids = results.map(({ id }) => id);
    if (this.childElementCount && ids.join() === [...this.#drawn.keys()].join()) return;
    this.#drawn = new Map(results.map((result) => [result.id, this.#drawn.get(result.id) ?? game(result)]));
    if (results.length === 0) {
      this.replaceChildren(h("p", { class: "empty" }, "Games that end while this page is open are listed here, with their scores."));
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

/** One game: a head with its name, and a line per player. @param {Result} result */
function game({ id, title, endedAt, lasted, players, attributions }) {
  const link = h("a", { href: `#/session/${encodeURIComponent(id)}` }, title);
  const about = h("span", { class: "about" }, timeOf(endedAt, false), ` · ${clock(lasted)}`);
  return h(
    "tbody",
    {},
    h("tr", { class: "game" }, h("th", { scope: "rowgroup", colspan: 3 }, h("div", {}, link, about))),
    ...players.map(({ seat, name, score }) =>
      h(
        "tr",
        {},
        h(
          "th",
          { scope: "row" },
          h(
            "div",
            { class: "player" },
            h("span", { class: "speaker", "data-seat": seatColour(seat) }, mark(seat), nameOf(name)),
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
