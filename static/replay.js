/**
 * A game at a moment: what had been said, who was there, and where the next moments are. Pure.
 *
 * @import { Line, Session } from "./view.js"
 */

export const SPEEDS = [1, 2, 4, 16, 64];
const SILENCE = 1_500; // milliseconds that a replay waits at most, however long the game did

/** How many of the lines had come by a moment; they are in the order of time. @param {Line[]} lines @param {number} at */
export function upTo(lines, at) {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle].at <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The moment of the first line after this one; nothing if there is none. @param {Line[]} lines @param {number} at */
export function nextMoment(lines, at) {
  return lines[upTo(lines, at)]?.at;
}

/** The moment of the last line before this one; nothing if there is none. @param {Line[]} lines @param {number} at */
export function lastMoment(lines, at) {
  return lines[upTo(lines, at - 1) - 1]?.at;
}

/** Where a replay is after some time on the reader's clock; long silences are cut short. @param {Line[]} lines @param {number} at @param {number} elapsed @param {number} speed */
export function advance(lines, at, elapsed, speed) {
  const next = nextMoment(lines, at);
  const start = next === undefined ? at : Math.max(at, next - SILENCE * speed);
  return start + elapsed * speed;
}

/** A session as it stood at a moment; names stay those that were learned at the end. @param {Session} session @param {number} at @returns {Session} */
export function asOf(session, at) {
  const { challenge, course } = session;
  if (!challenge) return session;
  const { state } = challenge;
  if (state.completedAt !== undefined && at >= state.completedAt) return { ...session, connected: [] };
  const players = state.players.filter((_, seat) => (course?.joined[seat] ?? 0) <= at);
  const status = course?.started === undefined || course.started > at ? "open" : "active";
  return {
    ...session,
    connected: [],
    clocks: {},
    challenge: { ...challenge, state: { ...state, status, players, scores: [], attributions: [] } },
  };
}

/** @type {WeakMap<Line, Line>} */ const sealed = new WeakMap();

/** Lines as they were seen while the game was on: what was private is a bar again. @param {Line[]} lines @returns {Line[]} */
export function seal(lines) {
  return lines.map((line) => {
    if (!line.wasPrivate) return line;
    const bar = sealed.get(line) ?? { ...line, parts: [], isHidden: true, wasPrivate: false };
    sealed.set(line, bar);
    return bar;
  });
}

/** The moment that an address asks for, in milliseconds from the beginning; nothing if it asks for none. @param {string | null} text */
export function readMoment(text) {
  if (text === null || !/^\d{1,9}(\.\d{1,3})?$/.test(text)) return undefined;
  return Math.round(Number(text) * 1_000);
}

/** A moment for an address: seconds from the beginning. @param {number} milliseconds */
export function writeMoment(milliseconds) {
  return String(Math.max(0, Math.round(milliseconds)) / 1_000);
}
