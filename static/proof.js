/** Who the reader is, where an arena wants signatures: a key pair that this browser makes once and keeps. */

import { Identity } from "./arena.js";
import { keep, recall } from "./keep.js";

/** @import { Arena } from "./arena.js" */

export const ME = "me"; // the name of the pair among all that is kept

/** What proves who asks for something; nothing where names are enough. @param {Arena} arena @param {string} purpose */
export async function proofOf(arena, purpose) {
  await arena.online();
  if (arena.auth !== "required") return {};
  const kept = await recall("keys", ME);
  const me = kept ? await Identity.of(kept.pair) : await Identity.make();
  if (!kept) await keep("keys", { id: ME, pair: me.pair });
  return me.sign(purpose, arena.now());
}
