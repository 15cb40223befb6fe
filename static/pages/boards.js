/** A leaderboard: which one, by what and in which order stands in the address. */

import { path, read } from "../api.js";
import { GLOBAL, PAGE, choiceOf, crossOf } from "../boards.js";
import "../elements/board-page.js";
import { soon } from "./drawing.js";
import { followBoard } from "./following.js";
import { wear } from "./styles.js";

/** @import { Refusal } from "../arena.js" */
/** @import { Context, View } from "../app.js" */
/** @import { Board, Choice, Head, Met, Row } from "../boards.js" */
/** @typedef {{row: Row, history: {at: number, gamesPlayed: number, metrics: Record<string, number>}[]}} Way of a player */
/**
 * @typedef {{type: string, names: Record<string, {name: string}>, heads: Head[], choice: Choice, board: Board,
 *   crossed: Board[], meetings: {players: string[], meetings: Met[]} | null, ways: Way[]}} Outlook all that is shown
 */

const CROSSED = 12; // players of the matrix
const FOLLOWED = 5; // players whose way is drawn
const PAUSE = 5_000; // milliseconds until what needs more questions is asked again

await wear("boards");

/** @param {Context} context @returns {View} */
export function open({ arena, params, query, changed, go }) {
  const { type } = params;
  const element = /** @type {any} */ (document.createElement("board-page"));
  /** @type {Partial<Outlook>} */ const outlook = { type };
  let stop = () => {};
  let isOpen = true;
  let asked = { around: "", at: 0 };

  const drawSoon = soon(() => {
    if (!isOpen || !outlook.choice) return;
    element.show(outlook);
    changed();
  });
  const fail = (/** @type {Refusal} */ error) => {
    if (!outlook.board) element.fail("This board cannot be shown", `${error.message} Nothing is lost on the server; try again later.`);
  };

  async function begin() {
    try {
      const [{ boards }, names] = await Promise.all([read("/leaderboards"), read("/metadata")]);
      if (!isOpen) return;
      Object.assign(outlook, { heads: boards, names });
    } catch (error) {
      return fail(/** @type {Refusal} */ (error));
    }
    choose(query);
  }

  /** @param {URLSearchParams} query */
  function choose(query) {
    const choice = choiceOf(outlook.heads ?? [], type, query);
    const first = outlook.heads?.[0];
    if (!choice && type === GLOBAL && first) return void go(`/boards/${encodeURIComponent(first.challengeType)}`, "replace");
    if (!choice) return element.fail("No such board", "No challenge of this name is counted here. Choose another board.");
    const before = outlook.choice;
    outlook.choice = choice;
    drawSoon();
    const isOther = !before || ["strategy", "metric", "offset", "isByOwner"].some((part) => before[/** @type {"strategy"} */ (part)] !== choice[/** @type {"strategy"} */ (part)]);
    if (!isOther) return;
    stop();
    if (before?.strategy !== choice.strategy) Object.assign(outlook, { board: undefined, crossed: [], meetings: null, ways: [] });
    const by = choice.isByOwner ? { by: "owner" } : {};
    stop = followBoard(arena, { type, strategy: choice.strategy, metric: choice.metric, offset: choice.offset, limit: PAGE, ...by }, hear, fail);
  }

  /** @param {Board} board */
  function hear(board) {
    outlook.board = board;
    drawSoon();
    const around = JSON.stringify([board.strategy, board.metric]);
    if (around === asked.around && Date.now() - asked.at < PAUSE) return;
    asked = { around, at: Date.now() };
    askAround(board).catch(() => {}); // the table stands by itself
  }

  /** What belongs to a board beside its lines. @param {Board} board */
  async function askAround(board) {
    const here = path`/leaderboards/${board.challengeType}/${board.strategy}`;
    const cross = crossOf(board);
    const leaders = board.offset ? [] : board.rows.slice(0, FOLLOWED);
    const [crossed, meetings, ...ways] = await Promise.all([
      Promise.all(cross ? [cross.x, cross.y].map(({ key }) => read(here, { metric: key, limit: PAGE })) : []),
      read(`${here}/head-to-head`, { limit: CROSSED }),
      ...leaders.map(({ playerId }) => read(here + path`/players/${playerId}`, { metric: board.metric })),
    ]);
    if (!isOpen || outlook.choice?.strategy !== board.strategy) return;
    Object.assign(outlook, { crossed, meetings, ways });
    drawSoon();
  }

  element.addEventListener("wish", (/** @type {CustomEvent<string>} */ { detail }) => go(detail));
  begin();
  return {
    element,
    title: () => `${outlook.names?.[type]?.name ?? "All challenges"} · Leaderboard · Arena`,
    moved: choose,
    close: () => {
      isOpen = false;
      stop();
    },
  };
}
