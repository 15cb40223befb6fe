/** The lobby, followed from the first page that asks for it; what was heard is kept while the reader is elsewhere. */

import { doubt, enter, hearOf, newWall, recall } from "../wall.js";

/** @import { Arena, Challenge, Profile, SessionFrame } from "../arena.js" */
/** @import { Wall } from "../wall.js" */

const MOST = 1_000; // frames that wait until somebody looks

/** @type {Wall | null} null before the lobby has answered */ let wall = null;
/** @type {SessionFrame[]} */ const news = [];
/** @type {Set<(frame: SessionFrame | null) => void>} */ const readers = new Set();
let isFollowing = false;

/** The wall as it is now; news are taken in when somebody looks. */
export function wallNow() {
  if (news.length && wall) wall = hearOf(wall, news.splice(0));
  return wall;
}

/** Put on the wall what was learned elsewhere. @param {{challenges: Challenge[], profiles: Record<string, Profile>}} page */
export function remember(page) {
  wall = recall(wallNow() ?? newWall(), page);
  tell(null);
}

/** Be told that the wall has changed, and by what; the answer stops it. @param {Arena} arena @param {(frame: SessionFrame | null) => void} reader */
export function followWall(arena, reader) {
  readers.add(reader);
  if (!isFollowing) follow(arena);
  return () => void readers.delete(reader);
}

/** @param {SessionFrame | null} frame */
function tell(frame) {
  for (const reader of [...readers]) reader(frame);
}

/** @param {Arena} arena */
function follow(arena) {
  isFollowing = true;
  arena.on("status", ({ status }) => {
    if (status === "waiting" && wall) wall = doubt(wall);
  });
  arena.on("lobby", (lobby) => {
    wall = enter(wallNow() ?? newWall(), lobby);
    tell(null);
  });
  arena.on("session", (frame) => {
    news.push(frame);
    wall ??= newWall();
    if (news.length >= MOST) wallNow();
    tell(frame);
  });
  arena.lobby();
}
