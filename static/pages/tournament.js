/** One tournament, followed until it is over. */

import { path, read } from "../api.js";
import "../elements/tournament-page.js";
import { wear } from "./styles.js";

/** @import { Refusal } from "../arena.js" */
/** @import { Context, View } from "../app.js" */

const PAUSE = 1_000; // milliseconds between looks while it is played
const REST = 10_000; // while it is not, but may go on
const PAGE = 100; // games that are read at a time

await Promise.all([wear("boards"), wear("tournaments")]);

/** @param {Context} context @returns {View} */
export function open({ params: { id }, changed }) {
  const element = /** @type {any} */ (document.createElement("tournament-page"));
  let isOpen = true;
  let title = "Tournament";
  let over = -1; // games whose outcome is shown
  /** @type {any[]} */ let games = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let waiting;

  async function look() {
    try {
      const told = await read(path`/tournaments/${id}`);
      const { played } = told.games;
      if (played + told.games.void !== over) {
        const { total } = await read(path`/tournaments/${id}/games`, { limit: 1 });
        games = (await read(path`/tournaments/${id}/games`, { limit: PAGE, offset: Math.max(0, total - PAGE) })).games;
        over = played + told.games.void;
      }
      if (!isOpen) return;
      element.show(told, games);
      title = `${told.challenge}, ${told.format}`;
      changed();
      if (told.phase !== "finished") waiting = setTimeout(look, told.phase === "running" ? PAUSE : REST);
    } catch (error) {
      if (!isOpen) return;
      if (over < 0) element.fail("This tournament cannot be shown", `${/** @type {Refusal} */ (error).message} Nothing is lost on the server; try again later.`);
      else waiting = setTimeout(look, REST);
    }
  }

  look();
  return {
    element,
    title: () => `${title} · Tournament · Arena`,
    close: () => {
      isOpen = false;
      clearTimeout(waiting);
    },
  };
}
