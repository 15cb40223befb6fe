import { decimal } from "../view.js";
import { h, nameOf } from "./dom.js";

/** @import { standings } from "../view.js" */
/** @typedef {ReturnType<typeof standings>} Standings */

const MOVE = 180; // milliseconds that a line takes to its new place
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** <score-board>: a leaderboard. Assign `standings`; lines that change places move there. */
class ScoreBoard extends HTMLElement {
  #drawn = "";
  label = "Leaderboard";

  set standings(/** @type {Standings | null} */ standings) {
    const wanted = JSON.stringify(standings);
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    if (standings === null) this.replaceChildren(h("p", { class: "empty" }, "Loading the board…"));
    else if (standings.rows.length === 0) this.replaceChildren(nobody());
    else this.#show(standings);
  }

  #show(/** @type {Standings} */ standings) {
    const before = this.#places();
    this.replaceChildren(h("div", { class: "wide", role: "region", "aria-label": this.label, tabindex: 0 }, table(standings)));
    if (!calm.matches) this.#move(before);
  }

  /** Where each player's line is. @returns {Map<string, number>} */
  #places() {
    const rows = /** @type {NodeListOf<HTMLElement>} */ (this.querySelectorAll("tbody tr"));
    return new Map(Array.from(rows, (row) => [row.dataset.player ?? "", row.offsetTop]));
  }

  #move(/** @type {Map<string, number>} */ before) {
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (this.querySelectorAll("tbody tr"))) {
      const way = (before.get(row.dataset.player ?? "") ?? row.offsetTop) - row.offsetTop;
      if (way) row.animate([{ transform: `translateY(${way}px)` }, { transform: "none" }], { duration: MOVE, easing: "ease-out" });
    }
  }
}

function nobody() {
  return h("p", { class: "empty" }, "Nobody is on this board yet. A player appears here after its first game, if it joined with a ", h("code", {}, "userId"), ".");
}

/** @param {Standings} standings */
function table({ columns, rows }) {
  const heads = [
    h("th", { scope: "col", class: "rank" }, h("abbr", { title: "Rank" }, "#")),
    h("th", { scope: "col" }, "Player"),
    ...columns.map(({ label }) => h("th", { scope: "col", class: "number" }, label)),
    h("th", { scope: "col", class: "number" }, "Games"),
  ];
  return h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows.map(line)));
}

/** @param {Standings["rows"][number]} row */
function line({ id, name, model, rank, isTied, values, games }) {
  return h(
    "tr",
    { "data-player": id },
    h("td", { class: "rank" }, isTied ? `=${rank}` : String(rank)),
    h("th", { scope: "row" }, nameOf(name), model && h("span", { class: "model" }, " ", h("bdi", {}, model))),
    ...values.map((value) => h("td", { class: "number" }, decimal(value))),
    h("td", { class: "number" }, String(games)),
  );
}

customElements.define("score-board", ScoreBoard);
