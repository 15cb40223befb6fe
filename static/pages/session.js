/** One session, live or after its end. */

import { path, read } from "../api.js";
import { give, h } from "../elements/dom.js";
import "../elements/session-page.js";
import { readMoment, writeMoment } from "../replay.js";
import { newSession } from "../view.js";
import { hearSession } from "./hearing.js";

/** @import { Refusal } from "../arena.js" */
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
  let session = newSession(id);
  /** @type {Awaited<ReturnType<typeof import("./race.js").raceOf>> | null} */ let race = null;
  let isOpen = true;

  /** A session of a pack has more to show. @param {string} type */
  async function furnish(type) {
    const { tags = [] } = await read(path`/metadata/${type}`);
    if (tags[0] !== "pack") return;
    const { raceOf } = await import("./race.js");
    const made = await raceOf(arena, type, id, now);
    if (!isOpen) return made.stop();
    race = made;
    element.furnish(made.panel, made.box);
    race.follow(session);
  }

  const hearing = hearSession(arena, id, {
    draw: (heard) => {
      session = heard;
      element.show(session);
      race?.follow(session);
      changed();
    },
    gone: (error, { challenge }) => element.fail(...wordsFor(error, challenge !== null)),
  });
  const stop = arena.on("challenge", (challenge) => {
    if (challenge.id !== id) return;
    if (!session.challenge) furnish(challenge.challengeType).catch(() => {}); // the game stands by itself
    hearing.meet(challenge);
  });
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
      stop();
      hearing.stop();
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
