/** Playhead: where a reader is in a game, and how it goes on from there. */

import { SPEEDS, advance, lastMoment, nextMoment } from "./replay.js";

/** @import { Deed, Timeline } from "./timeline.js" */

const TICK = 50; // milliseconds between two steps

export class Playhead {
  /** @type {number | null} */ at = null; // null at the edge: live, or the end
  speed = SPEEDS[0];
  /** @type {ReturnType<typeof setInterval> | undefined} */ #timer;

  /**
   * @param {() => Timeline} timeline @param {() => number} edge where it ends for now
   * @param {() => void} moved called with every step of a replay
   */
  constructor(timeline, edge, moved) {
    this.timeline = timeline;
    this.edge = edge;
    this.moved = moved;
  }

  get isPlaying() {
    return this.#timer !== undefined;
  }

  /** Be at a moment; null and all that lies behind the end is the edge. @param {number | null} at */
  go(at) {
    this.stop();
    this.#set(at);
  }

  /** Go a moment back or on, or some of them. @param {1 | -1} way @param {number} count */
  step(way, count) {
    const { lines, begin } = this.timeline();
    let at = this.at ?? this.edge();
    for (let done = 0; done < count; done += 1) {
      const found = way < 0 ? lastMoment(lines, at) : nextMoment(lines, at);
      if (found === undefined) return this.go(way < 0 ? begin : null);
      at = found;
    }
    this.go(at);
  }

  /** Go on by itself until the edge; at the end, from the beginning. */
  play() {
    const { lines, begin } = this.timeline();
    if (this.at === null) this.go(begin);
    if (lines.length === 0 || this.isPlaying) return;
    let before = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#set(advance(this.timeline().lines, this.at ?? this.edge(), now - before, this.speed));
      before = now;
      if (this.at === null) this.stop();
      this.moved();
    }, TICK);
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The next attribution; after the last one the first. @returns {Deed | undefined} */
  nextDeed() {
    const deeds = [...this.timeline().deeds].sort((one, other) => one.at - other.at);
    const here = this.at ?? Infinity;
    return deeds.find(({ at }) => at > here) ?? deeds[0];
  }

  #set(/** @type {number | null} */ at) {
    this.at = at === null || at >= this.edge() ? null : Math.max(at, this.timeline().begin);
  }
}
