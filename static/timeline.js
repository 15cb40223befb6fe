/**
 * The course of a game as one line of time: what was said, and the turns that nobody said. Pure.
 *
 * @import { Line, Part, Session } from "./view.js"
 * @typedef {{at: number, kind: "talk" | "hidden" | "call" | "move" | "turn" | "late" | "breach" | "deed" | "end"}} Tick
 * @typedef {{from: number, to: number, label: string, isBreach: boolean, at: number, name: string | null}} Deed an
 *   attribution, when it came about, and the name of the line that it came with
 * @typedef {{lines: Line[], deeds: Deed[], ticks: Tick[], begin: number, end: number}} Timeline
 */

import { attributionsOf, linesOf } from "./view.js";

// As the arena's own referee says it, whatever the challenge.
const LATE = /^(Player \d+ has (run out of time|resigned)|The time of this game is up)\.$/;

/** @type {WeakMap<Session, Timeline>} */ const made = new WeakMap();

/** A session as a line of time; the same for the same session. @param {Session} session @returns {Timeline} */
export function timelineOf(session) {
  const known = made.get(session);
  if (known) return known;
  const lines = withTurns(session, linesOf(session));
  const deeds = deedsOf(session);
  const timeline = { lines, deeds, ticks: ticksOf(lines, deeds), ...span(session, lines) };
  made.set(session, timeline);
  return timeline;
}

/** From the first thing that happened to the last. @param {Session} session @param {Line[]} lines */
function span({ challenge, course }, lines) {
  const begin = course?.joined[0] ?? lines[0]?.at ?? challenge?.createdAt ?? 0;
  return { begin: Math.min(begin, lines[0]?.at ?? begin), end: Math.max(begin, lines.at(-1)?.at ?? 0, challenge?.state.completedAt ?? 0) };
}

/** Lines with the joins, the start and the end among them. @param {Session} session @param {Line[]} lines @returns {Line[]} */
function withTurns(session, lines) {
  const turns = turnsOf(session);
  const merged = [];
  let next = 0;
  for (const line of lines) {
    // The turn that ends a game says things too; they come before the end.
    while (next < turns.length && (turns[next].at < line.at || (turns[next].at === line.at && turns[next].name !== "ended"))) merged.push(turns[next++]);
    merged.push(line);
  }
  return [...merged, ...turns.slice(next)];
}

/** What happened and was not said, in order. @param {Session} session @returns {Line[]} */
function turnsOf({ challenge, course }) {
  if (!challenge) return [];
  const { players, completedAt } = challenge.state;
  const turns = (course?.joined ?? []).slice(0, players.length).map((at, seat) => turn(`joined.${seat}`, at, ["Player ", { seat }, " joined"]));
  if (course?.started !== undefined) turns.push(turn("started", course.started, ["The game began"]));
  if (completedAt !== undefined) turns.push(turn("ended", completedAt, ["The game ended"]));
  return turns;
}

/** @type {Map<string, Line>} */ const turned = new Map();

/** One object per turn, so that it is drawn once. @param {string} name @param {number} at @param {Part[]} parts @returns {Line} */
function turn(name, at, parts) {
  const key = `${name} ${at}`;
  const known = turned.get(key);
  if (known) return known;
  if (turned.size > 1_000) turned.clear();
  /** @type {Line} */ const line = { key, name, at, kind: "event", from: { kind: "operator" }, to: null, parts, isHidden: false, wasPrivate: false, isMove: false };
  turned.set(key, line);
  return line;
}

/** Who did what to whom, and when. @param {Session} session @returns {Deed[]} */
function deedsOf({ challenge, course, operator }) {
  if (!challenge) return [];
  const end = challenge.state.completedAt ?? 0;
  return attributionsOf(challenge).map((attribution, number) => {
    const index = course?.causes?.[number];
    const message = index === undefined ? undefined : operator.find((one) => one.index === index);
    return { ...attribution, at: message?.timestamp ?? end, name: message ? `operator.${index}` : null };
  });
}

/** @param {Line[]} lines @param {Deed[]} deeds @returns {Tick[]} */
function ticksOf(lines, deeds) {
  /** @type {Tick[]} */ const ticks = lines.map((line) => ({ at: line.at, kind: kindOf(line) }));
  return [...ticks, ...deeds.map(({ at, isBreach }) => /** @type {Tick} */ ({ at, kind: isBreach ? "breach" : "deed" }))];
}

/** @param {Line} line @returns {Tick["kind"]} */
function kindOf(line) {
  switch (line.kind) {
    case "event":
      return line.name === "ended" ? "end" : "turn";
    case "call":
      return typeof line.parts[0] === "string" && LATE.test(line.parts[0]) ? "late" : "call";
    case "whisper":
      return line.isMove ? "move" : "hidden";
    case "speech":
      return "talk";
  }
}

/**
 * How much was said in each of some equal stretches, as shares of the busiest one; messages that everybody may read,
 * and others.
 * @param {Tick[]} ticks @param {number} begin @param {number} end @param {number} bins
 */
export function densityOf(ticks, begin, end, bins) {
  const counts = Array.from({ length: bins }, () => ({ open: 0, hidden: 0 }));
  const length = Math.max(1, end - begin);
  for (const { at, kind } of ticks) {
    const bin = counts[Math.min(bins - 1, Math.max(0, Math.floor(((at - begin) / length) * bins)))];
    if (kind === "talk" || kind === "call") bin.open += 1;
    else if (kind === "hidden" || kind === "move") bin.hidden += 1;
  }
  const most = Math.max(1, ...counts.map(({ open, hidden }) => open + hidden));
  return counts.map(({ open, hidden }) => ({ open: open / most, hidden: hidden / most }));
}
