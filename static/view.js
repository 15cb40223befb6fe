/**
 * What is shown, as plain functions of what was heard. No page, no clock, no socket in here.
 *
 * @import { Attribution, Challenge, Course, GameEnded, Initial, Message, NewMessage, Profile, Score, State,
 *   StateFrame } from "./arena.js"
 *
 * @typedef {{id: string, challenge: Challenge | null, connected: string[], spectators: number,
 *   profiles: Record<string, Profile>, operator: Message[], chat: Message[], course: Course | null,
 *   clocks: Record<string, Left>}} Session
 * @typedef {{left: number, until?: number}} Left milliseconds that a seat has; `until` when, while its clock runs
 *
 * @typedef {string | {seat: number}} Part of a text: words, or a player
 * @typedef {{kind: "operator"} | {kind: "player", seat: number, name: string} | {kind: "stranger", name: string}} Speaker
 * @typedef {{key: string, name: string, at: number, kind: "call" | "speech" | "whisper" | "event", from: Speaker,
 *   to: Speaker | null, parts: Part[], isHidden: boolean, wasPrivate: boolean, isMove: boolean}} Line `name`: what an
 *   address calls it
 * @typedef {{seat: number, name: string, handle: string, isTaken: boolean, isConnected: boolean, model: string,
 *   score: Score | null, clock: Left | null, note?: string}} Player
 */

import { operatorChannel } from "./arena.js";
import { callOf } from "./calls.js";

const OPERATOR = "operator";
export const STAGES = { open: 0, active: 1, ended: 2 };

// One session

/** @param {string} id @returns {Session} */
export function newSession(id) {
  return { id, challenge: null, connected: [], spectators: 0, profiles: {}, operator: [], chat: [], course: null, clocks: {} };
}

/** A session after it was (again) asked for. @param {Session} session @param {Challenge} challenge @returns {Session} */
export function withChallenge(session, challenge) {
  return { ...session, challenge, course: challenge.course ?? session.course, clocks: challenge.clocks ?? {} };
}

/**
 * A session after some frames; one copy of a log however many there are.
 * @param {Session} session @param {(Initial | NewMessage | StateFrame | GameEnded)[]} frames
 * @param {() => number} now the server's clock @returns {Session}
 */
export function follow(session, frames, now = Date.now) {
  const next = { ...session };
  for (const frame of frames) {
    switch (frame.type) {
      case "initial": {
        const log = logOf(session, frame.channel);
        next[log] = frame.recovered ? merge(next[log], frame.messages) : [...frame.messages];
        break;
      }
      case "new_message": {
        const log = logOf(session, frame.message.channel);
        if (next[log] === session[log]) next[log] = [...session[log]];
        append(next[log], frame.message);
        break;
      }
      case "state":
        next.connected = frame.connected;
        next.spectators = frame.spectators;
        next.clocks = clocksOf(frame, now());
        next.course = courseOf(next, frame.state, now());
        next.challenge = advance(next.challenge, frame.state);
        break;
      case "game_ended": {
        const { profiles, course, ...state } = frame.data;
        next.profiles = profiles;
        next.course = course ?? next.course;
        next.clocks = {};
        next.challenge = advance(next.challenge, state);
        break;
      }
    }
  }
  return next;
}

/** A challenge in its new state; one that was on its way when the game ended comes too late. @param {Challenge | null} challenge @param {State} state */
function advance(challenge, state) {
  if (!challenge || STAGES[challenge.state.status] > STAGES[state.status]) return challenge;
  if (state.players.length < challenge.state.players.length) return challenge; // nobody gives up a seat
  return { ...challenge, state };
}

/** The clocks as a frame tells them: those that run are over at a moment. @param {StateFrame} frame @param {number} now @returns {Record<string, Left>} */
function clocksOf({ clocks = {} }, now) {
  const { running = [], ...times } = clocks;
  return Object.fromEntries(
    Object.entries(times).map(([invite, left]) => [invite, running.includes(invite) ? { left, until: now + left } : { left }]),
  );
}

/** The course with what a new state adds to it: we see joins and the start as they happen. @param {Session} session @param {State} state @param {number} now @returns {Course | null} */
function courseOf({ challenge, course }, { players, status }, now) {
  if (players.length === 0 || !challenge || challenge.state.status === "ended") return course;
  const joined = players.map((_, seat) => course?.joined[seat] ?? now);
  return { ...course, joined, ...(status === "open" ? {} : { started: course?.started ?? now }) };
}

/** A session after its operator channel was read again: what was hidden lies open. @param {Session} session @param {Message[]} messages */
export function reveal(session, messages) {
  return { ...session, operator: merge(session.operator, messages) };
}

/** Whether the end of the game has opened something that we still see hidden. @param {Session} session */
export function mayReveal(session) {
  return session.challenge?.state.status === "ended" && session.operator.some((message) => message.redacted);
}

/** @param {Session} session @param {string} channel @returns {"operator" | "chat"} */
function logOf(session, channel) {
  return channel === operatorChannel(session.id) ? "operator" : "chat";
}

/** Put a message in its place, which is nearly always the end. @param {Message[]} log @param {Message} message */
function append(log, message) {
  const last = log.at(-1);
  if (!last || message.index > last.index) log.push(message);
  else log.splice(0, log.length, ...merge(log, [message]));
}

/** Two stretches of a log as one; where both have a message, an open one wins. @param {Message[]} old @param {Message[]} fresh */
function merge(old, fresh) {
  const byIndex = new Map(old.map((message) => [message.index, message]));
  for (const message of fresh) {
    const known = byIndex.get(message.index);
    if (!known || (known.redacted && !message.redacted)) byIndex.set(message.index, message);
  }
  return [...byIndex.values()].sort((one, other) => one.index - other.index);
}

/** Both channels as one, by time; within a channel the order of the log holds whatever the clocks say. @param {Session} session @returns {Line[]} */
export function linesOf(session) {
  const operator = timed(session, session.operator);
  const chat = timed(session, session.chat);
  const lines = [];
  for (let o = 0, c = 0; o < operator.length || c < chat.length; ) {
    const isOperators = c >= chat.length || (o < operator.length && operator[o].at <= chat[c].at);
    lines.push(isOperators ? operator[o++] : chat[c++]);
  }
  return lines;
}

/** @type {WeakMap<Message, {names: string, line: Line}>} lines that were made before, as long as nobody's name changed */
const made = new WeakMap();

/** @param {Session} session @param {Message[]} log @returns {Line[]} */
function timed(session, log) {
  const names = namesOf(session);
  let latest = 0;
  return log.map((message) => {
    latest = Math.max(latest, message.timestamp);
    const before = made.get(message);
    if (before?.names === names && before.line.at === latest) return before.line;
    const line = lineOf(session, message, latest);
    made.set(message, { names, line });
    return line;
  });
}

/** Whatever decides how the players are called. @param {Session} session */
function namesOf({ challenge, profiles }) {
  return JSON.stringify([challenge?.state.status, challenge?.state.players, challenge?.state.playerIdentities, profiles]);
}

/** @param {Session} session @param {Message} message @param {number} at @returns {Line} */
function lineOf(session, message, at) {
  const players = session.challenge?.state.players ?? [];
  const names = { ...guestsOf(session), ...identities(session) };
  const from = speakerOf(message.from, players, names);
  const isPrivate = Boolean(message.to);
  const isOpened = isPrivate && !message.redacted && message.channel === operatorChannel(session.id);
  return {
    key: `${message.channel} ${message.index}`,
    name: `${logOf(session, message.channel)}.${message.index}`,
    at,
    kind: isPrivate ? "whisper" : from.kind === OPERATOR ? "call" : "speech",
    from,
    to: message.to ? speakerOf(message.to, players, names) : null,
    parts: from.kind === OPERATOR ? callParts(message.content, players) : [message.content],
    isHidden: message.redacted === true,
    wasPrivate: isOpened && session.challenge?.state.status === "ended",
    isMove: message.to === OPERATOR,
  };
}

/** Who speaks, from what stands in `from` or `to`. @param {string} who @param {string[]} players @param {Record<string, string>} names @returns {Speaker} */
export function speakerOf(who, players, names) {
  if (who === OPERATOR) return { kind: OPERATOR };
  const seat = players.indexOf(who);
  return seat < 0 ? { kind: "stranger", name: names[who] ?? who } : { kind: "player", seat, name: names[who] ?? seatName(seat) };
}

/** What a player is called while nobody may know more. @param {number} seat */
export function seatName(seat) {
  return `Player ${seat + 1}`;
}

/** The names of players by invite, as far as they are known. @param {Session} session @returns {Record<string, string>} */
function identities({ challenge, profiles }) {
  const known = Object.entries(challenge?.state.playerIdentities ?? {});
  return Object.fromEntries(known.map(([invite, user]) => [invite, profiles[user]?.username || user]));
}

/** What those are called who do not play. @param {Session} session @returns {Record<string, string>} */
function guestsOf({ challenge }) {
  const others = Object.entries(challenge?.roles ?? {}).filter(([, role]) => role !== "player");
  return Object.fromEntries(others.map(([invite, role]) => [invite, role.charAt(0).toUpperCase() + role.slice(1)]));
}

/** How many seats are for players; judges and others have invites too. @param {Challenge} challenge */
export function seatCount({ seats, invites }) {
  return seats ?? invites.length;
}

/** The seats of a session, taken or not. @param {Session} session @returns {Player[]} */
export function playersOf({ challenge, profiles, connected, clocks }) {
  if (!challenge) return [];
  return seatsOf(challenge, profiles, connected).map((player) => ({ ...player, clock: clocks[player.handle] ?? null }));
}

/** @param {Challenge} challenge @param {Record<string, Profile>} profiles @param {string[]} connected @returns {Player[]} */
export function seatsOf(challenge, profiles, connected) {
  const { state } = challenge;
  return Array.from({ length: seatCount(challenge) }, (_, seat) => {
    const invite = state.players[seat];
    const user = invite === undefined ? undefined : state.playerIdentities[invite];
    const profile = user === undefined ? undefined : profiles[user];
    return {
      seat,
      name: profile?.username || user || seatName(seat),
      handle: invite ?? "",
      model: profile?.model ?? "",
      isTaken: invite !== undefined,
      isConnected: invite !== undefined && connected.includes(invite),
      score: state.status === "ended" ? (state.scores[seat] ?? null) : null,
      clock: null,
    };
  });
}

/** Who did what to whom, by seat. @param {Challenge} challenge */
export function attributionsOf({ state }) {
  const seat = (/** @type {string} */ invite) => state.players.indexOf(invite);
  return (state.attributions ?? []).map((/** @type {Attribution} */ { from, to, type }) => {
    return { from: seat(from), to: seat(to), label: type.replaceAll("_", " "), isBreach: type === "security_breach" };
  });
}

// Words and numbers

/** What the operator said, in words and players. @param {string} content @param {string[]} players @returns {Part[]} */
export function callParts(content, players) {
  return callOf(content) ?? spell(content, players);
}

/** A text in which the codes of players are made players again. @param {string} text @param {string[]} players @returns {Part[]} */
export function spell(text, players) {
  if (players.length === 0) return [text];
  const codes = players.map((invite) => invite.replaceAll(/[^\w]/g, "\\$&")).join("|");
  const parts = text.split(new RegExp(`(${codes})`)).filter((part) => part !== "");
  return parts.map((part) => (players.includes(part) ? { seat: players.indexOf(part) } : part));
}

/** The beginning of a text, for a place where it is clipped anyway. @param {string} text */
export function brief(text) {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** A code so short that it can stand beside others, with its end, where codes differ. @param {string} code */
export function short(code) {
  return code.length > 20 ? `${code.slice(0, 4)}…${code.slice(-4)}` : code;
}

/** Seconds as a clock shows them. @param {number} milliseconds */
export function clock(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** A score: whole numbers stay whole, and a gain says so. @param {number | null} value */
export function signed(value) {
  const text = value !== null && Number.isInteger(value) ? minus(String(value)) : decimal(value);
  return value !== null && value > 0 ? `+${text}` : text;
}

/** A mean, with two places. @param {number | null} value */
export function decimal(value) {
  if (value === null) return "–";
  const text = value.toFixed(2);
  return Number(text) === 0 ? "0.00" : minus(text);
}

/** A number whose minus is a minus. @param {string} text */
export function minus(text) {
  return text.replace("-", "−");
}
