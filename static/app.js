/** The page: one connection, what was heard on it, and the view that the address asks for. */

import { Arena, operatorChannel, sessionOf } from "./arena.js";
import { give } from "./elements/dom.js";
import { GLOBAL } from "./elements/home-page.js";
import "./elements/link-notice.js";
import "./elements/player-mark.js";
import "./elements/session-page.js";
import { doubt, enter, follow, hearOf, mayReveal, newSession, newWall, reveal, withChallenge } from "./view.js";

/** @import { Board, Challenge, GameEnded, Initial, NewMessage, StateFrame } from "./arena.js" */
/** @import { Session, Wall } from "./view.js" */

const PAUSE = 40; // milliseconds in which what was heard is gathered before it is drawn; runs in hidden tabs too

const arena = new Arena(Object.assign(new URL("/ws", location.href), { protocol: location.protocol.replace("http", "ws") }).href);
const now = () => arena.now();
const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const notice = /** @type {any} */ (document.querySelector("link-notice"));
const home = give(/** @type {any} */ (document.createElement("home-page")), { now });

/** @type {Wall | null} */ let wall = null;
/** @type {Map<string, Board>} */ const boards = new Map();
let chosen = GLOBAL;
/** @type {{session: Session, page: any, heard: (Initial | NewMessage | StateFrame | GameEnded)[], isRevealing: boolean} | null} */
let watched = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */ let drawing;

function drawSoon() {
  drawing ??= setTimeout(draw, PAUSE);
}

function draw() {
  drawing = undefined;
  if (watched) drawSession(watched);
  else home.show(wall, boards, chosen);
  document.title = titleOf();
}

function titleOf() {
  const challenge = watched?.session.challenge;
  if (watched) return challenge ? `${challenge.name}${challenge.state.status === "active" ? " · live" : ""} · Arena` : "Arena";
  return wall?.live.size ? `${wall.live.size} live · Arena` : "Arena";
}

function drawSession(/** @type {NonNullable<typeof watched>} */ view) {
  view.session = follow(view.session, view.heard.splice(0));
  view.page.show(view.session);
  if (mayReveal(view.session) && !view.isRevealing) openBars(view);
}

/** The game is over: read the operator's channel again, as everybody may see it now. */
async function openBars(/** @type {NonNullable<typeof watched>} */ view) {
  view.isRevealing = true;
  try {
    view.session = reveal(view.session, await arena.sync(operatorChannel(view.session.id)));
  } catch {
    return; // the bars stay; the next visit shows what is behind them
  }
  drawSoon();
}

// Where we are

function route() {
  const [, session] = /^#\/session\/([^/]+)$/.exec(location.hash) ?? [];
  if (location.hash && !location.hash.startsWith("#/")) return;
  if (watched) arena.unwatch(watched.session.id);
  watched = null;
  document.body.dataset.view = session === undefined ? "home" : "session";
  if (session === undefined) main.replaceChildren(home);
  else visit(decode(session));
  draw();
}

function visit(/** @type {string} */ id) {
  const page = give(/** @type {any} */ (document.createElement("session-page")), { now });
  watched = { session: newSession(id), page, heard: [], isRevealing: false };
  main.replaceChildren(page);
  arena.watch(id);
}

/** An address may hold anything. @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// What we hear

arena.on("status", (status) => {
  notice.status = status;
  if (status.status === "waiting" && wall) wall = doubt(wall);
});
arena.on("lobby", (lobby) => {
  wall = enter(wall ?? newWall(), lobby);
  drawSoon();
});
arena.on("session", (frame) => {
  wall = hearOf(wall ?? newWall(), frame);
  drawSoon();
});
arena.on("leaderboard", (board) => {
  boards.set(board.challengeType, board);
  drawSoon();
});
arena.on("challenge", (challenge) => {
  if (watched?.session.id !== challenge.id) return;
  watched.session = withChallenge(watched.session, challenge);
  drawSoon();
});
arena.on("initial", (frame) => hear(sessionOf(frame.channel), frame));
arena.on("new_message", (frame) => hear(sessionOf(frame.message.channel), frame));
arena.on("state", (frame) => hear(frame.challengeId, frame));
arena.on("game_ended", (frame) => hear(frame.challengeId, frame));
arena.on("gone", ({ challengeId, error }) => {
  if (watched?.session.id !== challengeId) return;
  const isUnknown = error.code === "NOT_FOUND" && !watched.session.challenge;
  if (isUnknown) watched.page.fail("No such session", "Nothing is kept under this address. A session that nobody joins is removed after a while.");
  else if (error.code === "NOT_FOUND") watched.page.fail("The session was removed", "Its seats were not taken in time, so the server has put it away.");
  else watched.page.fail("This session cannot be shown", `${error.message} Nothing is lost on the server; try again later.`);
});

/** @param {string} id @param {Initial | NewMessage | StateFrame | GameEnded} frame */
function hear(id, frame) {
  if (watched?.session.id !== id) return;
  watched.heard.push(frame);
  drawSoon();
}

// What the reader wants

home.addEventListener("board", (/** @type {CustomEvent<string>} */ { detail }) => {
  chosen = detail;
  arena.leaderboard(detail === GLOBAL ? undefined : detail);
  drawSoon();
});
notice.addEventListener("retry", () => arena.retry());
window.addEventListener("online", () => arena.retry());
window.addEventListener("hashchange", () => {
  route();
  main.querySelector("h1")?.focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault(); // the address is for our views
  main.focus();
});

notice.status = arena.status;
arena.lobby();
arena.leaderboard();
route();
