import { clock } from "../view.js";
import { Timer } from "./timer.js";

/** @import { Left } from "../view.js" */

const SHORT = 10_000; // milliseconds that are worth a warning

/** <seat-clock>: the time that a player has left, as the server's clock has it. Assign `now`, then `time`. */
class SeatClock extends Timer {
  pause = 250;
  /** @type {Left} */ time = { left: 0 };

  draw() {
    const { left, until } = this.time;
    const rest = until === undefined ? left : Math.max(0, until - this.now());
    const text = clock(rest + 999); // the last second is one too
    if (this.textContent !== text) this.textContent = text;
    this.classList.toggle("runs", until !== undefined);
    this.classList.toggle("short", until !== undefined && rest < SHORT);
    this.title = until === undefined ? "Time left; the clock stands still" : "Time left; the clock runs";
  }
}

customElements.define("seat-clock", SeatClock);
