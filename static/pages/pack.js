/** A pack: what it asks for, how answers are scored, its versions, games and board. */

import { path, read } from "../api.js";
import { give } from "../elements/dom.js";
import "../elements/pack-page.js";
import { soon } from "./drawing.js";
import { followGames } from "./games.js";
import { wear } from "./styles.js";

/** @import { Refusal } from "../arena.js" */
/** @import { Context, View } from "../app.js" */
/** @import { Head, Manifest, Release } from "../packs.js" */

await Promise.all([wear("boards"), wear("challenge"), wear("packs")]);

/** @param {Context} context @returns {View} */
export function open({ arena, params: { slug }, query, now, changed }) {
  const element = give(/** @type {any} */ (document.createElement("pack-page")), { now });
  /** @type {(Head & {versions: Release[]}) | null} */ let pack = null;
  let wanted = query.get("version");
  let isOpen = true;

  const drawSoon = soon(() => {
    if (isOpen && pack) element.show(games.live(), games.ended(), games.board());
  });
  const games = followGames(arena, slug, drawSoon, "scorecard");
  const fail = (/** @type {Refusal} */ error) => isOpen && element.fail(...wordsFor(error));

  async function begin() {
    pack = await read(path`/packs/${slug}`);
    if (!isOpen || !pack) return;
    changed();
    await choose();
    drawSoon();
    await games.ask().catch(() => {}); // what the pack says stands by itself
  }

  /** Show the version that the address asks for. */
  async function choose() {
    const number = wanted ?? String(pack?.latest);
    const { manifest } = await read(path`/packs/${slug}/versions/${number}`, { public: "true" });
    if (isOpen && number === (wanted ?? String(pack?.latest))) element.introduce(pack, Number(number), manifest);
  }

  begin().catch(fail);
  return {
    element,
    title: () => (pack ? `${pack.name} · Pack · Arena` : "Arena"),
    moved: (query) => {
      wanted = query.get("version");
      choose().then(drawSoon).catch(fail);
    },
    close: () => {
      isOpen = false;
      games.stop();
    },
  };
}

/** Why nothing can be shown. @param {Refusal} error @returns {[string, string]} */
function wordsFor(error) {
  if (error.code === "NOT_FOUND") return ["No such pack", "Nothing of this name has been published here, or not in this version."];
  return ["This pack cannot be shown", `${error.message} Try again later.`];
}
