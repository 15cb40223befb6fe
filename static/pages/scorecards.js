/** The scorecards of a session, seats side by side. */

import { path, read } from "../api.js";
import "../elements/scorecard-page.js";
import { seatsOf } from "../view.js";
import { wear } from "./styles.js";

/** @import { Challenge, Profile, Refusal } from "../arena.js" */
/** @import { Context, View } from "../app.js" */

await wear("packs");

/** @param {Context} context @returns {View} */
export function open({ arena, params: { id }, changed }) {
  const element = /** @type {any} */ (document.createElement("scorecard-page"));
  /** @type {Challenge | null} */ let challenge = null;
  let isOpen = true;
  let isAsked = false;

  const fail = (/** @type {Refusal} */ error) => isOpen && element.fail(...wordsFor(error));

  /** @param {Challenge} found */
  async function meet(found) {
    challenge = found;
    changed();
    if (found.state.status !== "ended") return element.wait(found);
    if (isAsked) return;
    isAsked = true;
    const users = Object.values(found.state.playerIdentities);
    const [cards, profiles] = await Promise.all([read(address(found)), users.length ? read("/users/batch", { ids: users.join() }) : {}]);
    if (isOpen) element.show(found, seatsOf(found, /** @type {Record<string, Profile>} */ (profiles), []), cards.seats);
  }

  /** Those who keep the packs may see everything. */
  async function lookCloser() {
    if (!challenge) return;
    try {
      const { seats } = await read(address(challenge), { whole: "true" });
      if (isOpen) element.reveal(seats);
    } catch (error) {
      if (isOpen) element.refuse(/** @type {Refusal} */ (error).message);
    }
  }

  const stops = [
    arena.on("challenge", (found) => found.id === id && meet(found).catch(fail)),
    arena.on("game_ended", ({ challengeId, data: { profiles: _, course: __, ...state } }) => {
      if (challengeId === id && challenge) meet({ ...challenge, state }).catch(fail);
    }),
    arena.on("gone", ({ challengeId, error }) => challengeId === id && fail(error)),
  ];
  element.addEventListener("closer", lookCloser);
  arena.watch(id);
  return {
    element,
    title: () => (challenge ? `Scorecards · ${challenge.name} · Arena` : "Arena"),
    close: () => {
      isOpen = false;
      for (const stop of stops) stop();
      arena.unwatch(id);
    },
  };
}

/** @param {Challenge} challenge */
const address = ({ challengeType, id }) => path`/challenges/${challengeType}/${id}/scorecards`;

/** Why nothing can be shown. @param {Refusal} error @returns {[string, string]} */
function wordsFor(error) {
  if (error.code === "NOT_FOUND") return ["No scorecards", "There is no session of a pack under this address."];
  return ["The scorecards cannot be shown", `${error.message} Nothing is lost on the server; try again later.`];
}
