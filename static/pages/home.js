/** Home: what is being played, who leads, what has ended. What was heard is kept while the reader is elsewhere. */

import { read } from "../api.js";
import { GLOBAL } from "../boards.js";
import { give } from "../elements/dom.js";
import "../elements/home-page.js";
import { soon } from "./drawing.js";
import { followBoard } from "./following.js";
import { followWall, remember, wallNow } from "./lobby.js";

/** @import { Context, View } from "../app.js" */
/** @import { Board, Head } from "../boards.js" */
/** @import { Wall } from "../wall.js" */
/** @typedef {{name: string, description: string, players: number}} Words of a challenge */
/**
 * @typedef {{wall: Wall | null, challenges: Record<string, Words>, heads: Head[], board: Board | null, chosen: string,
 *   stats: {participants: number, gamesPlayed: number} | null}} Scene what is known of the arena; the wall is null before
 *   the lobby has answered
 */

const PAUSE = 100; // milliseconds between two drawings: nobody reads 200 games faster
const LEADERS = 10;
const RECENT = 20; // finished games that are asked for

/** @type {Scene} */
const scene = { wall: null, challenges: {}, heads: [], board: null, chosen: GLOBAL, stats: null };
/** @type {() => void} */ let drawSoon = () => {};

/** @param {Context} context @returns {View} */
export function open({ arena, query, now, changed, go }) {
  const element = give(/** @type {any} */ (document.createElement("home-page")), { now });
  let isOpen = true;
  let stopBoard = () => {};
  let wish = wishOf(query);
  const draw = () => {
    if (!isOpen) return;
    scene.wall = wallNow();
    element.show(scene, wish);
    changed();
  };
  drawSoon = soon(draw, PAUSE);
  const followChosen = () => {
    const head = scene.heads.find(({ challengeType }) => challengeType === scene.chosen) ?? scene.heads[0];
    stopBoard();
    if (!head || !isOpen) return;
    scene.chosen = head.challengeType;
    stopBoard = followBoard(arena, { type: head.challengeType, strategy: head.strategy, limit: LEADERS }, (board) => {
      scene.board = board;
      drawSoon();
    });
  };

  element.addEventListener("board", (/** @type {CustomEvent<string>} */ { detail }) => {
    [scene.chosen, scene.board] = [detail, null];
    followChosen();
    drawSoon();
  });
  element.addEventListener("wish", (/** @type {CustomEvent<Record<string, string>>} */ { detail }) => {
    const words = new URLSearchParams(Object.entries(detail).filter(([, value]) => value));
    go(words.size ? `/?${words}` : "/", "replace");
  });
  const stopWall = followWall(arena, (frame) => {
    drawSoon();
    if (frame?.event !== "ended") return;
    count().catch(() => {}); // the numbers stay as they were
    introduce(Object.values(frame.challenge.state.playerIdentities)).catch(() => {}); // ids do as well
  });
  learn().then(followChosen);
  draw();
  return {
    element,
    title: () => (scene.wall?.live.size ? `${scene.wall.live.size} live · Arena` : "Arena"),
    moved: (query) => {
      wish = wishOf(query);
      draw();
    },
    close: () => {
      isOpen = false;
      stopBoard();
      stopWall();
    },
  };
}

/** What the reader wants to see. @param {URLSearchParams} query */
function wishOf(query) {
  return { challenge: query.get("challenge") ?? "", status: query.get("status") ?? "", words: query.get("words") ?? "" };
}

/** Ask for what the lobby does not tell. What cannot be had now is left out; the connection's notice says why. */
async function learn() {
  const [challenges, heads, ended] = await Promise.allSettled([read("/metadata"), read("/leaderboards"), read("/challenges", { status: "ended", limit: RECENT }), count()]);
  if (challenges.status === "fulfilled") scene.challenges = challenges.value;
  if (heads.status === "fulfilled") scene.heads = heads.value.boards;
  if (ended.status === "fulfilled") remember(ended.value);
  drawSoon();
}

/** How much has been played. */
async function count() {
  scene.stats = (await read("/stats")).global;
  drawSoon();
}

/** How those are called who have just played. @param {string[]} users */
async function introduce(users) {
  const unknown = users.filter((user) => !scene.wall?.profiles[user]);
  if (unknown.length === 0) return;
  const profiles = await read("/users/batch", { ids: unknown.join() });
  remember({ challenges: [], profiles });
}
