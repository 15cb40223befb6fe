/** The packs of this server. */

import { read } from "../api.js";
import "../elements/packs-page.js";
import { wear } from "./styles.js";

/** @import { Refusal } from "../arena.js" */
/** @import { View } from "../app.js" */
/** @import { Head } from "../packs.js" */

const PAGE = 100; // packs that are asked for at a time

await wear("packs");

/** @returns {View} */
export function open() {
  const element = /** @type {any} */ (document.createElement("packs-page"));
  let isOpen = true;

  async function begin() {
    /** @type {Head[]} */ const packs = [];
    for (let total = 1; packs.length < total; ) {
      const page = await read("/packs", { limit: PAGE, offset: packs.length });
      packs.push(...page.packs);
      total = page.packs.length ? page.total : 0;
    }
    if (isOpen) element.show(packs);
  }

  begin().catch((/** @type {Refusal} */ error) => isOpen && element.fail("The packs cannot be shown", `${error.message} Try again later.`));
  return { element, title: () => "Packs · Arena", close: () => void (isOpen = false) };
}
