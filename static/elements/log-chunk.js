import { arrange, h } from "./dom.js";
import { draw, open } from "./log-line.js";

/** @import { Line } from "../view.js" */

const HEIGHT = 60; // pixels that a line has until it was drawn, as a guess
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * A stretch of a log, which is drawn only while it is near what the reader sees; else it is as high as it was. So a
 * log of ten thousand messages costs the page what a few screens of it cost.
 */
export class Chunk {
  element = h("ol", { class: "lines" });
  isDrawn = false;
  /** @type {Line[]} */ #lines = [];
  /** @type {Map<string, {line: Line, element: HTMLElement}>} */ #known = new Map();

  /** Hold these lines, drawn or not. @param {Line[]} lines */
  hold(lines) {
    if (lines.length === this.#lines.length && lines.every((line, place) => line === this.#lines[place])) return;
    this.#lines = lines;
    if (this.isDrawn) this.draw();
    else this.#reserve(lines.length * HEIGHT);
  }

  /** Draw what is not drawn yet. */
  draw() {
    const before = this.#known;
    let opened = 0;
    this.#known = new Map(
      this.#lines.map((line) => {
        const known = before.get(line.key);
        if (known?.line === line) return [line.key, known];
        const element = draw(line);
        if (known?.line.isHidden && !line.isHidden && !calm.matches) open(element, opened++);
        return [line.key, { line, element }];
      }),
    );
    arrange(this.element, Array.from(this.#known.values(), ({ element }) => element));
    this.element.style.blockSize = "";
    this.isDrawn = true;
  }

  /** Forget the drawing, and keep its place. */
  clear() {
    if (!this.isDrawn) return;
    const height = this.element.offsetHeight;
    this.isDrawn = false;
    this.#known = new Map();
    this.element.replaceChildren();
    this.#reserve(height || this.#lines.length * HEIGHT);
  }

  /** The element of a line, drawn if need be; undefined if it is none of ours. @param {Line} line */
  find(line) {
    if (!this.isDrawn) this.draw();
    return this.#known.get(line.key)?.element;
  }

  #reserve(/** @type {number} */ height) {
    this.element.style.blockSize = `${height}px`;
  }
}
