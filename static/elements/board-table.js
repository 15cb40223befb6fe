import { figure, madeOf, nameIn, ordered, pace, ranksOf, reach, sortedBy } from "../boards.js";
import { intervalBar } from "../charts.js";
import { dayOf, h, nameOf } from "./dom.js";

/** @import { Board, Choice, Metric, Row, Variant } from "../boards.js" */

const MOVE = 180; // milliseconds that a line takes to its new place
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * <board-table>: a leaderboard; values are drawn with their intervals, and lines that change places move there. Call
 * `show` with a board, and with a choice where its columns can be sorted; without one it is short.
 */
class BoardTable extends HTMLElement {
  #drawn = "";
  label = "Leaderboard";
  isSearched = false; // whether its rows are those that somebody looked for

  show(/** @type {Board | null} */ board, /** @type {Choice | null} */ choice = null) {
    const wanted = JSON.stringify([board, choice, this.isSearched]);
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    if (board === null) this.replaceChildren(h("p", { class: "empty" }, "Loading the board…"));
    else if (board.rows.length === 0) this.replaceChildren(this.isSearched ? h("p", { class: "empty" }, "Nobody of these is called like that.") : nobody());
    else this.#draw(board, choice);
  }

  #draw(/** @type {Board} */ board, /** @type {Choice | null} */ choice) {
    const before = this.#places();
    const focused = this.contains(document.activeElement) ? document.activeElement?.getAttribute("data-key") : null;
    const table = choice ? whole(board, choice) : brief(board);
    this.replaceChildren(h("div", { class: "wide", role: "region", "aria-label": this.label, tabindex: 0 }, table));
    if (focused) /** @type {HTMLElement | null} */ (this.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
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

/** The board by its metric alone. @param {Board} board */
function brief(board) {
  const metric = board.metrics.find(({ key }) => key === board.metric) ?? { key: board.metric, label: "Value" };
  const span = reach(board.rows, metric.key);
  const heads = [rankHead(), h("th", { scope: "col" }, "Player"), h("th", { scope: "col", class: "number" }, metric.label), h("th", { scope: "col", class: "number" }, "Games")];
  return h(
    "table",
    { class: "board" },
    h("thead", {}, h("tr", {}, ...heads)),
    h("tbody", {}, ...board.rows.map((row) => h("tr", { "data-player": row.playerId }, rankCell(row, board.rows), playerCell(row), valueCell(row, metric, span), gamesCell(row)))),
  );
}

/** @type {{key: string, label: string, title?: string, cell: (row: Row) => HTMLElement}[]} the columns behind the metrics */
const FACTS = [
  { key: "games", label: "Games", cell: gamesCell },
  { key: "results", label: "W/T/L", title: "Games won, tied and lost", cell: (row) => number(row.wins === undefined ? "–" : `${row.wins}/${row.ties}/${row.losses}`) },
  { key: "opponents", label: "Opponents", cell: (row) => number(row.opponents === undefined ? "–" : String(row.opponents)) },
  { key: "response", label: "Answers in", title: "Median of the time a move takes", cell: (row) => number(pace(row.medianResponse), row.p95Response === undefined ? null : `95 % within ${pace(row.p95Response)}`) },
  { key: "played", label: "Last played", cell: (row) => h("td", { class: "number" }, row.lastPlayed === undefined ? "–" : dayOf(row.lastPlayed)) },
];

/** The board with all its columns. @param {Board} board @param {Choice} choice */
function whole(board, choice) {
  const spans = new Map(board.metrics.map(({ key }) => [key, reach(board.rows, key)]));
  const head = (/** @type {string} */ key, /** @type {string} */ label, /** @type {string | null} */ title, /** @type {string | null} */ kind) => {
    const isSorted = choice.sort === key;
    const order = isSorted ? (choice.isUp ? "ascending" : "descending") : null;
    const link = h("a", { href: sortedBy(choice, key, board), "data-key": key, title }, label);
    return h("th", { scope: "col", class: kind, "aria-sort": order }, link);
  };
  return h(
    "table",
    { class: "board whole" },
    h("caption", { class: "unseen" }, "Select a column to sort by it."),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        rankHead(),
        head("player", "Player", null, null),
        ...board.metrics.map(({ key, label }) => head(key, label, null, "number")),
        ...FACTS.map(({ key, label, title }) => head(key, label, title ?? null, "number")),
      ),
    ),
    h(
      "tbody",
      {},
      ...ordered(board.rows, choice).map((row) =>
        h(
          "tr",
          { "data-player": row.playerId },
          rankCell(row, board.rows),
          playerCell(row, board.metric),
          ...board.metrics.map((metric) => valueCell(row, metric, spans.get(metric.key) ?? [0, 1])),
          ...FACTS.map(({ cell }) => cell(row)),
        ),
      ),
    ),
  );
}

function rankHead() {
  return h("th", { scope: "col", class: "rank" }, h("abbr", { title: "Place, and those that are possible with 95 %" }, "#"));
}

/** @param {Row} row @param {Row[]} rows */
function rankCell(row, rows) {
  const { rank, band, isSure } = ranksOf(row, rows);
  const title = isSure ? null : "Not told apart from its neighbours yet";
  return h("td", { class: isSure ? "rank sure" : "rank", title }, rank, band && h("span", { class: "band", title: "Places that are possible, with 95 %" }, ` (${band})`));
}

/** @param {Row} row @param {string} [metric] */
export function playerCell(row, metric = "") {
  return h(
    "th",
    { scope: "row" },
    h("a", { class: "to-player", href: `/players/${encodeURIComponent(row.playerId)}` }, nameOf(nameIn(row))),
    row.model && h("span", { class: "model" }, " ", h("bdi", {}, row.model)),
    row.isBenchmark && h("span", { class: "tag" }, "benchmark"),
    row.provisional && h("span", { class: "tag", title: "So few games that the value says little" }, "provisional"),
    row.variants ? ownerOf(row, row.variants, metric) : declaredBy(row),
  );
}

/** What an agent says of itself. @param {Row} row */
function declaredBy({ declared }) {
  const words = [declared?.owner && `owner ${declared.owner}`, madeOf(declared)].filter(Boolean).join(", ");
  return words && h("span", { class: "declared", title: "Self-reported: nobody has checked it" }, " ", h("bdi", {}, words));
}

/** The owner of a line, and all entrants that it stands for. @param {Row} row @param {Variant[]} variants @param {string} metric */
function ownerOf({ declared }, variants, metric) {
  const items = variants.map(({ playerId, metrics, declared }) =>
    h("li", {}, h("a", { href: `/players/${encodeURIComponent(playerId)}` }, nameOf(playerId)), ` ${figure(metrics[metric])} `, h("bdi", {}, madeOf(declared) || "nothing declared")),
  );
  const count = variants.length === 1 ? "1 entrant" : `${variants.length} entrants`;
  return h(
    "details",
    { class: "variants" },
    h("summary", {}, declared?.owner ? h("bdi", {}, `${declared.owner}: `) : null, `${count}, self-reported`),
    h("ul", {}, ...items),
  );
}

/** @param {Row} row @param {Metric} metric @param {[number, number]} span */
export function valueCell(row, { key }, span) {
  const interval = row.intervals[key];
  const title = interval ? `95 %: ${figure(interval[0])} to ${figure(interval[1])}` : null;
  const value = h("span", { class: "value" }, figure(row.metrics[key]));
  const words = interval && h("span", { class: "unseen" }, `, ${title}`);
  return h("td", { class: "number measured", title }, h("div", {}, value, words, intervalBar(span, row.metrics[key], interval, row.provisional)));
}

/** @param {Row} row */
function gamesCell(row) {
  return number(String(row.gamesPlayed));
}

/** @param {string} text @param {string | null} [title] */
function number(text, title = null) {
  return h("td", { class: "number", title }, text);
}

customElements.define("board-table", BoardTable);
