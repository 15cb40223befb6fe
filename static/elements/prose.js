/** Words of a document: `code` between backticks, lines that begin with a dash as a list. */

import { h } from "./dom.js";

/** A line with code in it. @param {string} text @returns {(Node | string)[]} */
export function inline(text) {
  return text.split("`").map((part, place) => (place % 2 ? h("code", {}, part) : part));
}

/** A paragraph, or a list. @param {string} text */
export function prose(text) {
  const lines = text.split("\n");
  if (!lines.every((line) => line.startsWith("- "))) return h("p", {}, ...inline(text));
  return h("ul", { class: "reasons" }, ...lines.map((line) => h("li", {}, ...inline(line.slice(2)))));
}

/** A longer text as somebody typed it: paragraphs and lists, whose lines were broken by hand. @param {string} text @returns {HTMLElement[]} */
export function essay(text) {
  return text.trim().split(/\n\s*\n/).flatMap((part) => {
    const [head, ...items] = part.split(/\n(?=\s*- )|^(?=- )/);
    const whole = (/** @type {string} */ lines) => inline(lines.replaceAll(/\s*\n\s*/g, " ").trim());
    const list = items.map((item) => h("li", {}, ...whole(item.replace(/^\s*- /, ""))));
    return [...(head?.trim() ? [h("p", {}, ...whole(head))] : []), ...(list.length ? [h("ul", { class: "reasons" }, ...list)] : [])];
  });
}
