/**
 * A game as one of its players sees it, as plain functions of what was heard.
 *
 * @import { Line, Part, Player, Session } from "./view.js"
 * @typedef {{text: string, isMine: boolean} | null} Turn whom the game waits for, if that is told
 */

import { playersOf } from "./view.js";
import { timelineOf } from "./timeline.js";

/** The players, with a note beside oneself. @param {Session} session @param {number} seat @returns {Player[]} */
export function seatsFor(session, seat) {
  return playersOf(session).map((player) => (player.seat === seat ? { ...player, note: "you" } : player));
}

/** Whom one may talk to alone. @param {Session} session @param {number} seat */
export function othersOf(session, seat) {
  return playersOf(session).filter((player) => player.isTaken && player.seat !== seat);
}

/** Whose move it is, as far as clocks tell. @param {Session} session @param {number} seat @returns {Turn} */
export function turnOf(session, seat) {
  if (session.challenge?.state.status !== "active") return null;
  const waited = playersOf(session).filter(({ clock }) => clock?.until !== undefined);
  if (waited.length === 0) return null;
  if (waited.some((player) => player.seat === seat)) return { text: waited.length === 1 ? "Your move" : "Your move, and others'", isMine: true };
  return { text: `Waiting for ${waited.map(({ name }) => name).join(", ")}`, isMine: false };
}

/** What the operator said last to everybody. @param {Session} session @returns {Part[]} */
export function lastCall(session) {
  return timelineOf(session).lines.findLast(({ kind }) => kind === "call")?.parts ?? [];
}

/** What the operator told this seat alone. @param {Session} session @param {number} seat @returns {Line[]} */
export function secretsOf(session, seat) {
  return timelineOf(session).lines.filter((line) => line.from.kind === "operator" && !line.isHidden && isTo(line, seat));
}

/** Whether a line is meant for a seat alone. @param {Line} line @param {number} seat */
export function isTo({ to }, seat) {
  return to?.kind === "player" && to.seat === seat;
}

/** How many seats are taken, in words. @param {Session} session */
export function waitingFor({ challenge }) {
  const [taken, all] = [challenge?.state.players.length ?? 0, challenge?.invites.length ?? 0];
  return `${taken} of ${all} seats ${taken === 1 && all > 1 ? "is" : "are"} taken. The game begins when all of them are.`;
}
