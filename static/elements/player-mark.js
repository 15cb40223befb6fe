import { COLOURS, seatColour } from "./dom.js";

/** <player-mark seat="0">: a player as a colour and a shape. Says nothing by itself: a name stands beside it. */
customElements.define(
  "player-mark",
  class extends HTMLElement {
    connectedCallback() {
      const seat = Number(this.getAttribute("seat"));
      this.setAttribute("aria-hidden", "true");
      this.dataset.seat = String(seatColour(seat));
      this.dataset.shape = String((seat + Math.floor(seat / COLOURS)) % COLOURS);
    }
  },
);
