import { clock } from "../view.js";
import { give, h, mark, seatColour, speaker, words } from "./dom.js";
import "./live-clock.js";

/** @import { Card } from "../wall.js" */

/**
 * <session-card>: a live game on the wall. Assign `now`, then `card`; it draws itself if anything has changed, and if
 * `isNear` is false later, when it comes into view.
 */
class SessionCard extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  /** @type {Card | null} */ #card = null;
  #drawn = "";
  #isNear = true;

  set card(/** @type {Card} */ card) {
    if (card === this.#card) return;
    this.#card = card;
    if (this.#isNear || !this.#drawn) this.#draw(card);
  }

  set isNear(/** @type {boolean} */ isNear) {
    this.#isNear = isNear;
    if (isNear && this.#card) this.#draw(this.#card);
  }

  #draw(/** @type {Card} */ card) {
    const wanted = JSON.stringify(card);
    if (wanted === this.#drawn) return;
    const hadFocus = this.contains(document.activeElement);
    this.#drawn = wanted;
    this.dataset.status = card.status;
    const link = h("a", { href: `/session/${encodeURIComponent(card.id)}` }, card.title);
    const since = give(/** @type {any} */ (h("live-clock", { title: "Time since the session was opened" })), { since: card.since, now: this.now });
    this.replaceChildren(
      h("header", {}, h("h3", {}, link), h("span", { class: "since" }, since)),
      h("p", { class: "seats" }, ...this.#seats(card)),
      h("p", { class: "last", dir: "auto" }, ...lastLine(card)),
      h("footer", {}, h("span", { class: "badge", "data-status": card.status }, card.label), card.spectators > 0 && h("span", { class: "watching" }, `${card.spectators} watching`)),
    );
    if (hadFocus) link.focus();
  }

  #seats(/** @type {Card} */ { seats }) {
    return seats.flatMap(({ seat, isTaken, clock }) => [
      seat > 0 && h("span", { class: "versus" }, "vs"),
      isTaken
        ? h("span", { class: "speaker", "data-seat": seatColour(seat) }, mark(seat), `Player ${seat + 1}`, clock && this.#clock(clock))
        : h("span", { class: "speaker free" }, h("span", { class: "free-mark", "aria-hidden": "true" }), "free seat"),
    ]);
  }

  /** The time that a seat has left; it runs while it is that player's turn. */
  #clock(/** @type {{left: number, until?: number}} */ { left, until }) {
    if (until === undefined) return h("span", { class: "left figure" }, clock(left));
    return give(/** @type {any} */ (h("live-clock", { class: "left running" })), { until, now: this.now });
  }
}

/** @param {Card} card */
function lastLine({ line, status }) {
  if (line) return [speaker(line.from), " ", h("q", {}, ...words(line.parts))];
  return [h("span", { class: "nothing" }, status === "open" ? "Not begun yet." : "Nothing public was said yet.")];
}

customElements.define("session-card", SessionCard);
