/** One session as it is heard, by a spectator or from a seat: what the frames add up to, drawn soon after each. */

import { operatorChannel, sessionOf } from "../arena.js";
import { follow, mayReveal, newSession, reveal, withChallenge } from "../view.js";
import { soon } from "./drawing.js";

/** @import { Arena, Challenge, GameEnded, Initial, NewMessage, Refusal, StateFrame } from "../arena.js" */
/** @import { Session } from "../view.js" */

/**
 * Tell of a session after every change; it begins when it is told what the session is.
 * @param {Arena} arena @param {string} id
 * @param {{draw: (session: Session) => void, gone: (error: Refusal, session: Session) => void}} tell
 */
export function hearSession(arena, id, { draw, gone }) {
  /** @type {(Initial | NewMessage | StateFrame | GameEnded)[]} */ const heard = [];
  const now = () => arena.now();
  let session = newSession(id);
  let isRevealing = false;
  let isOver = false;

  const drawSoon = soon(() => {
    if (isOver) return;
    session = follow(session, heard.splice(0), now);
    draw(session);
    if (mayReveal(session) && !isRevealing) openBars();
  });

  /** The game is over: read the operator's channel again, as everybody may see it now. */
  async function openBars() {
    isRevealing = true;
    try {
      session = reveal(session, await arena.sync(operatorChannel(id)));
    } catch {
      return; // the bars stay; the next visit shows what is behind them
    }
    drawSoon();
  }

  /** @param {string} of @param {Initial | NewMessage | StateFrame | GameEnded} frame */
  function hear(of, frame) {
    if (of !== id) return;
    heard.push(frame);
    drawSoon();
  }

  const stops = [
    arena.on("initial", (frame) => hear(sessionOf(frame.channel), frame)),
    arena.on("new_message", (frame) => hear(sessionOf(frame.message.channel), frame)),
    arena.on("state", (frame) => hear(frame.challengeId, frame)),
    arena.on("game_ended", (frame) => hear(frame.challengeId, frame)),
    arena.on("gone", ({ challengeId, error }) => challengeId === id && gone(error, session)),
  ];
  return {
    /** What the session is, as far as everybody may know. @param {Challenge} challenge */
    meet(challenge) {
      session = withChallenge(session, challenge);
      drawSoon();
    },
    stop() {
      isOver = true;
      stops.forEach((stop) => stop());
    },
  };
}
