import { Playhead } from "../playhead.js";
import { asOf, seal, upTo } from "../replay.js";
import { timelineOf } from "../timeline.js";
import { newSession, playersOf, short } from "../view.js";
import { all, give, h } from "./dom.js";
import "./chat-log.js";
import "./live-clock.js";
import "./player-list.js";
import "./time-line.js";

/** @import { Line, Session } from "../view.js" */

const STATUS = { open: "waiting for players", active: "live", ended: "ended" };
const WRITING = "input:not([type=range]), textarea, select, [contenteditable], dialog";

/**
 * <session-page>: one game, live, after its end, or at a moment in between. Call `show` with what is known, `seek` with
 * a moment, or `fail` with what went wrong. A moment that the reader has gone to comes up as `moment`, with the
 * milliseconds from the beginning or null, and the name of the line if it is about one.
 */
class SessionPage extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  /** @type {HTMLElement[]} */ extras = []; // links beside the title
  isRecord = false; // whether nothing will be heard of it any more
  #session = newSession("");
  #head = new Playhead(() => this.#timeline, () => this.#edge, () => this.#played());
  /** @type {string | null} */ #line = null; // name of the line that is asked for
  /** @type {{offset?: number, line: string | null} | null} */ #wish = null; // of the address, until it can be granted
  #isSealed = false;
  #isSplit = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */ #second;
  #onKey = (/** @type {KeyboardEvent} */ event) => this.#key(event);
  #facts = "";
  #parts = {
    title: h("h1", { tabindex: -1 }, "Loading…"),
    facts: h("p", { class: "facts" }),
    extras: h("p", { class: "extras" }),
    split: h("button", { type: "button", class: "split", "aria-pressed": "false" }, "Side by side"),
    players: /** @type {any} */ (h("player-list")),
    beside: h("div", { class: "beside" }),
    above: h("div", { class: "above" }),
    logs: h("div", { class: "logs" }),
    log: /** @type {any} */ (h("chat-log")),
    talk: /** @type {any} */ (h("chat-log")),
    timeline: /** @type {any} */ (h("time-line")),
  };

  connectedCallback() {
    document.addEventListener("keydown", this.#onKey);
    this.#second = setInterval(() => this.#isLive && this.#drawTimeline(), 1_000);
    if (this.childElementCount) return;
    const { title, facts, extras, split, players, beside, above, logs, log, timeline } = this.#parts;
    logs.append(log);
    extras.append(split, ...this.extras);
    this.append(
      h("header", { class: "session-head" }, !this.isRecord && h("a", { class: "back", href: "/" }, "← All games"), title, facts, extras),
      h("aside", { "aria-label": "Players" }, h("h2", { class: "unseen" }, "Players"), players, beside),
      h("div", { class: "said" }, above, logs),
      timeline,
    );
    this.addEventListener("click", (event) => this.#follow(event));
    split.addEventListener("click", () => this.#split(!this.#isSplit));
    for (const [name, act] of Object.entries(this.#wishes)) timeline.addEventListener(name, (/** @type {CustomEvent} */ { detail }) => act(detail));
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.#onKey);
    clearInterval(this.#second);
    this.#head.stop();
  }

  /** What the timeline may ask for. @type {Record<string, (detail: any) => void>} */
  #wishes = {
    seek: (at) => this.#go(at),
    settled: () => this.#tell(),
    play: () => this.#play(),
    speed: (speed) => (this.#head.speed = speed),
    leap: () => this.#leap(),
    seal: (isSealed) => {
      this.#isSealed = isSealed;
      this.#draw();
    },
  };

  get #isLive() {
    return !this.isRecord && this.#session.challenge !== null && this.#session.challenge.state.status !== "ended";
  }

  get #timeline() {
    return timelineOf(this.#session);
  }

  /** Where the right edge is: now, or the end. */
  get #edge() {
    return this.#isLive ? Math.max(this.#timeline.end, this.now()) : this.#timeline.end;
  }

  show(/** @type {Session} */ session) {
    if (!session.challenge) return;
    this.#session = session;
    const { title, players } = this.#parts;
    if (title.textContent !== session.challenge.name) title.textContent = session.challenge.name;
    this.dataset.status = session.challenge.state.status;
    players.now = this.now;
    this.#showFacts(session);
    if (this.#wish) this.#grant();
    this.#draw();
  }

  /** Go where an address wants to: so many milliseconds from the beginning, to a line, or with neither to the edge. @param {number | undefined} offset @param {string | null} line */
  seek(offset, line) {
    if (offset === undefined && line === null && this.#head.at === null && this.#line === null) return;
    this.#wish = { offset, line };
    if (this.#session.challenge) this.#grant();
  }

  #grant() {
    const { offset, line } = this.#wish ?? { line: null };
    const { lines, begin } = this.#timeline;
    const found = line === null ? undefined : lines.find(({ name }) => name === line);
    if (line !== null && !found) return; // it may still come
    this.#wish = null;
    if (found) this.#goTo(found);
    else this.#go(offset === undefined ? null : begin + offset);
  }

  /** Be at a moment, or at the edge. @param {number | null} at */
  #go(at) {
    this.#head.go(at);
    this.#settle();
  }

  /** Show the moment that the reader has come to. */
  #settle() {
    this.#line = null;
    this.#draw();
    for (const log of this.#logs) log.toEnd();
  }

  /** Be at the moment of a line, and at that line. @param {Line} line */
  #goTo(line) {
    this.#head.go(line.at);
    this.#line = line.name;
    this.#draw();
    const log = this.#isSplit && line.name.startsWith("chat.") ? this.#parts.talk : this.#parts.log;
    log.choose(line);
  }

  /** Say where the reader is. */
  #tell() {
    const { at } = this.#head;
    const offset = at === null ? null : at - this.#timeline.begin;
    this.dispatchEvent(new CustomEvent("moment", { detail: { offset, line: this.#line }, bubbles: true }));
  }

  #play() {
    if (this.#head.at === null && this.#isLive) return;
    const wasPlaying = this.#head.isPlaying;
    if (wasPlaying) this.#head.stop();
    else this.#head.play();
    this.#settle();
    if (wasPlaying) this.#tell();
  }

  /** A replay has gone on by itself. */
  #played() {
    if (!this.#head.isPlaying) this.#tell();
    this.#draw();
  }

  #leap() {
    const next = this.#head.nextDeed();
    const line = next && this.#timeline.lines.find(({ name }) => name === next.name);
    if (line) this.#goTo(line);
    else this.#go(next ? next.at : null);
    this.#tell();
  }

  /** @param {1 | -1} way @param {number} count */
  #step(way, count) {
    this.#head.step(way, count);
    this.#settle();
    this.#tell();
  }

  #key(/** @type {KeyboardEvent} */ event) {
    const target = /** @type {Element} */ (event.target);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest?.(WRITING)) return;
    if (!this.#session.challenge || (event.key === " " && target.closest?.("button, a, summary"))) return;
    if (event.key === "Enter" && !target.matches?.("li[data-name]")) return;
    const count = event.shiftKey ? 10 : 1;
    const acts = /** @type {Record<string, () => void>} */ ({
      j: () => this.#current.step(1),
      k: () => this.#current.step(-1),
      Enter: () => this.#visit(/** @type {HTMLElement} */ (target).dataset?.name),
      " ": () => this.#play(),
      ArrowLeft: () => this.#step(-1, count),
      ArrowRight: () => this.#step(1, count),
    });
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Links to lines are followed without leaving. */
  #follow(/** @type {MouseEvent} */ event) {
    const link = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest?.("a[data-line]"));
    if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.#visit(link.dataset.line);
  }

  /** Go to the line of this name. @param {string | undefined} wanted */
  #visit(wanted) {
    const line = this.#timeline.lines.find(({ name }) => name === wanted);
    if (!line) return;
    this.#goTo(line);
    this.#tell();
  }

  // Drawing

  get #logs() {
    return this.#isSplit ? [this.#parts.log, this.#parts.talk] : [this.#parts.log];
  }

  /** The log that the reader is in. */
  get #current() {
    return this.#logs.find((log) => log.contains(document.activeElement)) ?? this.#parts.log;
  }

  #split(/** @type {boolean} */ isSplit) {
    const { split, logs, log, talk } = this.#parts;
    this.#isSplit = isSplit;
    split.setAttribute("aria-pressed", String(isSplit));
    logs.replaceChildren(...(isSplit ? [h("h2", {}, "Operator"), h("h2", {}, "Players"), log, talk] : [log]));
    logs.toggleAttribute("data-split", isSplit);
    log.label = isSplit ? "What the operator says, and moves" : "Messages";
    talk.label = "What the players say";
    this.#draw();
    for (const each of this.#logs) each.toEnd();
  }

  #draw() {
    const session = this.#session;
    const { lines, deeds } = this.#timeline;
    const { at } = this.#head;
    const then = at === null ? session : asOf(session, at);
    const isOver = then.challenge?.state.status === "ended";
    const isSealed = this.#isSealed && !isOver; // as it was seen while it went on
    const come = at === null ? lines : lines.slice(0, upTo(lines, at));
    const shown = isSealed ? seal(come) : come;
    const known = deeds.filter((deed) => !isSealed && (at === null || deed.at <= at));
    this.#parts.players.show(playersOf(then), known, isOver, at === null && !this.isRecord);
    for (const log of this.#logs) log.isQuiet = at !== null;
    if (this.#isSplit) {
      this.#parts.log.lines = shown.filter(({ name }) => !name.startsWith("chat."));
      this.#parts.talk.lines = shown.filter(({ name }) => name.startsWith("chat."));
    } else this.#parts.log.lines = shown;
    this.#drawTimeline();
  }

  #drawTimeline() {
    if (!this.#session.challenge) return;
    this.#parts.timeline.show(this.#timeline, {
      at: this.#head.at,
      end: this.#edge,
      isLive: this.#isLive,
      isPlaying: this.#head.isPlaying,
      isSealed: this.#isSealed,
      maySeal: !this.#isLive,
    });
  }

  #showFacts(/** @type {Session} */ { id, challenge, spectators }) {
    if (!challenge) return;
    const { status, completedAt } = challenge.state;
    const wanted = JSON.stringify([id, status, completedAt, spectators]);
    if (wanted === this.#facts) return;
    this.#facts = wanted;
    const end = completedAt;
    const now = status === "ended" && end !== undefined ? () => end : this.now;
    const watching = spectators === 1 ? "1 watching" : `${spectators} watching`;
    const facts = [
      h("span", { class: "badge", "data-status": status }, STATUS[status]),
      give(/** @type {any} */ (h("live-clock", { title: "Time since the session was opened" })), { since: challenge.createdAt, now }),
      spectators > 0 && h("span", { class: "figure" }, watching),
      h("code", { class: "handle", title: id }, short(id)),
    ];
    this.#parts.facts.replaceChildren(...all(facts));
  }

  /** Show more than any game has: something beside the players, and something above what is said. @param {HTMLElement} beside @param {HTMLElement} above */
  furnish(beside, above) {
    this.#parts.beside.replaceChildren(beside);
    this.#parts.above.replaceChildren(above);
  }

  /** Nothing can be shown. @param {string} title @param {string} sentence */
  fail(title, sentence) {
    this.dataset.status = "failed";
    this.replaceChildren(
      h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, h("a", { href: "/" }, "See what is being played"))),
    );
  }
}

customElements.define("session-page", SessionPage);
