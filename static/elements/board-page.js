import { PAGE, addressOf, called, crossOf, dotsOf, nameIn } from "../boards.js";
import { lines, scatter } from "../charts.js";
import "./board-table.js";
import { give, h, mark, nameOf, timeOf } from "./dom.js";
import "./copy-line.js";
import { meetingTable } from "./meeting-table.js";
import { dotTable } from "./dot-table.js";

/** @import { Board, Choice, Head } from "../boards.js" */
/** @import { Outlook } from "../pages/boards.js" */

/**
 * <board-page>: a leaderboard with all that belongs to it. Call `show` with what is known, or `fail` with what went
 * wrong; the wish for another board comes up as `wish`, with its address.
 */
class BoardPage extends HTMLElement {
  #drawn = /** @type {Record<string, string>} */ ({});
  /** @type {Partial<Outlook>} */ #outlook = {};
  #parts = {
    title: h("h1", { tabindex: -1 }, "Leaderboard"),
    type: select("Challenge"),
    strategy: select("Strategy"),
    metric: select("Metric"),
    words: /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "Find a player", "aria-label": "Find a player", "data-search": true })),
    owners: /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", "data-owners": true })),
    about: h("p", { class: "facts" }),
    note: h("div"),
    table: /** @type {any} */ (h("board-table")),
    pages: h("nav", { class: "pages", "aria-label": "Parts of the board" }),
    scatter: h("section", { "aria-labelledby": "scatter" }),
    meetings: h("section", { "aria-labelledby": "meetings" }),
    ways: h("section", { "aria-labelledby": "ways" }),
  };

  connectedCallback() {
    if (this.childElementCount) return;
    const { title, type, strategy, metric, words, owners, about, note, table, pages, scatter, meetings, ways } = this.#parts;
    type.addEventListener("change", () => this.#wish(`/boards/${encodeURIComponent(type.value)}`));
    strategy.addEventListener("change", () => this.#wish(`/boards/${encodeURIComponent(type.value)}?${new URLSearchParams({ strategy: strategy.value })}`));
    metric.addEventListener("change", () => {
      const { choice } = this.#outlook;
      if (choice) this.#wish(addressOf(choice, { metric: metric.value, sort: metric.value, isUp: false, offset: 0 }));
    });
    owners.addEventListener("change", () => {
      const { choice } = this.#outlook;
      if (choice) this.#wish(addressOf(choice, { isByOwner: owners.checked, offset: 0 }));
    });
    words.addEventListener("input", () => this.#showTable());
    table.show(null);
    this.append(
      h("header", { class: "board-head" }, title, h("div", { class: "filters" }, labelled("Challenge", type), labelled("Strategy", strategy), labelled("Metric", metric), words, h("label", { class: "toggle" }, owners, h("span", {}, "One line per owner"))), about, note),
      table,
      pages,
      h("div", { class: "columns charts" }, scatter, ways),
      meetings,
    );
  }

  show(/** @type {Partial<Outlook>} */ outlook) {
    this.#outlook = outlook;
    const { heads = [], names = {}, choice, board } = outlook;
    if (!choice) return;
    this.#once("choices", [heads.map(({ challengeType, strategy, metrics }) => [challengeType, strategy, metrics]), names, choice], () => this.#showChoices(heads, names, choice));
    this.#showTable();
    if (!board) return;
    this.#once("about", [aboutOf(board)], () => this.#showAbout(board));
    this.#once("pages", [choice, board.players, board.owners], () => this.#showPages(choice, board));
    this.#once("scatter", [outlook.crossed], () => this.#showScatter(outlook));
    this.#once("ways", [outlook.ways, board.metric], () => this.#showWays(outlook, board));
    this.#once("meetings", [outlook.meetings, board.rows.map(nameIn)], () => this.#showMeetings(outlook, board));
  }

  /** Draw a part only if what it shows has changed. @param {string} part @param {unknown} shown @param {() => void} draw */
  #once(part, shown, draw) {
    const wanted = JSON.stringify(shown);
    if (wanted === this.#drawn[part]) return;
    this.#drawn[part] = wanted;
    draw();
  }

  #wish(/** @type {string} */ address) {
    this.dispatchEvent(new CustomEvent("wish", { detail: address, bubbles: true }));
  }

  /** @param {Head[]} heads @param {Record<string, {name: string}>} names @param {Choice} choice */
  #showChoices(heads, names, choice) {
    const { title, type, strategy, metric, owners } = this.#parts;
    owners.checked = choice.isByOwner;
    const here = heads.filter(({ challengeType }) => challengeType === choice.type);
    const nameFor = (/** @type {string} */ one) => names[one]?.name ?? "All challenges";
    title.textContent = nameFor(choice.type);
    offer(type, [...new Set(heads.map(({ challengeType }) => challengeType))].map((one) => [one, nameFor(one)]), choice.type);
    offer(strategy, here.map((head) => [head.strategy, head.strategy]), choice.strategy);
    const metrics = here.find((head) => head.strategy === choice.strategy)?.metrics ?? [];
    offer(metric, metrics.map(({ key, label }) => [key, label]), choice.metric);
  }

  #showTable() {
    const { board, choice } = this.#outlook;
    const { table, words } = this.#parts;
    if (!board || !choice) return table.show(null);
    table.label = `Leaderboard by ${choice.strategy}`;
    table.isSearched = board.rows.length > 0 && words.value !== "";
    table.show({ ...board, rows: called(board.rows, words.value) }, choice);
  }

  #showAbout(/** @type {Board} */ board) {
    this.#parts.about.replaceChildren(...aboutOf(board).map((words) => h("span", { class: "figure" }, words)));
    const { kind, fittedAt, frozenAt, secondView, fault, recompute } = board;
    if (kind === "batch" && fittedAt) this.#parts.about.append(h("span", {}, "fitted at ", timeOf(fittedAt)));
    this.#parts.note.replaceChildren(
      ...[
        frozenAt && h("p", { class: "note" }, "This board is frozen since ", timeOf(frozenAt), ": later games wait and count when it thaws."),
        secondView && h("p", { class: "note" }, "Here all may gain together, so this order by wins is a second view; the averages say more."),
        fault && h("div", { class: "note" }, h("p", { class: "breach" }, "Counting has stopped at a game that this strategy cannot count. Those who run the server may try:"), give(/** @type {any} */ (h("copy-line")), { text: recompute })),
      ].filter((one) => one instanceof Node),
    );
  }

  #showPages(/** @type {Choice} */ choice, /** @type {Board} */ board) {
    const { offset } = choice;
    const players = board.owners ?? board.players; // lines
    const last = Math.min(players, offset + PAGE);
    this.#parts.pages.hidden = players <= PAGE;
    const links = [
      offset > 0 && h("a", { href: addressOf(choice, { offset: Math.max(0, offset - PAGE) }), rel: "prev" }, `← Better ${PAGE}`),
      h("span", { class: "figure" }, `${offset + 1}–${last} of ${players}`),
      last < players && h("a", { href: addressOf(choice, { offset: offset + PAGE }), rel: "next" }, `Next ${PAGE} →`),
    ];
    this.#parts.pages.replaceChildren(...links.filter((one) => one instanceof Node));
  }

  #showScatter(/** @type {Partial<Outlook>} */ { board, crossed = [] }) {
    const cross = board && crossOf(board);
    const dots = cross ? dotsOf(crossed.flatMap(({ rows }) => rows), cross) : [];
    if (!cross || dots.length === 0) return this.#parts.scatter.replaceChildren();
    const some = board.players > dots.length ? ` Of ${board.players} players, the best ${PAGE} by either are drawn.` : "";
    this.#parts.scatter.replaceChildren(
      h("h2", { id: "scatter" }, "Security and utility"),
      h(
        "figure",
        {},
        scatter(dots, { x: cross.x.label, y: cross.y.label }),
        h("figcaption", {}, `Diamonds are on the Pareto front: nobody keeps more and gains more. Lines are 95 % intervals, hollow means provisional.${some}`),
      ),
      dotTable(dots, { x: cross.x.label, y: cross.y.label }),
    );
  }

  #showWays(/** @type {Partial<Outlook>} */ { ways = [] }, /** @type {Board} */ { metric, metrics }) {
    const label = metrics.find(({ key }) => key === metric)?.label ?? metric;
    const series = ways.map(({ row, history }) => ({ name: nameIn(row), points: history.map((point) => ({ x: point.at, y: point.metrics[metric] ?? 0 })) }));
    if (!series.some(({ points }) => points.length > 1)) return this.#parts.ways.replaceChildren();
    this.#parts.ways.replaceChildren(
      h("h2", { id: "ways" }, "How the leaders came there"),
      h("figure", {}, lines(series, label), h("figcaption", {}, h("ul", { class: "legend" }, ...series.map(({ name }, number) => h("li", { class: "speaker", "data-seat": number }, mark(number), nameOf(name)))))),
    );
  }

  #showMeetings(/** @type {Partial<Outlook>} */ { meetings }, /** @type {Board} */ { rows }) {
    if (!meetings || meetings.meetings.length === 0) return this.#parts.meetings.replaceChildren();
    const names = new Map(rows.map((row) => [row.playerId, nameIn(row)]));
    this.#parts.meetings.replaceChildren(h("h2", { id: "meetings" }, "Head to head"), meetingTable(meetings.players, meetings.meetings, names));
  }

  /** Nothing can be shown. @param {string} title @param {string} sentence */
  fail(title, sentence) {
    this.replaceChildren(h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, h("a", { href: "/boards/global" }, "The board of all challenges"))));
  }
}

/** What a board is made of, in words. @param {Board} board */
function aboutOf({ players, games, owners }) {
  const counted = owners === undefined ? [] : [owners === 1 ? "1 owner" : `${owners.toLocaleString()} owners`];
  return [...counted, players === 1 ? "1 player" : `${players.toLocaleString()} players`, games === 1 ? "1 game" : `${games.toLocaleString()} games`];
}

/** @param {string} label */
function select(label) {
  return /** @type {HTMLSelectElement} */ (h("select", { "aria-label": label }));
}

/** @param {string} label @param {HTMLElement} field */
function labelled(label, field) {
  return h("label", {}, h("span", { "aria-hidden": "true" }, label), field);
}

/** @param {HTMLSelectElement} choice @param {string[][]} wanted @param {string} chosen */
function offer(choice, wanted, chosen) {
  choice.replaceChildren(...wanted.map(([value, text]) => h("option", { value }, text)));
  choice.value = chosen;
}

customElements.define("board-page", BoardPage);
