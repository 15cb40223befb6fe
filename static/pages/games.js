/** The games of one challenge: those that are on, those that have ended, and its board. */

import { path, read } from "../api.js";
import { cards, hearOf, newWall, recall, results } from "../wall.js";
import { followBoard } from "./following.js";
import { followWall, wallNow } from "./lobby.js";

/** @import { Arena } from "../arena.js" */
/** @import { Board, Head } from "../boards.js" */

const LEADERS = 10;
const RECENT = 10;

/**
 * Follow the games of a type; `changed` is called whenever there is something new. Games are heard of at once, `ask` for
 * those that have ended and for the board.
 * @param {Arena} arena @param {string} type @param {() => void} changed @param {string} [strategy] of the board, if there is one
 */
export function followGames(arena, type, changed, strategy) {
  /** @type {Board | null} */ let board = null;
  let ended = newWall(); // the wall of all challenges may have forgotten games of ours
  let isOver = false;
  let stopBoard = () => {};
  const stopWall = followWall(arena, (frame) => {
    if (frame?.event === "ended" && frame.challenge.challengeType === type) ended = hearOf(ended, [frame]);
    changed();
  });

  async function ask() {
    const [found, page] = await Promise.all([read("/leaderboards"), read(path`/challenges/${type}`, { status: "ended", limit: RECENT })]);
    if (isOver) return;
    ended = recall(ended, page);
    const heads = found.boards.filter((/** @type {Head} */ { challengeType }) => challengeType === type);
    const head = heads.find((/** @type {Head} */ head) => head.strategy === strategy) ?? heads[0];
    if (head) {
      stopBoard = followBoard(arena, { type, strategy: head.strategy, limit: LEADERS }, (told) => {
        board = told;
        changed();
      });
    }
    changed();
  }

  return {
    ask,
    live: () => cards(wallNow() ?? newWall(), { challenge: type }),
    ended: () => results(ended),
    board: () => board,
    stop: () => {
      isOver = true;
      stopBoard();
      stopWall();
    },
  };
}
