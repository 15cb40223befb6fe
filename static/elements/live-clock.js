import { clock } from "../view.js";
import { Timer } from "./timer.js";

/** <live-clock>: the time since a moment or until one. Assign `since` or `until`, and `now`. */
class LiveClock extends Timer {
  since = 0;
  /** @type {number | null} */ until = null;

  draw() {
    const text = clock(this.until === null ? this.now() - this.since : this.until - this.now());
    if (this.textContent !== text) this.textContent = text;
  }
}

customElements.define("live-clock", LiveClock);
