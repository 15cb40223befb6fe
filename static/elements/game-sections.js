/** The games of one challenge on a page about it: what is on, the board, and what has ended. */

import "./board-table.js";
import { arrange, give, h } from "./dom.js";
import "./result-list.js";
import "./session-card.js";

/** @import { Board } from "../boards.js" */
/** @import { Card, Result } from "../wall.js" */

export class GameSections {
  /** @type {Map<string, any>} */ #cards = new Map();
  #now;
  #wall = h("div", { class: "wall" });
  #board = /** @type {any} */ (h("board-table"));
  #results = /** @type {any} */ (h("result-list"));

  /** @param {() => number} now */
  constructor(now) {
    this.#now = now;
  }

  /** The places where they are shown. @param {string} type */
  sections(type) {
    this.#results.empty = "No game of this challenge has ended yet.";
    this.#board.show(null);
    return [
      h("section", { "aria-labelledby": "sessions" }, h("h2", { id: "sessions" }, "Live"), this.#wall),
      h(
        "div",
        { class: "columns" },
        h("section", { "aria-labelledby": "board" }, h("h2", { id: "board" }, "Leaderboard"), this.#board, h("p", { class: "more" }, h("a", { href: `/boards/${encodeURIComponent(type)}` }, "The whole board"))),
        h("section", { "aria-labelledby": "finished" }, h("h2", { id: "finished" }, "Finished"), this.#results),
      ),
    ];
  }

  /** @param {Card[]} live @param {Result[]} ended @param {Board | null} board */
  show(live, ended, board) {
    this.#board.show(board);
    this.#cards = new Map(live.map((card) => [card.id, this.#cards.get(card.id) ?? give(/** @type {any} */ (h("session-card")), { now: this.#now })]));
    for (const card of live) this.#cards.get(card.id).card = card;
    const nobody = this.#wall.querySelector(".empty") ?? h("p", { class: "empty" }, "Nobody plays this right now. Create a session, and hand out its invites.");
    arrange(this.#wall, live.length ? [...this.#cards.values()] : [nobody]);
    this.#results.results = ended;
  }
}
