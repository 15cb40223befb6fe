/** The few words that all elements are written in. Text enters the page here, as text. */

import { seatName, short } from "../view.js";

/** @import { Part, Speaker } from "../view.js" */
/** @typedef {Node | string | null | undefined | false} Child */

/**
 * An element with attributes and children; `false` and nothing leave a place empty.
 * @param {string} tag @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @param {...Child} children @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...all(children));
  return element;
}

/** The children that are there. @param {Child[]} children @returns {(Node | string)[]} */
export function all(children) {
  return children.filter((child) => child !== null && child !== undefined && child !== false);
}

/** An element of ours with its properties set. @template {HTMLElement} T @param {T} element @param {Partial<T>} properties */
export function give(element, properties) {
  return Object.assign(element, properties);
}

/** A player's mark: a colour and a shape. @param {number} seat */
export function mark(seat) {
  return h("player-mark", { seat });
}

/** A player's name, which may be anything and must not reorder what stands around it. @param {string} name */
export function nameOf(name) {
  return h("bdi", { class: "name", title: name.length > 20 ? name : null }, short(name));
}

/** Who speaks: the mark and the name. @param {Speaker} speaker */
export function speaker(speaker) {
  switch (speaker.kind) {
    case "operator":
      return h("span", { class: "speaker operator" }, "Operator");
    case "player":
      return h("span", { class: "speaker", "data-seat": seatColour(speaker.seat) }, mark(speaker.seat), nameOf(speaker.name));
    case "stranger":
      return h("span", { class: "speaker" }, nameOf(speaker.name));
  }
}

/** A text with players in it. @param {Part[]} parts @returns {(Node | string)[]} */
export function words(parts) {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    const label = String(part.seat + 1);
    return h("span", { class: "speaker", "data-seat": seatColour(part.seat), title: seatName(part.seat) }, mark(part.seat), label);
  });
}

export const COLOURS = 8;

/** Which of the colours a seat has; the shape tells those apart that share one. @param {number} seat */
export function seatColour(seat) {
  return seat % COLOURS;
}

/** Put children in place of those that are there, without touching the ones that stay. @param {Element} parent @param {Node[]} children */
export function arrange(parent, children) {
  /** @type {Set<Node> | undefined} */ let wanted;
  let at = parent.firstChild;
  for (const child of children) {
    while (at && at !== child && !(wanted ??= new Set(children)).has(at)) at = removed(at);
    if (at === child) at = at.nextSibling;
    else parent.insertBefore(child, at);
  }
  while (at) at = removed(at);
}

/** Take a node away; the one behind it. @param {ChildNode} node */
function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

const CLOCK = /** @type {const} */ ({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const toMinutes = new Intl.DateTimeFormat(undefined, CLOCK);
const toSeconds = new Intl.DateTimeFormat(undefined, { ...CLOCK, second: "2-digit" });
const toDays = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A moment of the reader's day. @param {number} milliseconds @param {boolean} [withSeconds] */
export function timeOf(milliseconds, withSeconds = true) {
  const date = new Date(milliseconds);
  const text = (withSeconds ? toSeconds : toMinutes).format(date);
  return h("time", { datetime: date.toISOString(), title: toDays.format(date) }, text);
}

const ofThisYear = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const ofAnyYear = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });

/** A moment by its day; one of today by its time. @param {number} milliseconds */
export function dayOf(milliseconds) {
  const [date, today] = [new Date(milliseconds), new Date()];
  if (date.toDateString() === today.toDateString()) return timeOf(milliseconds, false);
  const text = (date.getFullYear() === today.getFullYear() ? ofThisYear : ofAnyYear).format(date);
  return h("time", { datetime: date.toISOString(), title: toDays.format(date) }, text);
}
