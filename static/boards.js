/**
 * Leaderboards as plain functions of what the server told: what an address asks for, rows in an order, scales, the
 * Pareto front, who met whom.
 *
 * @typedef {{key: string, label: string}} Metric
 * @typedef {{owner?: string, model?: string, prompt?: string, harness?: string}} Declared by an agent of itself
 * @typedef {{playerId: string, rank: number, gamesPlayed: number, metrics: Record<string, number>, declared?: Declared}} Variant
 * @typedef {{playerId: string, gamesPlayed: number, metrics: Record<string, number>, username?: string, model?: string,
 *   isBenchmark?: boolean, rank: number, rankInterval?: [number, number], tied?: boolean, provisional: boolean,
 *   intervals: Record<string, [number, number]>, opponents?: number, wins?: number, ties?: number, losses?: number,
 *   forfeits?: number, timeouts?: number, lastPlayed?: number, medianResponse?: number, p95Response?: number,
 *   declared?: Declared, variants?: Variant[]}} Row
 * @typedef {{challengeType: string, strategy: string, kind: string, metrics: Metric[], players: number, games: number,
 *   secondView: boolean, fittedAt?: number, frozenAt?: number, fault?: string}} Head
 * @typedef {Head & {metric: string, rows: Row[], limit: number, offset: number, owners?: number, notes: Record<string, unknown>,
 *   recompute: string}} Board
 * @typedef {{type: string, strategy: string, metric: string, sort: string, isUp: boolean, offset: number,
 *   isByOwner: boolean}} Choice what is looked at: `sort` is the metric or another column
 * @typedef {{id: string, name: string, x: number, y: number, across: [number, number] | null,
 *   up: [number, number] | null, isProvisional: boolean, isFront: boolean}} Dot
 * @typedef {{player: string, opponent: string, games: number, wins: number, ties: number, losses: number}} Met
 */

import { minus } from "./view.js";

export const GLOBAL = "global"; // the boards of all challenges
export const PAGE = 100; // rows

/** @type {Record<string, (row: Row) => number | string>} what the columns beside the metrics sort by */
const COLUMNS = {
  player: (row) => nameIn(row).toLowerCase(),
  games: (row) => row.gamesPlayed,
  results: (row) => (row.wins ?? 0) - (row.losses ?? 0),
  opponents: (row) => row.opponents ?? 0,
  response: (row) => row.medianResponse ?? Infinity,
  played: (row) => row.lastPlayed ?? 0,
};

/** How a player is called. @param {{username?: string, playerId: string}} row */
export function nameIn({ username, playerId }) {
  return username || playerId;
}

/**
 * What an address asks for, as far as there is such a board; undefined if its challenge has none.
 * @param {Head[]} heads @param {string} type @param {URLSearchParams} query @returns {Choice | undefined}
 */
export function choiceOf(heads, type, query) {
  const offered = heads.filter(({ challengeType }) => challengeType === type);
  const head = offered.find(({ strategy }) => strategy === query.get("strategy")) ?? offered[0];
  if (!head) return undefined;
  const metric = (head.metrics.find(({ key }) => key === query.get("metric")) ?? head.metrics[0])?.key ?? "";
  const sort = query.get("sort") ?? "";
  const offset = Math.max(0, Math.floor(Number(query.get("offset"))) || 0);
  return { type, strategy: head.strategy, metric, sort: Object.hasOwn(COLUMNS, sort) ? sort : metric, isUp: query.get("order") === "up", offset, isByOwner: query.get("by") === "owner" };
}

/** The address of a choice; what goes without saying is left out. @param {Choice} choice @param {Partial<Choice>} [change] */
export function addressOf(choice, change = {}) {
  const { type, strategy, metric, sort, isUp, offset, isByOwner } = { ...choice, ...change };
  const query = new URLSearchParams({ strategy, metric });
  if (sort !== metric) query.set("sort", sort);
  if (isUp) query.set("order", "up");
  if (offset) query.set("offset", String(offset));
  if (isByOwner) query.set("by", "owner");
  return `/boards/${encodeURIComponent(type)}?${query}`;
}

/** Where a click on a column leads: to that order, or to its reverse. @param {Choice} choice @param {string} column @param {Head} head */
export function sortedBy(choice, column, head) {
  if (choice.sort === column) return addressOf(choice, { isUp: !choice.isUp });
  const isMetric = head.metrics.some(({ key }) => key === column);
  const isUp = column === "player" || column === "response"; // names and short times are read from their beginning
  return addressOf(choice, { sort: column, metric: isMetric ? column : choice.metric, isUp, offset: isMetric ? 0 : choice.offset });
}

/** Rows in the order of a choice; they come from the server best first. @param {Row[]} rows @param {Choice} choice */
export function ordered(rows, { sort, isUp }) {
  const worth = COLUMNS[sort];
  if (!worth) return isUp ? [...rows].reverse() : rows;
  const down = (/** @type {Row} */ one, /** @type {Row} */ other) => compare(worth(other), worth(one));
  return [...rows].sort((one, other) => (isUp ? down(other, one) : down(one, other)));
}

/** @param {number | string} one @param {number | string} other */
function compare(one, other) {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Rows whose player is called like this. @param {Row[]} rows @param {string} words */
export function called(rows, words) {
  const looked = words.trim().toLowerCase();
  return rows.filter((row) => [row.playerId, row.username ?? "", row.model ?? ""].some((text) => text.toLowerCase().includes(looked)));
}

// Numbers

/** From where to where the values of a column and their intervals go. @param {Row[]} rows @param {string} key @returns {[number, number]} */
export function reach(rows, key) {
  return spanOf(rows.map(({ metrics }) => metrics[key]), rows.map(({ intervals }) => intervals[key]));
}

/**
 * A span for values and their intervals. An interval after two games may be endless: no further than the values
 * lie apart is shown of it, to either side.
 * @param {number[]} values @param {([number, number] | null | undefined)[]} intervals @returns {[number, number]}
 */
export function spanOf(values, intervals) {
  const known = values.filter((value) => Number.isFinite(value));
  const ends = intervals.flatMap((interval) => interval ?? []);
  if (known.length === 0) return [0, 1];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const room = high - low || Infinity;
  return around([...known, ...ends.map((end) => Math.min(high + room, Math.max(low - room, end)))]);
}

/** A span that holds all values and is never empty. @param {number[]} values @returns {[number, number]} */
export function around(values) {
  if (values.length === 0) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

/** Round numbers in a span, for an axis. @param {[number, number]} span @param {number} [about] how many */
export function ticks([low, high], about = 6) {
  const rough = (high - low) / about;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * size).find((one) => one >= rough) ?? rough;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, number) => (first + number) * step);
}

/** What an agent declares of its parts, in words. @param {Declared | undefined} declared */
export function madeOf(declared) {
  const parts = /** @type {const} */ (["model", "prompt", "harness"]).filter((part) => declared?.[part]);
  return parts.map((part) => `${part} ${declared?.[part]}`).join(", ");
}

/** A value as a board shows it: ratings are long and whole, rates and means are short. @param {number | undefined} value */
export function figure(value) {
  if (value === undefined || !Number.isFinite(value)) return "–";
  const text = value.toFixed(Math.abs(value) >= 100 ? 0 : 2);
  return Number(text) === 0 ? text.replace("-", "") : minus(text);
}

/** A time in which somebody answers. @param {number | undefined} milliseconds */
export function pace(milliseconds) {
  if (milliseconds === undefined) return "–";
  return milliseconds < 950 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

/**
 * The place that a player has, with a sign if others have the same one, those that it may have, and whether it is told
 * apart from its neighbours.
 * @param {Row} row @param {Row[]} [rows] all that are shown
 */
export function ranksOf({ rank, rankInterval, tied }, rows = []) {
  const [best, worst] = rankInterval ?? [rank, rank];
  const isShared = rows.filter((other) => other.rank === rank).length > 1;
  return { rank: isShared ? `=${rank}` : String(rank), band: best === worst ? "" : `${best}–${worst}`, isSure: best === worst && !tied && !isShared };
}

// Security and utility

/** The metrics that a scatter needs. @param {Head} head @returns {{x: Metric, y: Metric} | null} */
export function crossOf({ metrics }) {
  const x = metrics.find(({ key }) => key.endsWith(":utility"));
  const y = metrics.find(({ key }) => key.endsWith(":security"));
  return x && y ? { x, y } : null;
}

/** Players as dots, each once, with those that nobody beats in both ways. @param {Row[]} rows @param {{x: Metric, y: Metric}} cross @returns {Dot[]} */
export function dotsOf(rows, { x, y }) {
  const known = [...new Map(rows.map((row) => [row.playerId, row])).values()];
  const dots = known
    .filter(({ metrics }) => x.key in metrics && y.key in metrics)
    .map((row) => ({
      id: row.playerId,
      name: nameIn(row),
      x: row.metrics[x.key],
      y: row.metrics[y.key],
      across: row.intervals[x.key] ?? null,
      up: row.intervals[y.key] ?? null,
      isProvisional: row.provisional,
      isFront: false,
    }));
  for (const dot of front(dots)) dot.isFront = true;
  return dots;
}

/** The Pareto front: the dots that no other is at least equal to in both ways and better in one, by x. @template {{x: number, y: number}} T @param {T[]} dots @returns {T[]} */
export function front(dots) {
  let highest = -Infinity;
  /** @type {T[]} */ const found = [];
  for (const dot of [...dots].sort((one, other) => other.x - one.x || other.y - one.y)) {
    const last = found.at(-1);
    const isSame = last !== undefined && last.x === dot.x && last.y === dot.y;
    if (dot.y > highest || isSame) found.push(dot);
    highest = Math.max(highest, dot.y);
  }
  return found.reverse();
}

// Who met whom

/** Meetings as a table: a row and a column for each player, from the side of the row. @param {string[]} players @param {Met[]} meetings */
export function matrixOf(players, meetings) {
  /** @type {Map<string, Met>} */ const met = new Map();
  for (const one of meetings) {
    met.set(JSON.stringify([one.player, one.opponent]), one);
    met.set(JSON.stringify([one.opponent, one.player]), { ...one, player: one.opponent, opponent: one.player, wins: one.losses, losses: one.wins });
  }
  return players.map((player) => ({
    player,
    cells: players.map((opponent) => met.get(JSON.stringify([player, opponent])) ?? null),
  }));
}

/** How the games of two went, in a word; a tie counts for both. @param {Met} met @returns {"ahead" | "behind" | "even"} */
export function sideOf({ wins, losses }) {
  return wins > losses ? "ahead" : wins < losses ? "behind" : "even";
}
