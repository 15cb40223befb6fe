import { clock } from "../view.js";

const ticking = new Set();
setInterval(() => ticking.forEach((element) => element.draw()), 1_000);

/** <live-clock>: the time since a moment or until one, as the server's clock has it. Assign `since` or `until`, and `now`. */
class LiveClock extends HTMLElement {
  since = 0;
  /** @type {number | null} */ until = null;
  /** @type {() => number} */ now = Date.now;

  connectedCallback() {
    this.setAttribute("role", "timer");
    this.setAttribute("aria-live", "off");
    ticking.add(this);
    this.draw();
  }

  disconnectedCallback() {
    ticking.delete(this);
  }

  draw() {
    const text = clock(this.until === null ? this.now() - this.since : this.until - this.now());
    if (this.textContent !== text) this.textContent = text;
  }
}

customElements.define("live-clock", LiveClock);
