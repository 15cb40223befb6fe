/** One session, live or after its end. */

import { path, read } from "../api.js";
import { operatorChannel, sessionOf } from "../arena.js";
import { give, h } from "../elements/dom.js";
import "../elements/session-page.js";
import { readMoment, writeMoment } from "../replay.js";
import { follow, mayReveal, newSession, reveal, withChallenge } from "../view.js";
import { soon } from "./drawing.js";

/** @import { GameEnded, Initial, NewMessage, Refusal, StateFrame } from "../arena.js" */
/** @import { Context, View } from "../app.js" */

/** @type {[string, string][]} */
const KEYS = [
  ["j k", "next and last message"],
  ["Space", "play or pause a replay"],
  ["← →", "a step back or forth in time"],
];

/** @param {Context} context @returns {View} */
export function open({ arena, params: { id }, query, now, changed, go }) {
  const element = give(/** @type {any} */ (document.createElement("session-page")), { now, extras: downloads(id) });
  const moved = (/** @type {URLSearchParams} */ query) => element.seek(readMoment(query.get("at")), query.get("line"));
  /** @type {(Initial | NewMessage | StateFrame | GameEnded)[]} */ const heard = [];
  let session = newSession(id);
  let isRevealing = false;
  /** @type {Awaited<ReturnType<typeof import("./race.js").raceOf>> | null} */ let race = null;
  let isOpen = true;

  const drawSoon = soon(() => {
    session = follow(session, heard.splice(0), now);
    element.show(session);
    race?.follow(session);
    if (mayReveal(session) && !isRevealing) openBars();
    changed();
  });

  /** The game is over: read the operator's channel again, as everybody may see it now. */
  async function openBars() {
    isRevealing = true;
    try {
      session = reveal(session, await arena.sync(operatorChannel(id)));
    } catch {
      return; // the bars stay; the next visit shows what is behind them
    }
    drawSoon();
  }

  /** A session of a pack has more to show. @param {string} type */
  async function furnish(type) {
    const { tags = [] } = await read(path`/metadata/${type}`);
    if (tags[0] !== "pack") return;
    const { raceOf } = await import("./race.js");
    const made = await raceOf(type, id, now);
    if (!isOpen) return made.stop();
    race = made;
    element.furnish(made.panel, made.box);
    race.follow(session);
  }

  /** @param {string} of @param {Initial | NewMessage | StateFrame | GameEnded} frame */
  function hear(of, frame) {
    if (of !== id) return;
    heard.push(frame);
    drawSoon();
  }

  const stops = [
    arena.on("challenge", (challenge) => {
      if (challenge.id !== id) return;
      if (!session.challenge) furnish(challenge.challengeType).catch(() => {}); // the game stands by itself
      session = withChallenge(session, challenge);
      drawSoon();
    }),
    arena.on("initial", (frame) => hear(sessionOf(frame.channel), frame)),
    arena.on("new_message", (frame) => hear(sessionOf(frame.message.channel), frame)),
    arena.on("state", (frame) => hear(frame.challengeId, frame)),
    arena.on("game_ended", (frame) => hear(frame.challengeId, frame)),
    arena.on("gone", ({ challengeId, error }) => {
      if (challengeId === id) element.fail(...wordsFor(error, session.challenge !== null));
    }),
  ];
  element.addEventListener("moment", (/** @type {CustomEvent<Moment>} */ { detail }) => go(addressOf(detail), "replace"));
  moved(query);
  arena.watch(id);
  return {
    element,
    keys: KEYS,
    moved,
    title: () => {
      const { challenge } = session;
      return challenge ? `${challenge.name}${challenge.state.status === "active" ? " · live" : ""} · Arena` : "Arena";
    },
    close: () => {
      isOpen = false;
      race?.stop();
      for (const stop of stops) stop();
      arena.unwatch(id);
    },
  };
}

/** @typedef {{offset: number | null, line: string | null}} Moment */

/** The address of a moment of the session that is shown. @param {Moment} moment */
function addressOf({ offset, line }) {
  if (line !== null) return `${location.pathname}?line=${encodeURIComponent(line)}`;
  return offset === null ? location.pathname : `${location.pathname}?at=${writeMoment(offset)}`;
}

/** What of a session can be taken home. @param {string} id */
function downloads(id) {
  const address = `/api/sessions/${encodeURIComponent(id)}/replay`;
  return [
    h("a", { href: `${address}.html`, download: true, title: "One file that plays without a server" }, "Download replay"),
    h("a", { href: `${address}.ndjson`, download: true, title: "The same as data, as arena export writes it" }, "ND-JSON"),
    h("a", { class: "record", href: `/api/sessions/${encodeURIComponent(id)}/record`, download: true, title: "Signed by this server; arena verify checks it" }, "Record"),
  ];
}

/** Why nothing can be shown. @param {Refusal} error @param {boolean} wasThere @returns {[string, string]} */
function wordsFor(error, wasThere) {
  if (error.code !== "NOT_FOUND") return ["This session cannot be shown", `${error.message} Nothing is lost on the server; try again later.`];
  if (wasThere) return ["The session was removed", "Its seats were not taken in time, so the server has put it away."];
  return ["No such session", "Nothing is kept under this address. A session that nobody joins is removed after a while."];
}
