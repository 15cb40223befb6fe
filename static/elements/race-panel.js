import { STAGES, gridOf, placeOf } from "../packs.js";
import { all, h, mark, seatColour } from "./dom.js";

/** @import { Run } from "../packs.js" */

/** <race-panel>: how far the seats of a pack are, case by case. Call `show` with the runs, and the address of the scorecards once there are some. */
class RacePanel extends HTMLElement {
  #drawn = "";

  /** @param {Run[]} runs @param {string | null} cards */
  show(runs, cards) {
    const wanted = JSON.stringify([runs, cards]);
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    const { seats, cases } = gridOf(runs);
    const heads = seats.map((seat) => h("th", { scope: "col", class: "seat" }, h("span", { class: "speaker", "data-seat": seatColour(seat), title: `Player ${seat + 1}` }, mark(seat), String(seat + 1))));
    const rows = cases.map(({ name, runs }) => h("tr", {}, h("th", { scope: "row" }, h("bdi", { title: name }, name)), ...runs.map(cell)));
    const parts = [
      h("h2", {}, "Progress"),
      cards && h("p", {}, h("a", { class: "to-cards", href: cards }, "See the scorecards")),
      !cards && h("ul", { class: "places" }, ...seats.map((seat) => place(runs, seat))),
      h("div", { class: "wide", role: "region", "aria-label": "Progress by case", tabindex: 0 }, h("table", { class: "race" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Case"), ...heads)), h("tbody", {}, ...rows))),
      legend(runs),
    ];
    this.replaceChildren(...all(parts));
  }
}

/** Where a seat is. @param {Run[]} runs @param {number} seat */
function place(runs, seat) {
  const { done, of, at } = placeOf(runs, seat);
  const here = at.length === 1 ? ["at ", h("bdi", {}, at[0])] : at.length > 1 ? [`at ${at.length} cases`] : [done === of ? "through" : "not begun"];
  return h("li", {}, h("span", { class: "speaker", "data-seat": seatColour(seat) }, mark(seat), String(seat + 1)), h("span", { class: "place" }, ...here), h("span", { class: "figure" }, `${done} of ${of}`));
}

/** @param {Run | undefined} run */
function cell(run) {
  if (!run) return h("td", { class: "stage" });
  const [words, sign] = run.failed ? ["failed", "✕"] : STAGES[run.stage];
  return h("td", { class: "stage", "data-stage": run.failed ? "failed" : run.stage, title: run.failed ? `failed: ${run.failed}` : words }, h("span", { "aria-hidden": "true" }, sign), h("span", { class: "unseen" }, words));
}

/** What the signs mean, of those that are there. @param {Run[]} runs */
function legend(runs) {
  const stages = [...new Set(runs.map(({ stage, failed }) => (failed ? "failed" : stage)))];
  const signs = /** @type {Record<string, readonly [string, string]>} */ ({ ...STAGES, failed: ["failed", "✕"] });
  return h("p", { class: "legend", "aria-hidden": "true" }, ...stages.map((stage) => h("span", { "data-stage": stage }, `${signs[stage][1]} ${signs[stage][0]}`)));
}

customElements.define("race-panel", RacePanel);
