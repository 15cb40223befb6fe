import { reach } from "../boards.js";
import { extras, outcome, progress, rounds } from "../tournaments.js";
import { valueCell } from "./board-table.js";
import { h, nameOf } from "./dom.js";

/** @import { Game, Match, Mean, Standing, Tournament } from "../tournaments.js" */

/** @type {{key: "share" | "utility" | "security", label: string}[]} the columns with intervals */
const MEANS = [
  { key: "share", label: "Per game" },
  { key: "utility", label: "Utility" },
  { key: "security", label: "Security" },
];

/** <tournament-page>: one tournament, live: its standings, its bracket and its games. Call `show` or `fail`. */
class TournamentPage extends HTMLElement {
  /** @type {Record<string, string>} */ #drawn = {};
  #parts = {
    title: h("h1", { tabindex: -1 }, "Loading…"),
    facts: h("p", { class: "facts", role: "status" }),
    bar: h("progress", { "aria-label": "Games that are over" }),
    links: h("p", { class: "links" }),
    standings: h("section", { "aria-labelledby": "standings" }),
    bracket: h("section", { "aria-labelledby": "bracket", hidden: true }),
    playing: h("section", { "aria-labelledby": "playing" }),
    games: h("section", { "aria-labelledby": "games" }),
  };

  connectedCallback() {
    if (this.childElementCount) return;
    const { title, facts, bar, links, standings, bracket, playing, games } = this.#parts;
    this.append(h("header", { class: "tournament-head" }, h("a", { class: "back", href: "/tournaments" }, "← Tournaments"), title, facts, bar, links), bracket, standings, playing, games);
  }

  show(/** @type {Tournament} */ told, /** @type {Game[]} */ games) {
    this.#once("head", [told.phase, told.reason, told.games], () => this.#showHead(told));
    this.#once("standings", told.standings, () => this.#parts.standings.replaceChildren(h("h2", { id: "standings" }, "Standings"), standings(told.standings)));
    this.#once("bracket", told.matches, () => this.#showBracket(told));
    this.#once("playing", [told.playing, told.phase], () => this.#showPlaying(told));
    this.#once("games", games, () => this.#showGames(games));
  }

  fail(/** @type {string} */ title, /** @type {string} */ sentence) {
    this.replaceChildren(h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, h("a", { href: "/tournaments" }, "All tournaments"))));
  }

  /** Draw a part only if what it shows has changed. @param {string} part @param {unknown} shown @param {() => void} draw */
  #once(part, shown, draw) {
    const wanted = JSON.stringify(shown);
    if (wanted === this.#drawn[part]) return;
    this.#drawn[part] = wanted;
    draw();
  }

  #showHead(/** @type {Tournament} */ told) {
    const { title, facts, bar, links } = this.#parts;
    title.replaceChildren(`${told.challenge}, ${told.format} of ${told.agents.length} agents`);
    facts.replaceChildren(progress(told));
    bar.setAttribute("max", String(told.games.most));
    bar.setAttribute("value", String(told.games.played + told.games.void + told.games.saved));
    const report = (/** @type {string} */ form) => `/api/tournaments/${encodeURIComponent(told.id)}/report?format=${form}`;
    links.replaceChildren("Report: ", h("a", { href: report("html"), download: true }, "HTML"), " · ", h("a", { href: report("md"), download: true }, "Markdown"), " · ", h("a", { href: report("json"), download: `tournament-${told.id}.json` }, "JSON"));
  }

  #showBracket(/** @type {Tournament} */ told) {
    const { bracket } = this.#parts;
    bracket.hidden = told.matches.length === 0;
    const columns = rounds(told.matches).map(({ round, matches }) => h("li", {}, h("h3", {}, told.format === "ladder" ? `Rung ${round}` : `Round ${round}`), h("ol", { class: "matches" }, ...matches.map(match))));
    bracket.replaceChildren(h("h2", { id: "bracket" }, told.format === "ladder" ? "Ladder" : "Bracket"), h("div", { class: "wide", role: "region", "aria-label": "Matches", tabindex: 0 }, h("ol", { class: "bracket" }, ...columns)));
  }

  #showPlaying(/** @type {Tournament} */ { playing, phase }) {
    this.#parts.playing.hidden = phase === "finished";
    const none = phase === "running" ? "The next games are about to begin." : "No game is played now.";
    const list = playing.length ? h("ul", { class: "live-games" }, ...playing.map((game) => h("li", {}, h("a", { href: `/session/${game.session}` }, ...between(game.agents ?? [])), h("span", { class: "tag live" }, "live")))) : h("p", { class: "empty" }, none);
    this.#parts.playing.replaceChildren(h("h2", { id: "playing" }, "On now"), list);
  }

  #showGames(/** @type {Game[]} */ games) {
    const over = games.filter(({ state }) => state !== "playing").reverse();
    const list = over.length ? h("ul", { class: "over-games" }, ...over.map((game) => h("li", {}, h("a", { href: `/session/${game.session}` }, ...between(game.seats ?? [])), h("span", { class: "quiet" }, ...ending(game))))) : h("p", { class: "empty" }, "No game is over yet.");
    this.#parts.games.replaceChildren(h("h2", { id: "games" }, "Games"), list);
  }
}

/** @param {Game} game */
function ending(game) {
  const { words, first } = outcome(game);
  return [words, ...between(first, ", ")];
}

/** Names with something between them. @param {string[]} names @param {string} [sign] */
function between(names, sign = " v ") {
  return names.flatMap((name, at) => (at ? [sign, nameOf(name)] : [nameOf(name)]));
}

/** What a standing has measured, as lines of boards have it. @param {Standing} standing @returns {any} */
function lineOf(standing) {
  const known = MEANS.flatMap(({ key }) => (standing[key] ? [/** @type {[string, Mean]} */ ([key, standing[key]])] : []));
  const [metrics, intervals] = [known.map(([key, { value }]) => [key, value]), known.map(([key, { interval }]) => [key, interval])];
  return { metrics: Object.fromEntries(metrics), intervals: Object.fromEntries(intervals), provisional: !standing.share?.interval };
}

/** @param {Match} match */
function match({ name, agents, winner }) {
  const lines = agents.map((agent) => h("span", { class: agent === winner ? "agent winner" : "agent" }, nameOf(agent), agent === winner && h("span", { class: "won" }, agents.length > 1 ? "✓ won" : "bye")));
  return h("li", { class: "match", "data-match": name }, ...(lines.length ? lines : [h("span", { class: "quiet" }, "nobody")]));
}

/** @param {Standing[]} rows */
function standings(rows) {
  const more = extras(rows);
  const measured = rows.map(lineOf);
  const spans = MEANS.map(({ key }) => reach(measured, key));
  const heads = ["Points", "Games", "W/T/L", ...MEANS.map(({ label }) => label), ...more.map(({ label }) => label)];
  const head = h("tr", {}, h("th", { scope: "col", class: "number" }, "#"), h("th", { scope: "col" }, "Agent"), ...heads.map((label) => h("th", { scope: "col", class: "number" }, label)));
  const lines = rows.map((row, place) =>
    h(
      "tr",
      { "data-agent": row.agent },
      number(row.rank),
      h("th", { scope: "row" }, h("a", { href: `/players/${encodeURIComponent(row.agent)}` }, nameOf(row.agent)), row.anchor && h("span", { class: "tag" }, "anchor")),
      number(row.points),
      number(row.games),
      h("td", { class: "number" }, `${row.wins}/${row.ties}/${row.losses}`),
      ...MEANS.map((mean, column) => valueCell(measured[place], mean, spans[column])),
      ...more.map(({ key }) => number(/** @type {number | undefined} */ (row[key]))),
    ),
  );
  return h("div", { class: "wide", role: "region", "aria-label": "Standings", tabindex: 0 }, h("table", { class: "board" }, h("thead", {}, head), h("tbody", {}, ...lines)));
}

/** @param {number | undefined} value */
function number(value) {
  return h("td", { class: "number" }, value === undefined ? "" : value.toLocaleString(undefined, { maximumFractionDigits: 4 }));
}

customElements.define("tournament-page", TournamentPage);
