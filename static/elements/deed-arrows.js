import { markAt, svg } from "./svg.js";

/** @import { Deed } from "../timeline.js" */
/** @typedef {{from: number, to: number, isBreach: boolean, count: number}} Arrow */

const WIDTH = 272; // of a circle; two need less
const NARROW = 208;
const SCALE = 1.5; // of a mark
const CLEAR = 16; // pixels between a mark's middle and the end of an arrow

/** <deed-arrows>: who did what to whom, drawn as arrows between marks. Call `show`; the list beside it says it in words. */
class DeedArrows extends HTMLElement {
  #drawn = "";

  /** @param {number} seats @param {Deed[]} deeds */
  show(seats, deeds) {
    const arrows = gather(deeds);
    const wanted = JSON.stringify([seats, arrows]);
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    if (arrows.length) this.replaceChildren(draw(seats, arrows));
    else this.replaceChildren();
  }
}

/** Deeds of the same kind between the same two are one arrow. @param {Deed[]} deeds @returns {Arrow[]} */
function gather(deeds) {
  /** @type {Map<string, Arrow>} */ const found = new Map();
  for (const { from, to, isBreach } of deeds) {
    if (from < 0 || to < 0) continue; // somebody who has no seat
    const key = `${from} ${to} ${isBreach}`;
    const arrow = found.get(key) ?? { from, to, isBreach, count: 0 };
    arrow.count += 1;
    found.set(key, arrow);
  }
  return [...found.values()];
}

/** @param {number} seats @param {Arrow[]} arrows */
function draw(seats, arrows) {
  const places = placesOf(seats);
  const [width, height] = [seats <= 2 ? NARROW : WIDTH, Math.max(...places.map(([, y]) => y)) + 36];
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", focusable: "false" },
    svg("defs", {}, head("deed-head", "deed"), head("breach-head", "breach-arrow")),
    ...arrows.map((arrow) => path(arrow, places)),
    ...places.map(([x, y], seat) => markAt(seat, x, y, SCALE)),
  );
}

/** Two sit face to face, more in a circle. @param {number} seats @returns {[number, number][]} */
function placesOf(seats) {
  if (seats <= 2) return [[24, 36], [NARROW - 24, 36]];
  const radius = Math.min(100, 48 + 6 * seats);
  return Array.from({ length: seats }, (_, seat) => {
    const angle = (2 * Math.PI * seat) / seats - Math.PI / 2;
    return [WIDTH / 2 + radius * Math.cos(angle), radius + 40 + radius * Math.sin(angle)];
  });
}

/** @param {string} id @param {string} kind */
function head(id, kind) {
  const shape = svg("path", { d: "M0 0 8 4 0 8z", class: kind });
  return svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, shape);
}

/** A bent arrow; the way back bends to the other side. @param {Arrow} arrow @param {[number, number][]} places */
function path({ from, to, isBreach, count }, places) {
  const [[x1, y1], [x2, y2]] = [places[from], places[to]];
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [along, across] = [[(x2 - x1) / length, (y2 - y1) / length], [(y2 - y1) / length, (x1 - x2) / length]];
  const bend = Math.min(30, length / 5) * (isBreach ? 1 : 0.35);
  const middle = [(x1 + x2) / 2 + across[0] * bend, (y1 + y2) / 2 + across[1] * bend];
  const start = [x1 + along[0] * CLEAR + across[0] * 3, y1 + along[1] * CLEAR + across[1] * 3];
  const end = [x2 - along[0] * CLEAR + across[0] * 3, y2 - along[1] * CLEAR + across[1] * 3];
  const points = [start, middle, end].map((point) => point.map((value) => value.toFixed(1)).join(" "));
  const kind = isBreach ? "breach-arrow" : "deed";
  return svg(
    "g",
    { class: kind },
    svg("path", { d: `M${points[0]} Q${points[1]} ${points[2]}`, pathLength: 1, "marker-end": `url(#${isBreach ? "breach-head" : "deed-head"})` }),
    count > 1 && svg("text", { x: middle[0] + across[0] * 4, y: middle[1] + across[1] * 4 + 4, "text-anchor": "middle" }, `×${count}`),
  );
}

customElements.define("deed-arrows", DeedArrows);
