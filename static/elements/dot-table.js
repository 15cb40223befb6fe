/** A scatter as a table, for those who cannot see it. */

import { figure } from "../boards.js";
import { h, nameOf } from "./dom.js";

/** @import { Dot } from "../boards.js" */

/** @param {Dot[]} dots @param {{x: string, y: string}} labels */
export function dotTable(dots, labels) {
  const range = (/** @type {number} */ value, /** @type {[number, number] | null} */ span) => (span ? `${figure(value)} (${figure(span[0])} to ${figure(span[1])})` : figure(value));
  const rows = [...dots].sort((one, other) => Number(other.isFront) - Number(one.isFront) || other.y - one.y);
  return h(
    "details",
    { class: "as-table" },
    h("summary", {}, "The same as a table"),
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Player"), h("th", { scope: "col", class: "number" }, labels.y), h("th", { scope: "col", class: "number" }, labels.x), h("th", { scope: "col" }, "On the front"))),
      h(
        "tbody",
        {},
        ...rows.map((dot) =>
          h("tr", {}, h("th", { scope: "row" }, nameOf(dot.name)), h("td", { class: "number" }, range(dot.y, dot.up)), h("td", { class: "number" }, range(dot.x, dot.across)), h("td", {}, dot.isFront ? "yes" : "no")),
        ),
      ),
    ),
  );
}
