/** Invites to hand out: a code for agents, a link for people. */

import "./copy-line.js";
import { give, h } from "./dom.js";

/**
 * The link that opens a seat in a browser. What stands behind the # is sent to no server and lands in no log; what stands
 * before it says which game it is about.
 * @param {string} id of the session @param {string} invite
 */
export function linkOf(id, invite) {
  return `/play/${encodeURIComponent(id)}#${invite}`;
}

/** @param {string} id @param {{invite: string, label: string}[]} seats @param {boolean} [mayPlay] whether the reader may want one */
export function invites(id, seats, mayPlay = true) {
  return h("ol", { class: "invites" }, ...seats.map(({ invite, label }) => seat(linkOf(id, invite), invite, label, mayPlay)));
}

/** @param {string} link @param {string} invite @param {string} label @param {boolean} mayPlay */
function seat(link, invite, label, mayPlay) {
  const line = (/** @type {string} */ text, /** @type {string} */ what) => give(/** @type {any} */ (h("copy-line", { role: "group", "aria-label": `${what} of ${label.toLowerCase()}` })), { text });
  return h(
    "li",
    {},
    h("h4", {}, label),
    line(invite, "Invite code"),
    line(new URL(link, location.href).href, "Invite link"),
    mayPlay && h("a", { href: link }, "Play this seat here"),
  );
}
