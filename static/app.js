/**
 * The page: one connection, and the view that the address asks for.
 *
 * A view is a module in `pages/` that exports `open`; it gets what it may use and answers with what to show:
 * @typedef {{arena: Arena, params: Record<string, string>, query: URLSearchParams, now: () => number,
 *   changed: () => void, go: (address: string, how?: "push" | "replace" | "rename") => void}} Context `changed` says that the
 *   title may be another one; `go` leads to another address, or gives this view another one
 * @typedef {{element: HTMLElement, title: () => string, moved?: (query: URLSearchParams) => void,
 *   close?: () => void, keys?: [string, string][]}} View `moved` hears that only the query of the address has changed;
 *   `keys` are those that the view understands, with what they do
 */

import { Arena } from "./arena.js";
import { h } from "./elements/dom.js";
import "./elements/link-notice.js";
import "./elements/player-mark.js";

/** @type {[string, RegExp, () => Promise<{open: (context: Context) => View}>][]} */
const ROUTES = [
  ["home", /^\/$/, () => import("./pages/home.js")],
  ["boards", /^\/boards\/(?<type>[^/]+)$/, () => import("./pages/boards.js")],
  ["challenge", /^\/challenges\/(?<type>[^/]+)$/, () => import("./pages/challenge.js")],
  ["play", /^\/play(?:\/(?<id>[^/]+))?$/, () => import("./pages/play.js")],
  ["player", /^\/players\/(?<id>[^/]+)$/, () => import("./pages/player.js")],
  ["tournaments", /^\/tournaments$/, () => import("./pages/tournaments.js")],
  ["tournament", /^\/tournaments\/(?<id>[^/]+)$/, () => import("./pages/tournament.js")],
  ["session", /^\/session\/(?<id>[^/]+)$/, () => import("./pages/session.js")],
  ["scorecards", /^\/session\/(?<id>[^/]+)\/scorecards$/, () => import("./pages/scorecards.js")],
  ["packs", /^\/packs$/, () => import("./pages/packs.js")],
  ["pack", /^\/packs\/(?<slug>[^/]+)$/, () => import("./pages/pack.js")],
  ["sit", /^\/sit$/, () => import("./pages/sit.js")],
];

const arena = new Arena(location.origin);
const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const notice = /** @type {any} */ (document.querySelector("link-notice"));

/** @type {View | null} */ let view = null;
let path = "";

/** An address that is none of ours. */
const NOWHERE = { name: "nowhere", params: {}, load: async () => ({ open: () => sorry("There is no such page", "The address may not be whole.", h("a", { href: "/" }, "See what is being played")) }) };

/** The code of a view could not be had. A browser may not ask for it twice, so the link loads the whole page. */
const lost = () => ({ open: () => sorry("This page cannot be shown", "The server does not answer. Nothing is lost there; try again later.", h("a", { href: location.href, target: "_self" }, "Try again")) });

/** @param {string} title @param {string} sentence @param {HTMLElement} way out of here @returns {View} */
function sorry(title, sentence, way) {
  const element = h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, way));
  return { element, title: () => `${title} · Arena` };
}

/** The view of an address; undefined if it is none of ours. @param {string} pathname */
function find(pathname) {
  for (const [name, pattern, load] of ROUTES) {
    const found = pattern.exec(pathname);
    if (found) return { name, load, params: Object.fromEntries(Object.entries(found.groups ?? {}).flatMap(([name, part]) => (part === undefined ? [] : [[name, decode(part)]]))) };
  }
  return undefined;
}

/** An address may hold anything. @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Show what the address asks for. */
async function route() {
  const query = new URLSearchParams(location.search);
  if (view && path === location.pathname) return view.moved?.(query);
  const wanted = (path = location.pathname);
  const found = find(wanted) ?? NOWHERE;
  const { open } = await found.load().catch(lost);
  if (wanted !== path) return; // the reader has gone on meanwhile
  view?.close?.();
  document.body.dataset.view = found.name;
  view = open({ arena, params: found.params, query, now: () => arena.now(), changed, go });
  main.replaceChildren(view.element);
  changed();
}

function changed() {
  if (view) document.title = view.title();
}

/** @param {string} address @param {"push" | "replace" | "rename"} [how] a renamed view stays */
async function go(address, how = "push") {
  history[how === "push" ? "pushState" : "replaceState"](null, "", address);
  if (how === "rename") return void (path = location.pathname);
  const before = view;
  await route();
  if (view === before) return;
  main.querySelector("h1")?.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

/** Follow links to views of ours without loading the page anew. */
document.addEventListener("click", (event) => {
  const link = /** @type {Element} */ (event.target).closest?.("a[href]");
  if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target || link.hasAttribute("download")) return;
  if (link.origin !== location.origin || !find(link.pathname) || link.hash) return;
  event.preventDefault();
  go(link.href);
});
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

/** Keys that work everywhere, unless somebody is writing. */
document.addEventListener("keydown", async (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || target.closest("input, textarea, select, [contenteditable]")) return;
  if (event.key === "/") {
    const field = /** @type {HTMLElement | null} */ (main.querySelector("[data-search]"));
    if (!field) return;
    event.preventDefault();
    field.focus();
  } else if (event.key === "?") {
    event.preventDefault();
    const { help } = await import("./elements/key-help.js");
    help(view?.keys ?? []);
  }
});

arena.on("status", (status) => (notice.status = status));
notice.addEventListener("retry", () => arena.retry());
window.addEventListener("online", () => arena.retry());
window.addEventListener("popstate", route);

notice.status = arena.status;
if (location.hash.startsWith("#/session/")) history.replaceState(null, "", location.hash.slice(1)); // as older links were
route();
