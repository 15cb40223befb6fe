import { give, h, mark, seatColour, speaker, words } from "./dom.js";
import "./live-clock.js";

/** @import { Card } from "../view.js" */

/** <session-card>: a live game on the wall. Assign `now`, then `card`; it draws itself if anything has changed. */
class SessionCard extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  #drawn = "";

  set card(/** @type {Card} */ card) {
    const wanted = JSON.stringify(card);
    if (wanted === this.#drawn) return;
    const hadFocus = this.contains(document.activeElement);
    this.#drawn = wanted;
    this.dataset.status = card.status;
    const link = h("a", { href: `#/session/${encodeURIComponent(card.id)}` }, card.title);
    const since = give(/** @type {any} */ (h("live-clock")), { since: card.since, now: this.now });
    this.replaceChildren(
      h("header", {}, h("h3", {}, link), h("span", { class: "since" }, since)),
      h("p", { class: "seats" }, ...seats(card)),
      h("p", { class: "last", dir: "auto" }, ...lastLine(card)),
      h("p", { class: "badge", "data-status": card.status }, card.label),
    );
    if (hadFocus) link.focus();
  }
}

/** @param {Card} card */
function seats({ seats }) {
  return seats.flatMap(({ seat, isTaken }) => [
    seat > 0 && h("span", { class: "versus" }, "vs"),
    isTaken
      ? h("span", { class: "speaker", "data-seat": seatColour(seat) }, mark(seat), `Player ${seat + 1}`)
      : h("span", { class: "speaker free" }, h("span", { class: "free-mark", "aria-hidden": "true" }), "free seat"),
  ]);
}

/** @param {Card} card */
function lastLine({ line, status }) {
  if (line) return [speaker(line.from), " ", h("q", {}, ...words(line.parts))];
  return [h("span", { class: "nothing" }, status === "open" ? "Not begun yet." : "Nothing public was said yet.")];
}

customElements.define("session-card", SessionCard);
