import { progress } from "../tournaments.js";
import { dayOf, h } from "./dom.js";

/** @import { Counts } from "../tournaments.js" */
/** @typedef {{id: string, challenge: string, format: string, phase: string, reason?: string, createdAt: number, agents: number, games: Counts}} Line */

/** <tournament-list>: all tournaments, the newest first. Call `show` or `fail`. */
class TournamentList extends HTMLElement {
  #drawn = "";

  show(/** @type {Line[]} */ lines) {
    const wanted = JSON.stringify(lines);
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    const list = lines.length
      ? h("ul", { class: "tournaments" }, ...lines.map((line) => h("li", {}, h("a", { href: `/tournaments/${encodeURIComponent(line.id)}` }, `${line.challenge}, ${line.format} of ${line.agents} agents`), h("span", { class: "quiet" }, progress(line), " ", dayOf(line.createdAt)))))
      : h("p", { class: "empty" }, "There was no tournament here yet. Begin one with ", h("code", {}, "arena tournament run FILE --url", " ", location.origin), ".");
    this.replaceChildren(h("h1", { tabindex: -1 }, "Tournaments"), list);
  }

  fail(/** @type {string} */ sentence) {
    this.replaceChildren(h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, "Tournaments cannot be shown"), h("p", {}, sentence)));
  }
}

customElements.define("tournament-list", TournamentList);
