import { textOf } from "../calls.js";
import { give, h } from "./dom.js";
import "./live-clock.js";

/** @typedef {{ballot: string, case: string, A: unknown, B: unknown, until: number}} Ballot two outputs without names */

/**
 * <ballot-box>: pairs of outputs to vote on, one after the other. Assign `now`; call `show` with the open ballots and
 * what was voted by ballot. A vote comes up as `vote` with `ballot` and `choice`; call `refuse` if it was not taken.
 */
class BallotBox extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  #drawn = "";
  #isVoting = false; // a button that is pressed loses the focus with its disabling
  #problem = h("p", { class: "problem", role: "alert" });

  /** @param {Ballot[]} ballots @param {Record<string, string>} voted */
  show(ballots, voted) {
    const wanted = JSON.stringify([ballots, voted]);
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    this.#problem.textContent = "";
    const hadFocus = this.#isVoting || this.contains(document.activeElement);
    this.#isVoting = false;
    if (ballots.length === 0) return this.replaceChildren();
    const open = ballots.filter(({ ballot }) => !(ballot in voted));
    this.replaceChildren(
      h(
        "section",
        { "aria-labelledby": "ballot" },
        h("header", {}, h("h2", { id: "ballot", tabindex: -1 }, open.length ? "Which answer is better?" : "Thank you for your votes"), h("p", { class: "facts" }, h("span", {}, `${ballots.length - open.length} of ${ballots.length} voted`), h("span", {}, "closes in ", give(/** @type {any} */ (h("live-clock")), { until: Math.max(...ballots.map(({ until }) => until)), now: this.now })))),
        open.length ? this.#pair(open[0]) : h("p", {}, "The result counts when all pairs are closed. You see how it came out in the scorecards."),
        this.#problem,
      ),
    );
    if (hadFocus) this.querySelector("h2")?.focus();
  }

  /** @param {Ballot} pair */
  #pair({ ballot, case: key, A, B }) {
    const output = (/** @type {string} */ side, /** @type {unknown} */ said) => h("article", { "aria-label": `Answer ${side}` }, h("h3", {}, side), h("div", { class: "text", dir: "auto", tabindex: 0 }, textOf(said)));
    const button = (/** @type {string} */ choice, /** @type {string} */ words) => {
      const made = h("button", { type: "button", "data-choice": choice }, words);
      made.addEventListener("click", () => this.#vote(ballot, choice));
      return made;
    };
    return h(
      "div",
      { class: "pair" },
      h("p", { class: "about" }, "Case ", h("bdi", {}, key), ". Who wrote what is not told before the vote is over."),
      output("A", A),
      output("B", B),
      h("p", { class: "choices" }, button("A", "A is better"), button("tie", "Both the same"), button("B", "B is better")),
    );
  }

  /** @param {string} ballot @param {string} choice */
  #vote(ballot, choice) {
    this.#isVoting = true;
    for (const button of this.querySelectorAll("button")) button.disabled = true;
    this.dispatchEvent(new CustomEvent("vote", { detail: { ballot, choice }, bubbles: true }));
  }

  /** It was not taken. @param {string} sentence */
  refuse(sentence) {
    this.#isVoting = false;
    for (const button of this.querySelectorAll("button")) button.disabled = false;
    this.#problem.textContent = sentence;
  }
}

customElements.define("ballot-box", BallotBox);
