import { SPEEDS } from "../replay.js";
import { densityOf } from "../timeline.js";
import { clock } from "../view.js";
import { h } from "./dom.js";
import { svg } from "./svg.js";

/** @import { Tick, Timeline } from "../timeline.js" */

const BINS = 120;
const [WIDTH, HEIGHT] = [1_200, 40];
const LEGEND = "Bars: messages, dark ones private. Ticks: joins and the start, time that is up and attributions, the end.";
const TICKS = /** @type {const} */ ({ turn: 10, late: 20, deed: 26, breach: 26, end: HEIGHT });

/**
 * <time-line>: the course of a game to hold in one's hand; live is its right edge. Call `show`. Wishes come up as
 * events: `seek` with a moment or null for the edge (and `settled` when the hand lets go), `play`, `speed` with a number,
 * `leap` to the next attribution, and `seal` with whether secrets are to be bars again.
 */
class TimeLine extends HTMLElement {
  #range = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: 0, step: "any", "aria-label": "Moment of the game" }));
  #picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false" });
  #label = h("span", { class: "figure moment" });
  #play = /** @type {HTMLButtonElement} */ (h("button", { type: "button", class: "play", "aria-keyshortcuts": "Space" }, "Play"));
  #start = h("button", { type: "button" }, "Start");
  #edge = h("button", { type: "button", class: "edge" }, "End");
  #leap = h("button", { type: "button", class: "leap", hidden: true }, "Next attribution");
  #speed = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Speed" }, ...SPEEDS.map((speed) => h("option", { value: speed }, `${speed}×`))));
  #seal = h("button", { type: "button", class: "seal", "aria-pressed": "false", hidden: true }, "Seal secrets");
  #begin = 0;
  #end = 0;
  #drawn = "";
  /** @type {Tick[]} */ #ticks = [];

  connectedCallback() {
    if (this.childElementCount) return;
    this.append(
      h("div", { class: "strip", title: LEGEND }, this.#picture, this.#range),
      h("div", { class: "controls" }, this.#play, this.#start, this.#edge, this.#speed, this.#leap, this.#label, this.#seal),
    );
    const seek = () => this.#wish("seek", this.#begin + this.#range.valueAsNumber);
    this.#range.addEventListener("input", seek);
    this.#range.addEventListener("change", () => this.#wish("settled"));
    this.#play.addEventListener("click", () => this.#wish("play"));
    this.#start.addEventListener("click", () => this.#jump(this.#begin));
    this.#edge.addEventListener("click", () => this.#jump(null));
    this.#leap.addEventListener("click", () => this.#wish("leap"));
    this.#speed.addEventListener("change", () => this.#wish("speed", Number(this.#speed.value)));
    this.#seal.addEventListener("click", () => this.#wish("seal", this.#seal.getAttribute("aria-pressed") !== "true"));
  }

  /** @param {number | null} at */
  #jump(at) {
    this.#wish("seek", at);
    this.#wish("settled");
  }

  /** @param {string} name @param {unknown} [detail] */
  #wish(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
  }

  /**
   * @param {Timeline} timeline
   * @param {{at: number | null, end: number, isLive: boolean, isPlaying: boolean, isSealed: boolean, maySeal: boolean}} now
   *   `at`: null at the edge
   */
  show({ begin, ticks, deeds }, { at, end, isLive, isPlaying, isSealed, maySeal }) {
    [this.#begin, this.#end] = [begin, end];
    const length = Math.max(1, end - begin);
    const here = at === null ? length : Math.min(length, Math.max(0, at - begin));
    this.#range.max = String(length);
    this.#range.valueAsNumber = here;
    const words = `${clock(here)} of ${clock(length)}`;
    this.#range.setAttribute("aria-valuetext", at === null && isLive ? "live" : words);
    say(this.#label, at === null && isLive ? `live, ${clock(length)}` : words);
    say(this.#play, isPlaying ? "Pause" : "Play");
    this.#play.disabled = at === null && isLive; // there is nothing to come that does not come by itself
    say(this.#edge, isLive ? "Live" : "End");
    this.#edge.toggleAttribute("data-here", at === null);
    this.#leap.hidden = deeds.length === 0;
    this.#seal.hidden = !maySeal;
    this.#seal.setAttribute("aria-pressed", String(isSealed));
    this.#draw(ticks, begin, length);
  }

  /** Draw what has changed; a strip that has only grown by less than a pixel stays. @param {Tick[]} ticks @param {number} begin @param {number} length */
  #draw(ticks, begin, length) {
    const wanted = `${begin} ${Math.round(Math.log(length) * WIDTH)}`;
    if (ticks === this.#ticks && wanted === this.#drawn) return;
    [this.#ticks, this.#drawn] = [ticks, wanted];
    const step = WIDTH / BINS;
    const bars = densityOf(ticks, begin, begin + length, BINS).flatMap(({ open, hidden }, bin) => [
      open > 0 && svg("rect", { class: "talk", x: bin * step, width: step - 1, y: HEIGHT - high(open), height: high(open) }),
      hidden > 0 && svg("rect", { class: "hidden", x: bin * step, width: step - 1, y: HEIGHT - high(open) - high(hidden), height: high(hidden) }),
    ]);
    this.#picture.replaceChildren(...bars.filter((bar) => bar !== false), ...marks(ticks, begin, length));
  }
}

/** @param {number} share */
function high(share) {
  return share ? 2 + share * (HEIGHT - 22) : 0;
}

/** The turns of the game; those that fall on one another are drawn once. @param {Tick[]} ticks @param {number} begin @param {number} length */
function marks(ticks, begin, length) {
  /** @type {Map<string, SVGElement>} */ const found = new Map();
  for (const { at, kind } of ticks) {
    if (!(kind in TICKS)) continue;
    const x = Math.min(WIDTH - 3, Math.max(0, Math.round(((at - begin) / length) * WIDTH) - 1));
    const height = TICKS[/** @type {keyof typeof TICKS} */ (kind)];
    found.set(`${kind} ${x}`, svg("rect", { class: `tick ${kind}`, x, width: 3, y: 0, height }));
  }
  return found.values();
}

/** @param {HTMLElement} element @param {string} text */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

customElements.define("time-line", TimeLine);
