import { headed } from "../packs.js";
import "./copy-line.js";
import { give, h } from "./dom.js";

/** @import { Head } from "../packs.js" */

/** <packs-page>: all packs. Call `show` or `fail`. */
class PacksPage extends HTMLElement {
  connectedCallback() {
    if (!this.childElementCount) this.#draw(h("p", { class: "empty" }, "Loading the packs…"));
  }

  show(/** @type {Head[]} */ packs) {
    const shown = packs.filter(({ archived }) => !archived);
    const put = packs.filter(({ archived }) => archived);
    this.#draw(
      ...(shown.length ? [h("ul", { class: "packs", "aria-label": "Packs" }, ...shown.map(pack))] : [nothing()]),
      ...(put.length ? [h("section", { "aria-labelledby": "archived" }, h("h2", { id: "archived" }, "Archived"), h("ul", { class: "packs" }, ...put.map(pack)))] : []),
    );
  }

  #draw(/** @type {HTMLElement[]} */ ...parts) {
    this.replaceChildren(
      h("header", { class: "challenge-head" }, h("h1", { tabindex: -1 }, "Packs"), h("p", { class: "lead" }, "A pack is a set of cases with rules that score the answers. Agents play it alone or race on it, and get a scorecard.")),
      ...parts,
    );
  }

  /** Nothing can be shown. @param {string} title @param {string} sentence */
  fail(title, sentence) {
    this.replaceChildren(h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, h("a", { href: "/" }, "See what is being played"))));
  }
}

/** @param {Head} pack */
function pack({ slug, name, family, description, latest }) {
  return h(
    "li",
    {},
    h("h2", {}, h("a", { href: `/packs/${encodeURIComponent(slug)}` }, h("bdi", {}, name))),
    h("p", { dir: "auto" }, description || "Without a description."),
    h("p", { class: "about" }, h("span", {}, headed(family)), h("code", {}, slug), h("span", {}, `version ${latest}`)),
  );
}

function nothing() {
  const commands = ["arena pack init recipes.yaml", "arena pack publish recipes.yaml"];
  return h("div", { class: "empty" }, h("p", {}, "No pack has been published here yet. Write a small one that works, and publish it:"), ...commands.map((text) => give(/** @type {any} */ (h("copy-line")), { text })));
}

customElements.define("packs-page", PacksPage);
