import { movesOf } from "../moves.js";
import { isTo, lastCall, othersOf, seatsFor, secretsOf, turnOf, waitingFor } from "../table.js";
import { timelineOf } from "../timeline.js";
import { playersOf, seatName, signed } from "../view.js";
import { ask } from "./ask-dialog.js";
import "./chat-log.js";
import { give, h, mark, seatColour, words } from "./dom.js";
import { invites } from "./invite-list.js";
import "./move-form.js";
import "./player-list.js";
import { essay } from "./prose.js";
import "./seat-clock.js";
import "./seat-form.js";
import "./talk-box.js";

/** @import { ChallengeInfo } from "../arena.js" */
/** @import { Session } from "../view.js" */
/** @import { Who } from "./seat-form.js" */

const STATUS = { open: "waiting for players", active: "live", ended: "ended" };

/**
 * <play-page>: a seat. First `invite` asks who takes it, then `sit` shows the table, and `show` what was heard. Wishes
 * come up as `sit`, `move`, `talk` and `resign`.
 */
class PlayPage extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  #seat = 0;
  /** @type {string[]} */ #spare = []; // invites of a session that was created here
  /** @type {Session | null} */ #session = null;
  #parts = {
    badge: h("span", { class: "badge" }),
    me: h("p", { class: "me" }),
    turn: h("p", { class: "turn", "aria-live": "polite" }),
    clock: /** @type {any} */ (h("seat-clock", { class: "mine", hidden: true })),
    result: h("section", { class: "result", hidden: true, "aria-live": "polite" }),
    room: h("section", { class: "room", hidden: true, "aria-label": "Waiting room" }),
    players: /** @type {any} */ (h("player-list")),
    secrets: h("ul", { class: "secrets" }),
    log: /** @type {any} */ (h("chat-log")),
    talk: /** @type {any} */ (h("talk-box")),
    moves: h("div", { class: "forms" }),
    form: /** @type {any} */ (h("seat-form")),
    preview: h("div", { class: "preview" }),
    resign: /** @type {HTMLButtonElement} */ (h("button", { type: "button", class: "quiet" }, "Resign")),
  };
  #drawn = { secrets: "", room: "", result: "", turn: "" };

  /** Somebody was invited: who is it? @param {Who} who */
  invite(who) {
    const { form, preview } = this.#parts;
    this.dataset.status = "invited";
    form.show(who);
    this.replaceChildren(
      h("h1", { tabindex: -1 }, "Take a seat"),
      h("p", { class: "lead" }, "You hold an invite to a game. Whoever takes the seat first has it."),
      form,
      preview,
    );
  }

  /** What the invite is for. @param {ChallengeInfo} info @param {Session} session */
  foretell(info, session) {
    const { preview } = this.#parts;
    const told = [h("h2", {}, info.name), h("p", {}, info.description), h("p", { class: "facts" }, waitingFor(session)), h("div", { class: "prompt", dir: "auto" }, ...essay(info.prompt))];
    if (this.dataset.status === "invited") preview.replaceChildren(...told);
  }

  get form() {
    return this.#parts.form;
  }

  get talk() {
    return this.#parts.talk;
  }

  /** Invites for others, where the session was created here. */
  set spare(/** @type {string[]} */ invites) {
    this.#spare = invites;
    this.#drawn.room = "";
    if (this.#session) this.#showRoom(this.#session);
  }

  /** The seat is taken. @param {number} seat @param {ChallengeInfo} info @param {string} id */
  sit(seat, info, id) {
    const { badge, me, turn, clock, result, room, players, secrets, log, talk, moves, resign } = this.#parts;
    this.#seat = seat;
    this.dataset.status = "seated";
    log.announces = (/** @type {any} */ line) => line.kind === "call" || (!line.isHidden && isTo(line, seat));
    log.label = "Messages";
    me.replaceChildren("You are ", h("span", { class: "speaker", "data-seat": seatColour(seat) }, mark(seat), seatName(seat)));
    moves.replaceChildren(...movesOf(info.methods).map((move) => give(/** @type {any} */ (h("move-form")), { move })));
    resign.addEventListener("click", () => this.#resign());
    this.addEventListener("click", (event) => this.#find(event));
    this.replaceChildren(
      h("header", { class: "session-head" }, h("a", { class: "back", href: "/" }, "← All games"), h("h1", { tabindex: -1 }, info.name), h("p", { class: "facts" }, badge), h("p", { class: "extras" }, h("a", { href: `/session/${encodeURIComponent(id)}` }, "As others see it"), resign)),
      h("div", { class: "stand" }, me, turn, clock),
      h("aside", { "aria-label": "The table" }, room, result, h("section", { "aria-label": "Players" }, h("h2", { class: "unseen" }, "Players"), players), h("section", { class: "alone", "aria-labelledby": "alone" }, h("h2", { id: "alone" }, "Told to you alone"), secrets), rules(info)),
      h("section", { class: "floor", "aria-label": "Talk" }, h("div", { class: "logs" }, log), talk),
      h("section", { class: "moves", "aria-labelledby": "moves" }, h("h2", { id: "moves" }, "Your moves"), moves),
    );
  }

  show(/** @type {Session} */ session) {
    const { challenge } = session;
    if (!challenge || this.dataset.status !== "seated") return;
    this.#session = session;
    const { status } = challenge.state;
    const { badge, players, log, talk, resign } = this.#parts;
    const { lines, deeds } = timelineOf(session);
    badge.dataset.status = status;
    badge.textContent = STATUS[status];
    players.now = this.now;
    players.show(seatsFor(session, this.#seat), deeds, status === "ended");
    log.lines = lines;
    talk.show(othersOf(session, this.#seat), true);
    resign.hidden = status !== "active";
    for (const form of this.#parts.moves.children) /** @type {any} */ (form).isOpen = status === "active";
    this.#parts.moves.parentElement?.toggleAttribute("data-over", status === "ended");
    this.#showTurn(session);
    this.#showSecrets(session);
    this.#showRoom(session);
    this.#showResult(session);
  }

  #showTurn(/** @type {Session} */ session) {
    const { turn, clock } = this.#parts;
    const found = turnOf(session, this.#seat);
    const call = found || session.challenge?.state.status !== "active" ? [] : lastCall(session);
    if (this.#changes("turn", [found, call, session.challenge?.state.status])) {
      turn.toggleAttribute("data-mine", found?.isMine === true);
      turn.replaceChildren(...(found ? [found.text] : words(call)));
    }
    const mine = playersOf(session)[this.#seat]?.clock;
    clock.hidden = !mine;
    if (mine) give(clock, { now: this.now, time: mine }).draw();
  }

  #showSecrets(/** @type {Session} */ session) {
    const lines = secretsOf(session, this.#seat);
    if (!this.#changes("secrets", lines.map(({ key }) => key))) return;
    const { secrets } = this.#parts;
    secrets.replaceChildren(...lines.map(({ parts }) => h("li", { class: "text", dir: "auto" }, ...words(parts))));
    secrets.parentElement?.toggleAttribute("hidden", lines.length === 0);
  }

  #showRoom(/** @type {Session} */ session) {
    const { room } = this.#parts;
    const state = session.challenge?.state;
    room.hidden = state?.status !== "open";
    if (room.hidden || !this.#changes("room", state?.players)) return;
    const free = this.#spare.filter((invite) => !state?.players.includes(invite));
    const links = free.length
      ? [h("p", {}, "Give each of the others one link, or an agent the code. Whoever uses it first has the seat."), invites(session.id, free.map((invite, place) => ({ invite, label: `Free seat ${place + 1}` })), false)]
      : [h("p", {}, "Whoever holds another invite can sit down. This page stays here and goes on by itself.")];
    room.replaceChildren(h("h2", {}, "Waiting for players"), h("p", { class: "facts" }, waitingFor(session)), ...links);
  }

  #showResult(/** @type {Session} */ session) {
    const { result } = this.#parts;
    const mine = playersOf(session)[this.#seat]?.score;
    result.hidden = session.challenge?.state.status !== "ended";
    if (result.hidden || !this.#changes("result", mine ?? null)) return;
    const figures = mine ? [["Security", mine.security], ["Utility", mine.utility]] : [];
    result.replaceChildren(
      h("h2", {}, "The game is over"),
      h("dl", { class: "figures" }, ...figures.map(([name, value]) => h("div", {}, h("dt", {}, String(name)), h("dd", { class: "figure" }, signed(Number(value)))))),
      h("p", {}, h("a", { class: "replay", href: `/session/${encodeURIComponent(session.id)}` }, "Watch the replay")),
    );
  }

  /** Whether something is to be drawn anew. @param {"secrets" | "room" | "result" | "turn"} part @param {unknown} wanted */
  #changes(part, wanted) {
    const text = JSON.stringify(wanted) ?? "";
    if (this.#drawn[part] === text) return false;
    this.#drawn[part] = text;
    return true;
  }

  async #resign() {
    const isSure = await ask("Give the game up?", "The operator ends it for you, or plays your moves by its rules. It cannot be taken back.", "Resign", "Play on");
    if (isSure) this.dispatchEvent(new CustomEvent("resign", { bubbles: true }));
  }

  /** A link to a line leads to it in the log. */
  #find(/** @type {Event} */ event) {
    const link = /** @type {Element} */ (event.target).closest?.("[data-line]");
    if (!(link instanceof HTMLElement) || !this.#session) return;
    event.preventDefault();
    const line = timelineOf(this.#session).lines.find(({ name }) => name === link.dataset.line);
    if (line) this.#parts.log.choose(line);
  }

  /** There is nothing to play. @param {string} title @param {string} sentence @param {string} [id] of a session that can be watched */
  fail(title, sentence, id) {
    this.dataset.status = "failed";
    const way = id ? h("a", { href: `/session/${encodeURIComponent(id)}` }, "Watch the game instead") : h("a", { href: "/" }, "See what is being played");
    this.replaceChildren(h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, way)));
  }
}

/** @param {ChallengeInfo} info */
function rules(info) {
  return h("details", { class: "rules", open: true }, h("summary", {}, "Rules"), h("p", {}, info.description), h("div", { class: "prompt", dir: "auto" }, ...essay(info.prompt)));
}

customElements.define("play-page", PlayPage);
