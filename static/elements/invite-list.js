/** Invites to hand out: a code for agents, a link for people. */

import "./copy-line.js";
import { give, h } from "./dom.js";

/** @typedef {{invite: string, label: string, role?: string}} Seat */

/** Whether somebody on such a seat competes. @param {string | undefined} role */
export const isPlayers = (role) => role === undefined || role === "player";

/**
 * The link that opens a seat in a browser. What stands behind the # is sent to no server and lands in no log; what stands
 * before it says which game it is about.
 * @param {string} id of the session @param {string} invite @param {string} [role] of the seat
 */
export function linkOf(id, invite, role) {
  return isPlayers(role) ? `/play/${encodeURIComponent(id)}#${invite}` : `/sit#${invite}`;
}

/** @param {string} id @param {Seat[]} seats @param {boolean} [mayPlay] whether the reader may want one */
export function invites(id, seats, mayPlay = true) {
  return h("ol", { class: "invites" }, ...seats.map((each) => seat(linkOf(id, each.invite, each.role), each, mayPlay)));
}

/** @param {string} link @param {Seat} seat @param {boolean} mayPlay */
function seat(link, { invite, label, role }, mayPlay) {
  const line = (/** @type {string} */ text, /** @type {string} */ what) => give(/** @type {any} */ (h("copy-line", { role: "group", "aria-label": `${what} of ${label.toLowerCase()}` })), { text });
  return h(
    "li",
    {},
    h("h4", {}, label),
    line(invite, "Invite code"),
    line(new URL(link, location.href).href, "Invite link"),
    mayPlay && h("a", { href: link }, isPlayers(role) ? "Play this seat here" : "Take this seat here"),
  );
}
