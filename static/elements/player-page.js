import { figure, nameIn, ranksOf, reach } from "../boards.js";
import { lines as lineChart } from "../charts.js";
import { resultOf } from "../wall.js";
import { valueCell } from "./board-table.js";
import { h, nameOf } from "./dom.js";
import "./result-list.js";

/** @import { Line, Portrait } from "../pages/player.js" */

/** <player-page>: one player. Call `show`, or `fail`; wishes come up as `rival`, with a user, and `line`, with a board's line. */
class PlayerPage extends HTMLElement {
  /** @type {Record<string, string>} */ #drawn = {};
  #parts = {
    title: h("h1", { tabindex: -1 }, "Loading…"),
    facts: h("p", { class: "facts" }),
    boards: h("section", { "aria-labelledby": "boards" }),
    way: h("section", { "aria-labelledby": "way" }),
    rival: h("section", { "aria-labelledby": "rival" }),
    games: h("section", { "aria-labelledby": "games" }),
    results: /** @type {any} */ (h("result-list")),
  };

  connectedCallback() {
    if (this.childElementCount) return;
    const { title, facts, boards, way, rival, games } = this.#parts;
    this.append(
      h("header", { class: "player-head" }, h("a", { class: "back", href: "/boards/global" }, "← Leaderboards"), title, facts),
      boards,
      h("div", { class: "columns charts" }, games, h("div", {}, rival, way)),
    );
  }

  show(/** @type {Portrait} */ portrait) {
    const { profile, lines, games, names, rival, meetings, way, line } = portrait;
    this.#once("head", [profile, games.total], () => this.#showHead(portrait));
    this.#once("boards", [lines, names], () => this.#showBoards(portrait));
    this.#once("games", [games.challenges.map(({ id }) => id), games.profiles], () => this.#showGames(portrait));
    this.#once("rival", [rival, meetings, games.profiles, names], () => this.#showRival(portrait));
    this.#once("way", [way, line?.metric], () => this.#showWay(portrait));
  }

  /** Draw a part only if what it shows has changed. @param {string} part @param {unknown} shown @param {() => void} draw */
  #once(part, shown, draw) {
    const wanted = JSON.stringify(shown);
    if (wanted === this.#drawn[part]) return;
    this.#drawn[part] = wanted;
    draw();
  }

  #showHead(/** @type {Portrait} */ { id, profile, games }) {
    this.#parts.title.replaceChildren(h("bdi", {}, profile.username || id));
    const played = games.total === 1 ? "1 public game" : `${games.total.toLocaleString()} public games`;
    const facts = [profile.model && h("span", {}, "model ", h("bdi", {}, profile.model)), profile.isBenchmark && h("span", { class: "tag" }, "benchmark"), h("span", { class: "figure" }, played), profile.username && h("code", { class: "handle", title: id }, id)];
    this.#parts.facts.replaceChildren(...facts.filter((fact) => fact instanceof Node));
  }

  #showBoards(/** @type {Portrait} */ portrait) {
    const { lines, names, heads } = portrait;
    const title = h("h2", { id: "boards" }, "On the boards");
    if (lines.length === 0) return this.#parts.boards.replaceChildren(title, h("p", { class: "empty" }, "This player is on no board yet. It appears there after its first counted game."));
    const rows = lines.map((line) => {
      const { challengeType, strategy, metric, players, row } = line;
      const { rank, band } = ranksOf(row);
      const label = heads.find((head) => head.challengeType === challengeType && head.strategy === strategy)?.metrics.find(({ key }) => key === metric)?.label ?? metric;
      const button = h("button", { type: "button", "aria-label": `Draw the way on ${challengeType}, ${strategy}` }, "Draw");
      button.addEventListener("click", () => this.#wish("line", line));
      const address = `/boards/${encodeURIComponent(challengeType)}?${new URLSearchParams({ strategy })}`;
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, h("a", { href: address }, names[challengeType]?.name ?? "All challenges"), h("span", { class: "model" }, ` ${strategy}`)),
        h("td", { class: "rank" }, `${rank} of ${players}`, band && h("span", { class: "band", title: "Places that are possible, with 95 %" }, ` (${band})`)),
        h("td", {}, label),
        valueCell(row, { key: metric, label }, reach([row], metric)),
        h("td", { class: "number" }, String(row.gamesPlayed)),
        h("td", { class: "number" }, row.wins === undefined ? "–" : `${row.wins}/${row.ties}/${row.losses}`),
        h("td", {}, button),
      );
    });
    const heads_ = [["Board"], ["Rank"], ["Metric"], ["Value", "number"], ["Games", "number"], ["W/T/L", "number"]].map(([text, kind]) => h("th", { scope: "col", class: kind }, text));
    const table = h("table", { class: "board" }, h("thead", {}, h("tr", {}, ...heads_, h("td", {}, h("span", { class: "unseen" }, "Way")))), h("tbody", {}, ...rows));
    this.#parts.boards.replaceChildren(title, h("div", { class: "wide", role: "region", "aria-label": "On the boards", tabindex: 0 }, table));
    if (!portrait.line) this.#wish("line", lines.find(({ challengeType }) => challengeType !== "global") ?? lines[0]);
  }

  #showGames(/** @type {Portrait} */ { games }) {
    const { results } = this.#parts;
    results.empty = "This player has finished no public game yet.";
    const more = games.total > games.challenges.length && h("p", { class: "more" }, `The newest ${games.challenges.length} of ${games.total}.`);
    this.#parts.games.replaceChildren(h("h2", { id: "games" }, "Games"), results, more || "");
    results.results = games.challenges.map((challenge) => resultOf(challenge, games.profiles));
  }

  #showRival(/** @type {Portrait} */ { id, games, rival, meetings, names }) {
    const met = new Set(games.challenges.flatMap(({ state }) => Object.values(state.playerIdentities)));
    if (rival) met.add(rival);
    met.delete(id);
    const title = h("h2", { id: "rival" }, "Head to head");
    if (met.size === 0) return this.#parts.rival.replaceChildren(title, h("p", { class: "empty" }, "It has met nobody who is known by name."));
    const nameFor = (/** @type {string} */ user) => games.profiles[user]?.username || user;
    const choice = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Against" }, h("option", { value: "" }, "Choose an opponent"), ...[...met].sort().map((user) => h("option", { value: user }, nameFor(user)))));
    choice.value = rival;
    choice.addEventListener("change", () => this.#wish("rival", choice.value));
    this.#parts.rival.replaceChildren(h("div", { class: "bar" }, title, choice), meetings ? meetingsTable(meetings, names, rival, nameFor(rival)) : "");
  }

  #showWay(/** @type {Portrait} */ { way, line, names, heads }) {
    const { way: place } = this.#parts;
    if (!line || way.length < 2) return place.replaceChildren();
    const { challengeType, strategy, metric, row } = line;
    const label = heads.find((head) => head.challengeType === challengeType && head.strategy === strategy)?.metrics.find(({ key }) => key === metric)?.label ?? metric;
    const points = way.map(({ at, metrics }) => ({ x: at, y: metrics[metric] ?? 0 }));
    const last = points.at(-1);
    place.replaceChildren(
      h("h2", { id: "way" }, "Over time"),
      h("figure", {}, lineChart([{ name: nameIn(row), points }], label), h("figcaption", {}, `${names[challengeType]?.name ?? "All challenges"}, ${strategy}: ${label} after each of ${points.length} games, now ${figure(last?.y)}.`)),
    );
  }

  /** @param {string} name @param {unknown} detail */
  #wish(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
  }

  /** Nothing can be shown. @param {string} title @param {string} sentence */
  fail(title, sentence) {
    this.replaceChildren(h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, h("a", { href: "/" }, "See what is being played"))));
  }
}

/** @param {NonNullable<Portrait["meetings"]>} meetings @param {Portrait["names"]} names @param {string} rival @param {string} name */
function meetingsTable(meetings, names, rival, name) {
  const known = meetings.filter(({ met }) => met !== null);
  if (known.length === 0) return h("p", { class: "empty" }, "These two have not met in a counted game.");
  const heads = ["Games", "Won", "Tied", "Lost"].map((text) => h("th", { scope: "col", class: "number" }, text));
  return h(
    "table",
    { class: "meetings" },
    h("caption", {}, "Against ", h("a", { href: `/players/${encodeURIComponent(rival)}` }, nameOf(name))),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Challenge"), ...heads)),
    h(
      "tbody",
      {},
      ...known.map(({ type, met }) => h("tr", {}, h("th", { scope: "row" }, names[type]?.name ?? type), ...[met?.games, met?.wins, met?.ties, met?.losses].map((value) => h("td", { class: "number" }, String(value ?? 0))))),
    ),
  );
}

customElements.define("player-page", PlayerPage);
