/** A board that is looked at again whenever it has moved. */

import { path, read } from "../api.js";
import { GLOBAL } from "../boards.js";

/** @import { Arena, Refusal } from "../arena.js" */
/** @import { Board } from "../boards.js" */
/** @typedef {{type: string, strategy: string, metric?: string, offset?: number, limit?: number, by?: string}} Wish */

const PATIENCE = 10_000; // milliseconds between two looks at a board that does not say when it moves

/**
 * Tell of a board now and after every change; the answer stops it.
 * @param {Arena} arena @param {Wish} wish @param {(board: Board) => void} tell @param {(error: Refusal) => void} [fail]
 */
export function followBoard(arena, { type, strategy, ...query }, tell, fail = () => {}) {
  const named = type === GLOBAL ? undefined : type;
  /** @type {ReturnType<typeof setInterval> | undefined} */ let timer;
  let isOver = false;
  let isReading = false;
  let isStale = false;

  async function look() {
    if (isReading) return void (isStale = true);
    isReading = true;
    const told = read(path`/leaderboards/${type}/${strategy}`, query);
    await told.then((board) => isOver || tell(board), (error) => isOver || fail(error));
    isReading = false;
    if (!isStale || isOver) return;
    isStale = false;
    look();
  }

  const stop = arena.on("leaderboard", (moved) => {
    if (moved.challengeType === type && moved.strategy === strategy) look();
  });
  arena.leaderboard(named, strategy).catch(() => {
    if (!isOver) timer = setInterval(look, PATIENCE);
  });
  look();
  return () => {
    isOver = true;
    stop();
    clearInterval(timer);
    arena.leaveLeaderboard(named, strategy);
  };
}
