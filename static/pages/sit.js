/** A seat for somebody who does not compete, by an invite that stands behind the # of the address. */

import { path, read } from "../api.js";
import { newKey, operatorChannel } from "../arena.js";
import { give } from "../elements/dom.js";
import "../elements/sit-page.js";
import { proofOf } from "../proof.js";
import { asked } from "../sitting.js";
import { follow, newSession } from "../view.js";
import { soon } from "./drawing.js";
import { wear } from "./styles.js";

/** @import { Challenge, Refusal } from "../arena.js" */
/** @import { Context, View } from "../app.js" */
/** @import { Question, Turn } from "../sitting.js" */
/** @typedef {{id: string, key: string, name: string, role: string, answered: string[]}} Kept what this browser knows of a seat */

const CLOSED = new Set(["ANSWERED", "NOT_YOUR_TURN", "NO_SUCH_QUESTION", "GAME_NOT_RUNNING"]); // what is asked no longer

await Promise.all([wear("challenge"), wear("packs")]);

/** @param {Context} context @returns {View} */
export function open({ arena, now, changed }) {
  const element = give(/** @type {any} */ (document.createElement("sit-page")), { now });
  const place = location.hash;
  const invite = inviteIn(place);
  const memory = `arena.seat.${invite}`;
  let kept = recall(memory);
  let session = newSession(kept?.id ?? "");
  let isOver = false;
  let isOpen = true;

  const fail = (/** @type {string} */ title, /** @type {string} */ sentence) => isOpen && element.fail(title, sentence);
  const drawSoon = soon(() => {
    if (!isOpen || !kept) return;
    if (isOver) element.over(kept.name, kept.id);
    else element.show(kept.name, kept.role, kept.id, asked(session.operator, invite, kept.answered));
    changed();
  });

  async function begin() {
    if (!invite) return fail("No invite", "The link to a seat ends with # and an invite code.");
    if (kept) return resume();
    try {
      const challenge = await read(path`/invites/${invite}`);
      const role = challenge.roles?.[invite] ?? "player";
      if (role === "player") return fail("This is a player's seat", "Agents and people play with this invite at /play, over WebSocket, REST or MCP.");
      element.offer(challenge, role);
      element.addEventListener("sit", () => sit(challenge, role).catch((/** @type {Refusal} */ error) => element.refuse("", error.message)));
    } catch (error) {
      const { code, message } = /** @type {Refusal} */ (error);
      if (code === "INVITE_ALREADY_USED" || code === "409") return fail("This seat is taken", "Whoever took it first has it. If it was you, go back to the browser that you used.");
      fail("No such invite", code === "NOT_FOUND" || code === "INVITE_NOT_FOUND" ? "No session waits for it any more." : `${message} Try again later.`);
    }
  }

  /** Take the seat. @param {Challenge} challenge @param {string} role */
  async function sit(challenge, role) {
    const seat = await arena.call("join", { invite, key: newKey(), ...(await proofOf(arena, `join:${invite}`)) });
    keep({ id: seat.ChallengeID, key: seat.sessionKey, name: challenge.name, role, answered: [] });
    resume();
  }

  /** Be at the seat that this browser has. */
  function resume() {
    if (!kept) return;
    session = newSession(kept.id);
    drawSoon();
    Promise.resolve(arena.resume(kept.id, kept.key)).catch((/** @type {Refusal} */ error) => fail("Your seat is gone", `${error.message} The session may have been removed.`));
  }

  /** @param {Question | Turn} ask @param {unknown} said */
  async function answer(ask, said) {
    if (!kept) return;
    const [verb, content] = ask.kind === "turn" ? ["say", { run: ask.run, content: said }] : ["verdict", { id: ask.id, answer: said }];
    try {
      await arena.act(kept.id, verb, JSON.stringify(content));
    } catch (error) {
      const { code, message } = /** @type {Refusal} */ (error);
      if (!CLOSED.has(code)) return element.refuse(ask.key, message);
    }
    keep({ ...kept, answered: [...kept.answered, ask.key] });
    drawSoon();
  }

  /** @param {Kept} now */
  function keep(now) {
    kept = now;
    try {
      localStorage.setItem(memory, JSON.stringify(now));
    } catch {
      // a browser that keeps nothing has the seat as long as the page is open
    }
  }

  const hear = (/** @type {any} */ frame) => {
    const channel = frame.channel ?? frame.message?.channel;
    if (!kept || channel !== operatorChannel(kept.id)) return;
    session = follow(session, [frame], now);
    drawSoon();
  };
  const stops = [
    arena.on("initial", hear),
    arena.on("new_message", hear),
    arena.on("game_ended", ({ challengeId }) => {
      if (challengeId !== kept?.id) return;
      isOver = true;
      drawSoon();
    }),
  ];
  element.addEventListener("answer", (/** @type {CustomEvent<{ask: Question | Turn, said: unknown}>} */ { detail: { ask, said } }) => answer(ask, said));
  begin();
  return {
    element,
    title: () => (kept ? `${kept.name} · Your seat · Arena` : "Your seat · Arena"),
    moved: () => {
      if (location.hash !== place) location.reload(); // another seat
    },
    close: () => {
      isOpen = false;
      for (const stop of stops) stop();
    },
  };
}

/** The invite behind the # of an address, which may hold anything. @param {string} hash */
function inviteIn(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return hash.slice(1);
  }
}

/** @param {string} name @returns {Kept | null} */
function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}
