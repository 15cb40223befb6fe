/** @type {Map<number, Set<Timer>>} */ const ticking = new Map();

/** What tells a time and draws itself again and again while it is on the page. Assign `now`, the server's clock. */
export class Timer extends HTMLElement {
  pause = 1_000; // milliseconds between two looks at the clock
  /** @type {() => number} */ now = Date.now;

  connectedCallback() {
    this.setAttribute("role", "timer");
    this.setAttribute("aria-live", "off");
    together(this.pause).add(this);
    this.draw();
  }

  disconnectedCallback() {
    together(this.pause).delete(this);
  }

  draw() {}
}

/** Those that are drawn at the same moments. @param {number} pause */
function together(pause) {
  const known = ticking.get(pause);
  if (known) return known;
  /** @type {Set<Timer>} */ const elements = new Set();
  ticking.set(pause, elements);
  setInterval(() => elements.forEach((element) => element.draw()), pause);
  return elements;
}
