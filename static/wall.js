/**
 * The wall: all public games, as plain functions of what the lobby told.
 *
 * @import { Challenge, Lobby, Message, Profile, SessionFrame } from "./arena.js"
 *
 * @typedef {{challenge: Challenge, lastLine?: Message, spectators?: number}} Game
 * @typedef {{live: Map<string, Game>, ended: Game[], unsure: Set<string>, profiles: Record<string, Profile>}} Wall
 *   games by id; `unsure` were live when the connection was lost
 * @typedef {{challenge?: string, status?: string, words?: string}} Wish what of the wall is to be seen
 */

import { callOf } from "./calls.js";
import { STAGES, attributionsOf, brief, seatCount, seatsOf, speakerOf, spell } from "./view.js";

export const KEPT = 50; // finished games that the wall remembers

/** @returns {Wall} */
export function newWall() {
  return { live: new Map(), ended: [], unsure: new Set(), profiles: {} };
}

/** The connection is lost: what we know of live games may be over when it is back. @param {Wall} wall @returns {Wall} */
export function doubt(wall) {
  return { ...wall, unsure: new Set(wall.live.keys()) };
}

/** The lobby's answer: these games wait or run, and those we were unsure of do not. @param {Wall} wall @param {Lobby} lobby */
export function enter(wall, { challenges, lastLines = {}, spectators = {} }) {
  const next = copy(wall);
  for (const id of wall.unsure) next.live.delete(id);
  next.unsure.clear();
  for (const challenge of [...challenges].reverse()) {
    const lastLine = lastLines[challenge.id] ?? wall.live.get(challenge.id)?.lastLine;
    put(next, { challenge, lastLine, spectators: spectators[challenge.id] ?? 0 });
  }
  return next;
}

/** News of some games; one copy of the wall however many there are. @param {Wall} wall @param {SessionFrame[]} frames @returns {Wall} */
export function hearOf(wall, frames) {
  const next = copy(wall);
  for (const { event, challenge, lastLine, spectators } of frames) {
    const before = next.live.get(challenge.id);
    if (event === "removed") next.live.delete(challenge.id);
    else put(next, { challenge, lastLine: lastLine ?? before?.lastLine, spectators: spectators ?? before?.spectators });
  }
  return next;
}

/**
 * Games that had ended before anybody listened, with who played them.
 * @param {Wall} wall @param {{challenges: Challenge[], profiles: Record<string, Profile>}} page @returns {Wall}
 */
export function recall(wall, { challenges, profiles }) {
  const next = { ...copy(wall), profiles: { ...wall.profiles, ...profiles } };
  for (const challenge of challenges) put(next, { challenge });
  return next;
}

/** @param {Wall} wall @returns {Wall} */
function copy(wall) {
  return { ...wall, live: new Map(wall.live), unsure: new Set(wall.unsure) };
}

/** Put a game with its news into a wall of our own, unless they lead back to an earlier stage. @param {Wall} wall @param {Game} game */
function put(wall, game) {
  const { id, state } = game.challenge;
  const before = wall.live.get(id) ?? wall.ended.find((other) => other.challenge.id === id);
  if (before && STAGES[before.challenge.state.status] > STAGES[state.status]) return;
  wall.unsure.delete(id);
  if (state.status !== "ended") return void wall.live.set(id, game);
  wall.live.delete(id);
  const others = wall.ended.filter((other) => other.challenge.id !== id);
  wall.ended = [game, ...others].sort((one, other) => endOf(other.challenge) - endOf(one.challenge)).slice(0, KEPT);
}

/** When a game was over. @param {Challenge} challenge */
function endOf(challenge) {
  return challenge.state.completedAt ?? challenge.createdAt;
}

/** Whether a game is one of those that are to be seen. @param {Wish} wish @returns {(game: Game) => boolean} */
function isWanted({ challenge: type, status, words = "" }) {
  const looked = words.trim().toLowerCase();
  return ({ challenge, lastLine }) => {
    if (type && challenge.challengeType !== type) return false;
    if (status && challenge.state.status !== status) return false;
    if (!looked) return true;
    const said = [challenge.name, challenge.id, ...Object.values(challenge.state.playerIdentities), lastLine?.content ?? ""];
    return said.some((text) => text.toLowerCase().includes(looked));
  };
}

/** The live games as cards: those that run, then those that wait, each newest first. @param {Wall} wall @param {Wish} [wish] */
export function cards(wall, wish = {}) {
  return [...wall.live.values()]
    .filter(isWanted(wish))
    .sort((one, other) => stage(other) - stage(one) || other.challenge.createdAt - one.challenge.createdAt)
    .map(card);
}

/** @param {Game} game */
const stage = (game) => STAGES[game.challenge.state.status];

/** @type {WeakMap<Game, Card>} cards that were made before */
const made = new WeakMap();

/** @param {Game} game @returns {Card} */
function card(game) {
  const known = made.get(game) ?? draw(game);
  made.set(game, known);
  return known;
}

/** @typedef {ReturnType<typeof draw>} Card @param {Game} game */
function draw({ challenge, lastLine, spectators = 0 }) {
  const { status, players } = challenge.state;
  const speaker = lastLine && speakerOf(lastLine.from, players, {});
  return {
    id: challenge.id,
    title: challenge.name,
    status,
    label: status === "open" ? `waiting, ${players.length} of ${seatCount(challenge)} seats taken` : "live",
    seats: Array.from({ length: seatCount(challenge) }, (_, seat) => ({
      seat,
      isTaken: seat < players.length,
      clock: challenge.clocks?.[players[seat] ?? ""] ?? null,
    })),
    line: lastLine && speaker ? { from: speaker, parts: callOf(lastLine.content)?.map((part) => (typeof part === "string" ? brief(part) : part)) ?? spell(brief(lastLine.content), players) } : null,
    since: challenge.createdAt,
    spectators,
  };
}

/** The finished games, newest first. @param {Wall} wall @param {Wish} [wish] */
export function results(wall, wish = {}) {
  return wall.ended.filter(isWanted({ ...wish, status: "" })).map(({ challenge }) => resultOf(challenge, wall.profiles));
}

/** How a game ended. @typedef {ReturnType<typeof resultOf>} Result @param {Challenge} challenge @param {Record<string, Profile>} profiles */
export function resultOf(challenge, profiles) {
  const users = challenge.state.players.map((invite) => challenge.state.playerIdentities[invite] ?? "");
  return {
    id: challenge.id,
    title: challenge.name,
    endedAt: endOf(challenge),
    lasted: endOf(challenge) - challenge.createdAt,
    players: seatsOf(challenge, profiles, []).map((player, seat) => ({ ...player, user: users[seat] ?? "" })),
    attributions: attributionsOf(challenge),
  };
}
