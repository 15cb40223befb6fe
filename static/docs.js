/** The documentation: /openapi.json as a page. */

import { give, h } from "./elements/dom.js";
import "./elements/api-operation.js";
import "./elements/copy-line.js";
import { inline } from "./elements/prose.js";
import { operationsOf, resolver } from "./openapi.js";

/** @import { Document, Operation } from "./openapi.js" */

const main = /** @type {HTMLElement} */ (document.querySelector("main"));

/** @param {Document} api */
function draw(api) {
  const resolve = resolver(api);
  const operations = operationsOf(api);
  const chapters = api.tags.map((tag) => chapter(tag, operations.filter((one) => one.tags[0] === tag.name), resolve));
  main.replaceChildren(contents(api, operations), h("div", { class: "pages" }, opening(api), ...chapters));
  openNamed();
}

/** @param {Document} api @param {Operation[]} operations */
function contents(api, operations) {
  const filter = /** @type {HTMLInputElement} */ (
    h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the routes", "aria-keyshortcuts": "/" })
  );
  filter.addEventListener("input", () => narrow(filter.value.trim().toLowerCase()));
  const lists = api.tags.map((tag) => {
    const links = operations.filter((one) => one.tags[0] === tag.name).map((one) =>
      h("li", { "data-words": wordsOf(one) }, h("a", { href: `#${one.operationId}` }, ...inline(one.summary))),
    );
    return h("section", {}, h("h2", {}, tag.name), h("ul", {}, ...links));
  });
  return h("nav", { "aria-label": "Routes" }, filter, ...lists, h("p", { class: "empty", hidden: true }, "No route has these words."));
}

/** @param {Document} api */
function opening(api) {
  const auth = api.info["x-auth-mode"] === "required";
  const line = give(/** @type {any} */ (document.createElement("copy-line")), { text: api.servers[0].url });
  return h(
    "section",
    { class: "opening" },
    h("h1", { tabindex: -1 }, "Documentation"),
    h("p", { class: "facts" }, `Version ${api.info.version} · OpenAPI ${api.openapi} · `, h("span", { class: "mode" }, auth ? "auth mode" : "open mode")),
    line,
    ...api.info.description.split("\n\n").map((part) => h("p", {}, ...inline(part))),
    h(
      "p",
      { class: "elsewhere" },
      h("a", { href: "/skill.md" }, "Skill for agents"),
      h("a", { href: "/openapi.json" }, "OpenAPI"),
      h("a", { href: "/asyncapi.json" }, "AsyncAPI of the WebSocket"),
      h("a", { href: "/llms.txt" }, "llms.txt"),
    ),
    ...schemes(api),
  );
}

/** @param {Document} api */
function schemes(api) {
  const known = Object.entries(api.components.securitySchemes ?? {});
  if (!known.length) return [];
  const rows = known.map(([name, scheme]) => h("li", {}, h("code", {}, name), " ", ...inline(scheme.description)));
  return [h("h2", {}, "Showing who you are"), h("ul", { class: "schemes" }, ...rows)];
}

/** @param {{name: string, description: string}} tag @param {Operation[]} operations @param {ReturnType<typeof resolver>} resolve */
function chapter(tag, operations, resolve) {
  const entries = operations.map((one) => {
    const entry = give(/** @type {any} */ (document.createElement("api-operation")), { resolve, operation: one });
    entry.id = one.operationId;
    entry.dataset.words = wordsOf(one);
    return entry;
  });
  return h("section", { class: "chapter" }, h("h2", {}, tag.name), h("p", { class: "note" }, tag.description), ...entries);
}

/** @param {Operation} one */
function wordsOf(one) {
  return `${one.method} ${one.path} ${one.summary} ${one.operationId}`.toLowerCase();
}

/** Leave only what has these words. @param {string} words */
function narrow(words) {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (main.querySelectorAll("[data-words]"))) {
    one.hidden = !(one.dataset.words ?? "").includes(words);
  }
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (main.querySelectorAll("nav section, .chapter"))) {
    part.hidden = !part.querySelector("[data-words]:not([hidden])");
  }
  const none = /** @type {HTMLElement} */ (main.querySelector("nav .empty"));
  none.hidden = main.querySelector("[data-words]:not([hidden])") !== null;
}

/** Open the route that the address names. */
function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named?.localName !== "api-operation") return;
  /** @type {any} */ (named).open();
  named.scrollIntoView();
}

window.addEventListener("hashchange", openNamed);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  main.querySelector("input")?.focus();
});

try {
  const answer = await fetch("/openapi.json");
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  draw(await answer.json());
} catch (error) {
  const words = `${error instanceof Error ? error.message : error}. Try again in a moment.`;
  main.replaceChildren(h("div", { class: "failure" }, h("h1", {}, "The documentation could not be read"), h("p", {}, words)));
}
