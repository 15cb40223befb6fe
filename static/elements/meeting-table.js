/** Who met whom, as a table: rows against columns. */

import { matrixOf, sideOf } from "../boards.js";
import { h, nameOf } from "./dom.js";

/** @import { Met } from "../boards.js" */

const WORDS = { ahead: "ahead", behind: "behind", even: "even" };

/** @param {string[]} players @param {Met[]} meetings @param {Map<string, string>} names */
export function meetingTable(players, meetings, names) {
  const nameFor = (/** @type {string} */ id) => names.get(id) ?? id;
  const link = (/** @type {string} */ id) => h("a", { class: "to-player", href: `/players/${encodeURIComponent(id)}` }, nameOf(nameFor(id)));
  return h(
    "div",
    { class: "wide", role: "region", "aria-label": "Head to head", tabindex: 0 },
    h(
      "table",
      { class: "matrix" },
      h("caption", {}, "Games won, tied and lost by the player of the row against that of the column."),
      h("thead", {}, h("tr", {}, h("td", {}), ...players.map((id) => h("th", { scope: "col" }, h("span", { class: "slanted" }, nameOf(nameFor(id))))))),
      h(
        "tbody",
        {},
        ...matrixOf(players, meetings).map(({ player, cells }) => h("tr", {}, h("th", { scope: "row" }, link(player)), ...cells.map((met, column) => cell(met, players[column] === player)))),
      ),
    ),
  );
}

/** @param {Met | null} met @param {boolean} isSelf */
function cell(met, isSelf) {
  if (isSelf) return h("td", { class: "self" }, h("span", { class: "unseen" }, "the same player"));
  if (!met) return h("td", { class: "none" }, "·", h("span", { class: "unseen" }, "never met"));
  const side = sideOf(met);
  const title = `${met.games} ${met.games === 1 ? "game" : "games"}: ${met.wins} won, ${met.ties} tied, ${met.losses} lost`;
  return h("td", { class: "met figure", "data-side": side, title }, `${met.wins}/${met.ties}/${met.losses}`, h("span", { class: "unseen" }, `, ${WORDS[side]}`));
}
