import { arrange, h, words } from "./dom.js";
import { Chunk } from "./log-chunk.js";

/** @import { Line } from "../view.js" */

const NEAR = 48; // pixels from the end that count as the end
const HAND = 1_000; // milliseconds for which a reader's hand explains what scrolls
const SIZE = 50; // lines in a chunk
const WHOLE = 10; // chunks that are drawn wherever the reader is
const AROUND = "1200px 0px"; // of what is seen, that is drawn too

/**
 * <chat-log>: what was said, newest last. Assign `lines`; it draws what is new and stays at the end unless the reader
 * has scrolled up. Bars that open in front of the reader open one after the other.
 */
class ChatLog extends HTMLElement {
  isQuiet = false; // whether new calls are not to be read out
  /** What is read out of what is new. @type {(line: Line) => boolean} */ announces = ({ kind }) => kind === "call";
  /** @type {Line[]} */ #lines = [];
  /** @type {Chunk[]} */ #chunks = [];
  /** @type {string | null} */ #chosen = null; // key of the line that the reader is at
  #isAtEnd = true;
  #hand = 0; // when the reader last touched wheel, screen, keys or scroll bar
  #seen = { scrollTop: 0, scrollHeight: 0, clientHeight: 0 };
  #list = h("div", { class: "chunks" });
  #scroller = h("div", { class: "scroller follows", tabindex: 0, role: "region", "aria-label": "Messages" }, this.#list);
  #down = h("button", { type: "button", class: "down", hidden: true }, "New messages ↓");
  #calls = h("div", { class: "unseen", "aria-live": "polite" });
  #silence = h("p", { class: "empty" }, "Nothing has been said yet.");
  #size = new ResizeObserver(() => this.#follow());
  /** @type {Map<Element, Chunk>} */ #byElement = new Map();
  #near = new IntersectionObserver((found) => this.#look(found), { root: this.#scroller, rootMargin: AROUND });

  connectedCallback() {
    this.#size.observe(this.#list);
    this.#size.observe(this.#scroller);
    if (this.childElementCount) return;
    this.append(this.#scroller, this.#down, this.#calls);
    this.#scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    for (const hand of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      this.#scroller.addEventListener(hand, () => (this.#hand = performance.now()), { passive: true });
    }
    this.#down.addEventListener("click", () => {
      this.toEnd();
      this.#scroller.focus();
    });
  }

  disconnectedCallback() {
    this.#size.disconnect();
  }

  set label(/** @type {string} */ label) {
    this.#scroller.setAttribute("aria-label", label);
  }

  set lines(/** @type {Line[]} */ lines) {
    const before = this.#lines;
    this.#lines = lines;
    const chunks = Array.from({ length: Math.ceil(lines.length / SIZE) }, (_, number) => this.#chunks[number] ?? this.#chunk());
    for (const chunk of this.#chunks.slice(chunks.length)) this.#drop(chunk);
    this.#chunks = chunks;
    chunks.forEach((chunk, number) => {
      chunk.hold(lines.slice(number * SIZE, (number + 1) * SIZE));
      if (!chunk.isDrawn && (chunks.length <= WHOLE || (this.#isAtEnd && number >= chunks.length - 2))) chunk.draw();
    });
    arrange(this.#list, lines.length ? chunks.map(({ element }) => element) : [this.#silence]);
    if (before.length) this.#announce(fresh(before, lines));
    this.#follow();
  }

  /** Go to a line and mark it. @param {Line} line */
  choose(line) {
    this.#hand = performance.now();
    this.#isAtEnd = false;
    this.#mark(false);
    this.#chosen = line.key;
    const element = this.#mark(true);
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "nearest" });
  }

  /** Go to the next line or the one before. @param {1 | -1} way */
  step(way) {
    const place = this.#lines.findIndex(({ key }) => key === this.#chosen);
    const wanted = place < 0 ? this.#lines.length - 1 : place + way;
    const line = this.#lines[Math.min(this.#lines.length - 1, Math.max(0, wanted))];
    if (line) this.choose(line);
  }

  /** Be at the end, and stay there. */
  toEnd() {
    this.#isAtEnd = true;
    this.#down.hidden = true;
    this.#scroller.classList.add("follows");
    this.#chunks.slice(-2).forEach((chunk) => chunk.isDrawn || chunk.draw());
    this.#follow();
  }

  /** Mark the line that the reader is at, or not. @param {boolean} isOn */
  #mark(isOn) {
    const place = this.#lines.findIndex(({ key }) => key === this.#chosen);
    const element = place < 0 ? undefined : this.#chunks[Math.floor(place / SIZE)].find(this.#lines[place]);
    if (isOn) element?.setAttribute("tabindex", "-1");
    if (isOn) element?.setAttribute("aria-current", "true");
    else element?.removeAttribute("aria-current");
    return element;
  }

  #chunk() {
    const chunk = new Chunk();
    this.#byElement.set(chunk.element, chunk);
    this.#near.observe(chunk.element);
    return chunk;
  }

  #drop(/** @type {Chunk} */ chunk) {
    this.#byElement.delete(chunk.element);
    this.#near.unobserve(chunk.element);
  }

  /** Draw what came near, and forget what is far away, unless there is little of it. */
  #look(/** @type {IntersectionObserverEntry[]} */ found) {
    for (const { target, isIntersecting } of found) {
      const chunk = this.#byElement.get(target);
      if (isIntersecting && !chunk?.isDrawn) chunk?.draw();
      else if (!isIntersecting && this.#chunks.length > WHOLE && !target.contains(document.activeElement)) chunk?.clear();
    }
  }

  /** Read new calls of the operator to those who listen; players talk too much for that. */
  #announce(/** @type {Line[]} */ fresh) {
    const calls = this.isQuiet ? [] : fresh.filter(this.announces);
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
}

/** The lines at the end that were not there before. @param {Line[]} before @param {Line[]} lines */
function fresh(before, lines) {
  const last = before.at(-1)?.key;
  let place = lines.length;
  while (place > 0 && lines[place - 1].key !== last) place -= 1;
  return place ? lines.slice(place) : [];
}

customElements.define("chat-log", ChatLog);
