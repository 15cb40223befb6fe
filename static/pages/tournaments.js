/** All tournaments of this server. */

import { read } from "../api.js";
import "../elements/tournament-list.js";
import { wear } from "./styles.js";

/** @import { Refusal } from "../arena.js" */
/** @import { Context, View } from "../app.js" */

const PAUSE = 3_000; // milliseconds between looks

await wear("tournaments");

/** @param {Context} context @returns {View} */
export function open({ changed }) {
  const element = /** @type {any} */ (document.createElement("tournament-list"));
  let isOpen = true;
  let isShown = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let waiting;

  async function look() {
    try {
      const { tournaments } = await read("/tournaments", { limit: 100 });
      if (!isOpen) return;
      element.show(tournaments);
      isShown = true;
      changed();
    } catch (error) {
      if (isOpen && !isShown) element.fail(/** @type {Refusal} */ (error).message);
    }
    if (isOpen) waiting = setTimeout(look, PAUSE);
  }

  look();
  return {
    element,
    title: () => "Tournaments · Arena",
    close: () => {
      isOpen = false;
      clearTimeout(waiting);
    },
  };
}
