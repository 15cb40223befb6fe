/** A game in a file of its own: the record lies in the page, and nobody is asked for anything. */

import { operatorChannel } from "./arena.js";
import { give } from "./elements/dom.js";
import "./elements/player-mark.js";
import "./elements/session-page.js";
import { readMoment, writeMoment } from "./replay.js";
import { newSession, withChallenge } from "./view.js";

/** @import { Challenge, Message, Profile } from "./arena.js" */
/** @import { Session } from "./view.js" */
/** @typedef {{kind: "game", challenge: Challenge, messages: Message[]}} Game */
/** @typedef {Game | {kind: "profile", profile: Profile} | {kind: "arena" | "result"}} Recorded a line of an archive */

/** The session of a record. @param {Recorded[]} lines @returns {Session} */
export function sessionOf(lines) {
  const { challenge, messages } = /** @type {Game} */ (lines.find(({ kind }) => kind === "game"));
  const profiles = lines.flatMap((line) => (line.kind === "profile" ? [line.profile] : []));
  const isOperators = (/** @type {Message} */ { channel }) => channel === operatorChannel(challenge.id);
  return {
    ...withChallenge(newSession(challenge.id), challenge),
    clocks: {},
    profiles: Object.fromEntries(profiles.map((profile) => [profile.userId, profile])),
    operator: messages.filter(isOperators),
    chat: messages.filter((message) => !isOperators(message)),
  };
}

const record = document.querySelector("#record")?.textContent ?? "";
const page = give(/** @type {any} */ (document.createElement("session-page")), { isRecord: true });
document.querySelector("main")?.replaceChildren(page);
page.show(sessionOf(record.trim().split("\n").map((line) => JSON.parse(line))));

const asked = new URLSearchParams(location.hash.slice(1) || location.search);
page.seek(readMoment(asked.get("at")), asked.get("line"));
page.addEventListener("moment", (/** @type {CustomEvent<{offset: number | null, line: string | null}>} */ { detail: { offset, line } }) => {
  const moment = line === null ? (offset === null ? "" : `at=${writeMoment(offset)}`) : `line=${encodeURIComponent(line)}`;
  history.replaceState(null, "", `#${moment}`);
});
