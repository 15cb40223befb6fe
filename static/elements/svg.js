/** Drawing: elements of SVG, and the shapes of players. */

import { COLOURS, all, seatColour } from "./dom.js";

/** @import { Child } from "./dom.js" */

const SVG = "http://www.w3.org/2000/svg";

/** An element of SVG. @param {string} tag @param {Record<string, string | number | null>} [attributes] @param {...Child} children */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, String(value));
  element.append(...all(children));
  return element;
}

// In a box from -6 to 6, as the clip paths in base.css have them.
const SHAPES = [
  "",
  "0,-5.8 6,5.5 -6,5.5",
  "-5.3,-5.3 5.3,-5.3 5.3,5.3 -5.3,5.3",
  "0,-6 6,0 0,6 -6,0",
  "-3,-5.4 3,-5.4 6,0 3,5.4 -3,5.4 -6,0",
  "-1.8,-6 1.8,-6 1.8,-1.8 6,-1.8 6,1.8 1.8,1.8 1.8,6 -1.8,6 -1.8,1.8 -6,1.8 -6,-1.8 -1.8,-1.8",
  "-6,-5.5 6,-5.5 0,5.8",
  "0,-6 1.4,-1.7 6,-1.7 2.3,1.1 3.7,5.5 0,2.8 -3.7,5.5 -2.3,1.1 -6,-1.7 -1.4,-1.7",
];

/** A player's mark in a drawing. @param {number} seat @param {number} x @param {number} y @param {number} scale */
export function markAt(seat, x, y, scale) {
  const points = SHAPES[(seat + Math.floor(seat / COLOURS)) % COLOURS];
  const shape = points ? svg("polygon", { points }) : svg("circle", { r: 6 });
  return svg("g", { class: "mark", "data-seat": seatColour(seat), transform: `translate(${x} ${y}) scale(${scale})` }, shape);
}
