import { arrange, h, seatColour, speaker, timeOf, words } from "./dom.js";

/** @import { Line } from "../view.js" */

const NEAR = 48; // pixels from the end that count as the end
const STEP = 60; // milliseconds between two bars that open
const HAND = 1_000; // milliseconds for which a reader's hand explains what scrolls
const LONG = 1_500; // characters that get a box of their own to scroll in
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * <chat-log>: what was said, newest last. Assign `lines`; it draws what is new and stays at the end unless the reader
 * has scrolled up. Bars that open in front of the reader open one after the other.
 */
class ChatLog extends HTMLElement {
  /** @type {Map<string, {line: Line, element: HTMLElement}>} */ #drawn = new Map();
  #isAtEnd = true;
  #hand = 0; // when the reader last touched wheel, screen, keys or scroll bar
  #seen = { scrollTop: 0, scrollHeight: 0, clientHeight: 0 };
  #list = h("ol", { class: "lines" });
  #scroller = h("div", { class: "scroller follows", tabindex: 0, role: "region", "aria-label": "Messages" }, this.#list);
  #down = h("button", { type: "button", class: "down", hidden: true }, "New messages ↓");
  #calls = h("div", { class: "unseen", "aria-live": "polite" });
  #size = new ResizeObserver(() => this.#follow());

  connectedCallback() {
    if (!this.childElementCount) this.append(this.#scroller, this.#down, this.#calls);
    this.#scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    for (const hand of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      this.#scroller.addEventListener(hand, () => (this.#hand = performance.now()), { passive: true });
    }
    this.#down.addEventListener("click", () => this.#toEnd());
    this.#size.observe(this.#list);
    this.#size.observe(this.#scroller);
  }

  disconnectedCallback() {
    this.#size.disconnect();
  }

  set lines(/** @type {Line[]} */ lines) {
    const before = this.#drawn;
    let opened = 0;
    this.#drawn = new Map(
      lines.map((line) => {
        const known = before.get(line.key);
        if (known?.line === line) return [line.key, known];
        const element = draw(line);
        if (known?.line.isHidden && !line.isHidden && !calm.matches) open(element, opened++);
        return [line.key, { line, element }];
      }),
    );
    arrange(this.#list, lines.length ? Array.from(this.#drawn.values(), ({ element }) => element) : [silence()]);
    if (before.size) this.#announce(lines.filter(({ key }) => !before.has(key)));
    this.#follow();
  }

  /** Read new calls of the operator to those who listen; players talk too much for that. */
  #announce(/** @type {Line[]} */ fresh) {
    const calls = fresh.filter(({ kind }) => kind === "call");
    if (calls.length) this.#calls.replaceChildren(...calls.map(({ parts }) => h("p", {}, ...words(parts))));
    this.#down.hidden = this.#isAtEnd || (this.#down.hidden && fresh.length === 0);
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    const before = this.#seen;
    this.#seen = { scrollTop, scrollHeight, clientHeight };
    const isSameSize = before.scrollHeight === scrollHeight && before.clientHeight === clientHeight;
    // A log that is laid out anew moves too; that is no wish to leave the end.
    const isReader = isSameSize || performance.now() - this.#hand < HAND;
    if (scrollHeight - scrollTop - clientHeight < NEAR) this.#isAtEnd = true;
    else if (scrollTop < before.scrollTop && isReader) this.#isAtEnd = false;
    this.#scroller.classList.toggle("follows", this.#isAtEnd);
    if (this.#isAtEnd) this.#down.hidden = true;
  }

  #follow() {
    if (!this.#isAtEnd) return;
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    this.#seen = { scrollTop, scrollHeight, clientHeight };
  }

  #toEnd() {
    this.#isAtEnd = true;
    this.#down.hidden = true;
    this.#follow();
    this.#scroller.focus();
  }
}

/** @param {Line} line @returns {HTMLElement} */
function draw(line) {
  const time = timeOf(line.at);
  const side = line.from.kind === "player" ? line.from.seat % 2 : 0;
  const colour = line.from.kind === "player" ? seatColour(line.from.seat) : null;
  const frame = { class: line.kind, "data-side": side, "data-seat": colour };
  switch (line.kind) {
    case "call":
      return h("li", frame, speaker(line.from), text(line, "p"), time);
    case "speech":
      return h("li", frame, h("p", { class: "head" }, speaker(line.from), time), text(line, "div"));
    case "whisper":
      return whisper(line, frame, time);
  }
}

/** @param {Line} line @param {Record<string, string | number | null>} frame @param {HTMLElement} time */
function whisper(line, frame, time) {
  const to = line.to ? speaker(line.to) : null;
  const arrow = h("span", { class: "to" }, h("span", { class: "unseen" }, "to"), h("span", { "aria-hidden": "true" }, "→"));
  if (line.isHidden) {
    const bar = h("span", { class: "redacted", role: "img", "aria-label": "a hidden message" });
    return h("li", frame, h("p", { class: "head" }, speaker(line.from), bar, arrow, to, time));
  }
  const note = line.wasPrivate ? "formerly private" : "private";
  return h(
    "li",
    { ...frame, "data-open": true },
    h("p", { class: "head" }, speaker(line.from), arrow, to, h("span", { class: "meta" }, h("span", { class: "note" }, note), time)),
    text(line, "div"),
  );
}

/** What was said; in its own box if it is long. @param {Line} line @param {string} tag */
function text({ parts }, tag) {
  const plain = parts.filter((part) => typeof part === "string").join("");
  const size = plain.length > LONG ? " long" : plain.includes("\n") ? "" : " brief";
  return h(tag, { class: `text${size}`, dir: "auto", tabindex: plain.length > LONG ? 0 : null }, ...words(parts));
}

/** @param {HTMLElement} element @param {number} turn */
function open(element, turn) {
  element.classList.add("opening");
  element.style.animationDelay = `${Math.min(turn, 40) * STEP}ms`;
}

function silence() {
  return h("li", { class: "empty" }, "Nothing has been said yet.");
}

customElements.define("chat-log", ChatLog);
