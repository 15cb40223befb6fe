/** A challenge: its words, its games, its board, and a form to create a session. */

import { path, post, read } from "../api.js";
import "../elements/challenge-page.js";
import { give } from "../elements/dom.js";
import { keep } from "../keep.js";
import { soon } from "./drawing.js";
import { followGames } from "./games.js";
import { wear } from "./styles.js";

/** @import { Refusal } from "../arena.js" */
/** @import { Context, View } from "../app.js" */
/**
 * @typedef {{name: string, description: string, players: number, prompt: string, options?: Record<string, any>,
 *   methods?: {name: string, description: string, arguments?: Record<string, any>}[], tags?: string[],
 *   authors?: {name?: string}[], utility?: [number, number], security?: [number, number]}} Words
 */

await Promise.all([wear("boards"), wear("challenge")]);

/** @param {Context} context @returns {View} */
export function open({ arena, params: { type }, now, changed }) {
  const element = give(/** @type {any} */ (document.createElement("challenge-page")), { now });
  /** @type {Words | null} */ let words = null;
  let isOpen = true;

  const drawSoon = soon(() => {
    if (!isOpen || !words) return;
    element.show(games.live(), games.ended(), games.board());
    changed();
  });
  const games = followGames(arena, type, drawSoon, "scorecard");

  async function begin() {
    try {
      words = await read(path`/metadata/${type}`);
    } catch (error) {
      return element.fail(...wordsFor(/** @type {Refusal} */ (error)));
    }
    if (!isOpen) return;
    element.introduce(type, words);
    changed();
    await games.ask();
  }

  element.addEventListener("create", async (/** @type {CustomEvent<{options: object, private: boolean}>} */ { detail }) => {
    try {
      const made = await post(path`/challenges/${type}`, detail);
      await keep("sessions", { id: made.id, invites: made.invites, at: Date.now() }).catch(() => {}); // for the waiting room
      element.form.made(made);
    } catch (error) {
      element.form.refuse(/** @type {Refusal} */ (error).message);
    }
  });
  begin().catch(() => {}); // its words stand by themselves
  return {
    element,
    title: () => (words ? `${words.name} · Arena` : "Arena"),
    close: () => {
      isOpen = false;
      games.stop();
    },
  };
}

/** Why nothing can be shown. @param {Refusal} error @returns {[string, string]} */
function wordsFor(error) {
  if (error.code === "NOT_FOUND") return ["No such challenge", "This server offers nothing under this name."];
  return ["This challenge cannot be shown", `${error.message} Try again later.`];
}
