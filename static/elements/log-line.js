/** One line of a log: a referee's call, a player's bubble, a bar between two players, or a turn of the game. */

import { h, seatColour, speaker, timeOf, words } from "./dom.js";

/** @import { Line } from "../view.js" */

const STEP = 60; // milliseconds between two bars that open
const LONG = 1_500; // characters that get a box of their own to scroll in

/** @param {Line} line @returns {HTMLElement} */
export function draw(line) {
  const time = h("a", { class: "moment", href: `?line=${line.name}`, "data-line": line.name, tabindex: -1 }, timeOf(line.at));
  const side = line.from.kind === "player" ? line.from.seat % 2 : 0;
  const colour = line.from.kind === "player" ? seatColour(line.from.seat) : null;
  const frame = { class: line.kind, "data-side": side, "data-seat": colour, "data-name": line.name };
  switch (line.kind) {
    case "call":
      return h("li", frame, speaker(line.from), text(line, "p"), time);
    case "speech":
      return h("li", frame, h("p", { class: "head" }, speaker(line.from), time), text(line, "div"));
    case "whisper":
      return whisper(line, frame, time);
    case "event":
      return h("li", frame, h("p", {}, ...words(line.parts), " ", time));
  }
}

/** @param {Line} line @param {Record<string, string | number | null>} frame @param {HTMLElement} time */
function whisper(line, frame, time) {
  const to = line.to ? speaker(line.to) : null;
  const arrow = h("span", { class: "to" }, h("span", { class: "unseen" }, "to"), h("span", { "aria-hidden": "true" }, "→"));
  if (line.isHidden) {
    const bar = h("span", { class: "redacted", role: "img", "aria-label": "a hidden message" });
    return h("li", frame, h("p", { class: "head" }, speaker(line.from), bar, arrow, to, time));
  }
  const note = line.wasPrivate ? "formerly private" : "private";
  return h(
    "li",
    { ...frame, "data-open": true },
    h("p", { class: "head" }, speaker(line.from), arrow, to, h("span", { class: "meta" }, h("span", { class: "note" }, note), time)),
    text(line, "div"),
  );
}

/** What was said; in its own box if it is long. @param {Line} line @param {string} tag */
function text({ parts }, tag) {
  const plain = parts.filter((part) => typeof part === "string").join("");
  const size = plain.length > LONG ? " long" : plain.includes("\n") ? "" : " brief";
  return h(tag, { class: `text${size}`, dir: "auto", tabindex: plain.length > LONG ? 0 : null }, ...words(parts));
}

/** Let a bar open in its turn. @param {HTMLElement} element @param {number} turn */
export function open(element, turn) {
  element.classList.add("unveiled");
  element.style.animationDelay = `${Math.min(turn, 40) * STEP}ms`;
}
