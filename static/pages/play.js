/** A seat: an invite is taken up, or a seat that this browser holds is come back to, and the game is played. */

import { path, post, read } from "../api.js";
import { Identity, Refusal, newKey } from "../arena.js";
import { give } from "../elements/dom.js";
import "../elements/play-page.js";
import { forget, keep, note, noted, recall, seats } from "../keep.js";
import { ME } from "../proof.js";
import { newSession } from "../view.js";
import { turnOf } from "../table.js";
import { hearSession } from "./hearing.js";
import { wear } from "./styles.js";

/** @import { Game } from "../arena.js" */
/** @import { Context, View } from "../app.js" */
/** @import { Seat } from "../keep.js" */

const NAME = "arena name"; // what the reader was called last

await Promise.all([wear("challenge"), wear("play")]);

/** @param {Context} context @returns {View} */
export function open({ arena, params: { id = "" }, now, changed, go }) {
  const element = give(/** @type {any} */ (document.createElement("play-page")), { now });
  const invite = takeInvite(id);
  let session = newSession(id);
  let isOpen = true;
  /** @type {Game | null} */ let game = null;
  /** @type {Identity | null} */ let me = null;
  /** @type {(() => void)[]} */ let stops = [];

  /** @param {string} of the session that is heard from now on @param {() => void} draw */
  function follow(of, draw) {
    stops.forEach((stop) => stop());
    const hearing = hearSession(arena, of, {
      draw: (heard) => {
        session = heard;
        if (!isOpen) return;
        draw();
        changed();
      },
      gone: (error) => isOpen && lose(error, of),
    });
    stops = [hearing.stop];
    return hearing;
  }

  async function begin() {
    const known = await seats();
    const seat = invite ? known.find((one) => one.id === invite) : known.find((one) => one.session === id);
    if (!isOpen) return;
    if (seat?.session && seat.sessionKey) return resume(seat.session, seat.sessionKey, seat.id);
    if (seat && seat.id === invite) return join(seat); // the answer was lost
    if (!invite) return element.fail(id ? "This seat is not yours to take" : "No invite", id ? "This browser holds no seat in the game. Open the whole link that you were given, or watch." : "Open the whole link that you were given: it ends with # and a code.", id);
    await arena.online();
    const kept = await recall("keys", ME);
    me = kept ? await Identity.of(kept.pair) : null;
    if (!isOpen) return;
    element.invite({ isSigned: arena.auth === "required", user: me?.user, name: noted("localStorage", NAME) });
    if (id) foretell().catch(() => {}); // the invite itself will tell
  }

  /** What the invite is for, as everybody may know it. */
  async function foretell() {
    /** @type {any} */ let info;
    const hearing = follow(id, () => info && !game && element.foretell(info, session));
    const challenge = await arena.watch(id);
    info = await read(path`/metadata/${challenge.challengeType}`);
    hearing.meet(challenge);
  }

  /** @param {string} name */
  async function sit(name) {
    note("localStorage", NAME, name);
    try {
      if (arena.auth === "required") await signIn(name);
      /** @type {Seat} */ const seat = { id: invite, key: newKey(), userId: name || undefined, at: Date.now() };
      await keep("seats", seat);
      await join(seat);
    } catch (error) {
      element.form.refuse(error);
    }
  }

  /** Have a key pair, made and kept here, and a name for it. @param {string} name */
  async function signIn(name) {
    me ??= await Identity.make();
    await keep("keys", { id: ME, pair: me.pair });
    if (name) await post("/users", { username: name, ...(await me.sign("user-update", arena.now())) });
  }

  /** @param {Seat} seat */
  async function join(seat) {
    try {
      await arena.online();
      const kept = me ? null : await recall("keys", ME);
      if (kept) me = await Identity.of(kept.pair);
      const identity = arena.auth === "required" ? (me ?? undefined) : undefined; // elsewhere a name is enough
      const taken = await arena.join(seat.id, { userId: seat.userId, identity, key: seat.key });
      play(taken);
      await keep("seats", { ...seat, session: taken.id, sessionKey: taken.sessionKey });
    } catch (error) {
      if (/** @type {Refusal} */ (error).code !== "DISCONNECTED") await forget("seats", seat.id);
      refuse(/** @type {Refusal} */ (error));
    }
  }

  /** @param {string} of @param {string} sessionKey @param {string} handle */
  async function resume(of, sessionKey, handle) {
    try {
      play(await arena.resume(of, sessionKey, handle));
    } catch {
      return; // told as gone
    }
  }

  /** @param {Game} taken */
  function play(taken) {
    if (!isOpen) return arena.leave(taken.id);
    game = taken;
    const of = taken.id;
    const hearing = follow(of, () => element.show(session));
    const learn = () => arena.call("watch", { challengeId: of }).then(hearing.meet, () => {});
    let stage = "";
    stops.push(
      arena.on("seat", ({ ChallengeID }) => ChallengeID === of && learn()),
      arena.on("state", ({ challengeId, state }) => {
        if (challengeId !== of || stage === (stage = `${state.status} ${state.players.length}`)) return;
        learn(); // when exactly somebody sat down
      }),
    );
    arena.unwatch(of);
    learn();
    note("sessionStorage", keptAt(of), taken.handle); // another tab may have another seat
    if (id !== of) go(path`/play/${of}`, "rename");
    element.sit(taken.seat, taken.info, of);
    recall("sessions", of).then((made) => made && give(element, { spare: made.invites }), () => {});
    changed();
  }

  /** The invite cannot be used. @param {Refusal} error */
  function refuse(error) {
    if (error.code === "INVITE_ALREADY_USED") return element.fail("The seat is taken", "Somebody has used this invite before you. If that was you, open the game in the browser that you used.", id);
    if (error.code === "INVITE_NOT_FOUND" || error.code === "NOT_FOUND") return element.fail("No such invite", "The session may have been put away, or the link is not whole.");
    throw error;
  }

  /** @param {Refusal} error @param {string} of */
  function lose(error, of) {
    if (!game && invite && error.code === "NOT_FOUND") return; // as above
    forgetSeat(of).catch(() => {});
    if (error.code === "NOT_FOUND") return element.fail("The session was removed", "Its seats were not taken in time, so the server has put it away.");
    element.fail("The seat was lost", `${error.message} The server does not know this seat any more.`, of);
  }

  async function forgetSeat(/** @type {string} */ of) {
    for (const seat of await seats()) if (seat.session === of && (!invite || seat.id === invite)) await forget("seats", seat.id);
  }

  element.addEventListener("sit", (/** @type {CustomEvent<{name: string}>} */ { detail }) => sit(detail.name));
  element.addEventListener("move", (/** @type {CustomEvent<{type: string, content: string}>} */ { detail, target }) => {
    const form = /** @type {any} */ (target);
    game?.act(detail.type, detail.content).then(() => form.done(), (error) => form.refuse(error));
  });
  element.addEventListener("talk", (/** @type {CustomEvent<{content: string, to?: string}>} */ { detail }) => {
    game?.say(detail.content, detail.to).then(() => element.talk.done(), (error) => element.talk.refuse(error));
  });
  element.addEventListener("resign", () => game?.resign().catch((error) => element.talk.refuse(error)));
  begin().catch((error) => isOpen && element.fail("The seat cannot be shown", `${error.message} Nothing is lost on the server; try again later.`));
  return {
    element,
    title: () => {
      const { challenge } = session;
      if (!challenge) return "Take a seat · Arena";
      const isMine = game && turnOf(session, game.seat)?.isMine;
      return `${isMine ? "Your move · " : ""}${challenge.name} · Arena`;
    },
    moved: () => {
      if (location.hash) location.reload(); // another invite
    },
    close: () => {
      isOpen = false;
      stops.forEach((stop) => stop());
      if (game) arena.leave(game.id);
      else if (id) arena.unwatch(id);
    },
  };
}

/** Where the invite of an address is kept until it was used. @param {string} id */
function keptAt(id) {
  return `arena invite ${id}`;
}

/** The invite of the address, which it is taken out of at once: an address is shown, shared and remembered. @param {string} id */
function takeInvite(id) {
  const told = location.hash.slice(1);
  if (told) {
    note("sessionStorage", keptAt(id), told);
    history.replaceState(null, "", location.pathname);
  }
  return told || noted("sessionStorage", keptAt(id));
}
