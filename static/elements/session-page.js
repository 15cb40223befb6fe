import { attributionsOf, linesOf, playersOf, short } from "../view.js";
import { give, h } from "./dom.js";
import "./chat-log.js";
import "./live-clock.js";
import "./player-list.js";

/** @import { Session } from "../view.js" */

const STATUS = { open: "waiting for players", active: "live", ended: "ended" };

/** <session-page>: one game, live or after its end. Call `show` with what is known, or `fail` with what went wrong. */
class SessionPage extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  #parts = {
    title: h("h1", { tabindex: -1 }, "Loading…"),
    facts: h("p", { class: "facts" }),
    players: /** @type {any} */ (h("player-list")),
    log: /** @type {any} */ (h("chat-log")),
  };
  #facts = "";

  connectedCallback() {
    if (this.childElementCount) return;
    const { title, facts, players, log } = this.#parts;
    this.append(
      h("header", { class: "session-head" }, h("a", { class: "back", href: "#/" }, "← All games"), title, facts),
      h("aside", { "aria-label": "Players" }, h("h2", { class: "unseen" }, "Players"), players),
      log,
    );
  }

  show(/** @type {Session} */ session) {
    const { challenge } = session;
    if (!challenge) return;
    const { title, players, log } = this.#parts;
    if (title.textContent !== challenge.name) title.textContent = challenge.name;
    this.dataset.status = challenge.state.status;
    this.#showFacts(session);
    players.show(playersOf(session), attributionsOf(challenge), challenge.state.status === "ended");
    log.lines = linesOf(session);
  }

  #showFacts(/** @type {Session} */ { id, challenge, spectators }) {
    if (!challenge) return;
    const { status, completedAt } = challenge.state;
    const wanted = JSON.stringify([id, status, completedAt, spectators]);
    if (wanted === this.#facts) return;
    this.#facts = wanted;
    const end = completedAt;
    const now = status === "ended" && end !== undefined ? () => end : this.now;
    const watching = spectators === 1 ? "1 watching" : `${spectators} watching`;
    this.#parts.facts.replaceChildren(
      h("span", { class: "badge", "data-status": status }, STATUS[status]),
      give(/** @type {any} */ (h("live-clock", { title: "Time since the session was opened" })), { since: challenge.createdAt, now }),
      h("span", { class: "figure" }, watching),
      h("code", { class: "handle", title: id }, short(id)),
    );
  }

  /** Nothing can be shown. @param {string} title @param {string} sentence */
  fail(title, sentence) {
    this.dataset.status = "failed";
    this.replaceChildren(
      h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, h("a", { href: "#/" }, "See what is being played"))),
    );
  }
}

customElements.define("session-page", SessionPage);
