/** What a session of a pack has beside that of any game: progress, votes, and scorecards in the end. */

import { path, post, read } from "../api.js";
import { operatorChannel } from "../arena.js";
import { toldBy } from "../calls.js";
import "../elements/ballot-box.js";
import { give } from "../elements/dom.js";
import "../elements/race-panel.js";
import { proofOf } from "../proof.js";
import { wear } from "./styles.js";

/** @import { Arena, Message, Refusal } from "../arena.js" */
/** @import { Session } from "../view.js" */
/** @import { Ballot } from "../elements/ballot-box.js" */

const PAUSE = 1_000; // milliseconds between two looks at how far the runs are
const PATIENCE = 5_000; // and before another one if the last has failed

/**
 * The parts of a pack's session, and a function that has them follow what is known of it.
 * @param {Arena} arena @param {string} type @param {string} id @param {() => number} now
 */
export async function raceOf(arena, type, id, now) {
  await wear("packs");
  const panel = /** @type {any} */ (document.createElement("race-panel"));
  const box = give(/** @type {any} */ (document.createElement("ballot-box")), { now });
  const memory = `arena.votes.${id}`;
  /** @type {Record<string, string>} */ let voted = recall(memory);
  /** @type {Session | null} */ let session = null;
  let looked = { at: 0, count: -1, status: "" };
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let waiting;

  /** Read how far the runs are, unless nothing has happened since. */
  async function look() {
    waiting = undefined;
    if (!session?.challenge) return;
    const { status } = session.challenge.state;
    const isOver = status === "ended";
    looked = { at: Date.now(), count: session.operator.length, status };
    const { runs } = await read(path`/challenges/${type}/${id}/runs`);
    panel.show(runs, isOver ? `/session/${encodeURIComponent(id)}/scorecards` : null);
  }

  const later = () => void (waiting ??= setTimeout(() => look().catch(later), PATIENCE)); // the server may be away, or busy
  const lookSoon = () => {
    waiting ??= setTimeout(() => look().catch(later), Math.max(0, looked.at + PAUSE - Date.now()));
  };

  function drawBallots() {
    const isOn = session?.challenge?.state.status === "active";
    box.show(isOn && session ? ballotsOf(session).filter(({ until }) => until > now()) : [], voted);
  }

  box.addEventListener("vote", async (/** @type {CustomEvent<{ballot: string, choice: string}>} */ { detail }) => {
    try {
      const proof = await proofOf(arena, `vote:${id}:${detail.ballot}:${detail.choice}`);
      await post(path`/challenges/${type}/${id}/votes`, { ...detail, ...proof });
    } catch (error) {
      const { code, message } = /** @type {Refusal} */ (error);
      if (code !== "VOTED") return box.refuse(message);
    }
    voted = { ...voted, [detail.ballot]: detail.choice };
    keep(memory, voted);
    drawBallots();
  });
  const ticking = setInterval(drawBallots, PAUSE);

  return {
    panel,
    box,
    /** @param {Session} known */
    follow(known) {
      session = known;
      drawBallots();
      if (known.operator.length !== looked.count || known.challenge?.state.status !== looked.status) lookSoon();
    },
    stop() {
      clearTimeout(waiting);
      clearInterval(ticking);
    },
  };
}

/** @type {WeakMap<Message, Ballot | null>} messages that were read before */ const found = new WeakMap();

/** The pairs that the operator has put to the vote. @param {Session} session @returns {Ballot[]} */
export function ballotsOf({ id, operator }) {
  return operator.flatMap((message) => {
    if (message.from !== "operator" || message.to || message.channel !== operatorChannel(id)) return [];
    const ballot = found.has(message) ? found.get(message) : ballotIn(message);
    found.set(message, ballot ?? null);
    return ballot ? [ballot] : [];
  });
}

/** @param {Message} message @returns {Ballot | null} */
function ballotIn({ content, timestamp }) {
  const told = toldBy(content);
  if (told?.type !== "ballot") return null;
  return { ballot: String(told.ballot), case: String(told.case), A: told.A, B: told.B, until: timestamp + 1_000 * Number(told.seconds) };
}

/** @param {string} name @returns {Record<string, string>} */
function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "{}");
  } catch {
    return {};
  }
}

/** @param {string} name @param {object} value */
function keep(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing; the server still counts one vote for each voter and pair
  }
}
