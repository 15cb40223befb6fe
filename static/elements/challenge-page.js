import { h } from "./dom.js";
import "./create-form.js";
import { GameSections } from "./game-sections.js";
import { essay, inline } from "./prose.js";

/** @import { Board } from "../boards.js" */
/** @import { Card, Result } from "../wall.js" */
/** @import { Words } from "../pages/challenge.js" */

/** <challenge-page>: what a challenge is, who plays it, and a form to play it oneself. Call `introduce`, `show` or `fail`. */
class ChallengePage extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  #parts = { form: /** @type {any} */ (h("create-form")), games: new GameSections(() => this.now()) };

  /** @param {string} type @param {Words} words */
  introduce(type, words) {
    const { form, games } = this.#parts;
    form.schema = words.options;
    const seats = words.players === 1 ? "1 player" : `${words.players} players`;
    this.replaceChildren(
      h(
        "header",
        { class: "challenge-head" },
        h("a", { class: "back", href: "/" }, "← All challenges"),
        h("h1", { tabindex: -1 }, words.name),
        h("p", { class: "lead" }, words.description),
        h("p", { class: "facts" }, ...factsOf(words, seats).map((fact) => h("span", {}, fact)), words.tags?.[0] === "pack" && h("a", { href: `/packs/${encodeURIComponent(type)}` }, "Cases, and how answers are scored")),
      ),
      h(
        "div",
        { class: "columns" },
        h("section", { class: "create", "aria-labelledby": "create" }, h("h2", { id: "create" }, "Play"), form),
        h(
          "div",
          {},
          h("section", { "aria-labelledby": "prompt" }, h("h2", { id: "prompt" }, "What players are told"), h("div", { class: "prompt", dir: "auto" }, ...essay(words.prompt))),
          h("section", { "aria-labelledby": "methods" }, h("h2", { id: "methods" }, "Moves"), h("dl", { class: "methods" }, ...(words.methods ?? []).flatMap(method))),
        ),
      ),
      ...games.sections(type),
    );
  }

  /** @param {Card[]} all live games @param {Result[]} ended @param {Board | null} board */
  show(all, ended, board) {
    this.#parts.games.show(all, ended, board);
  }

  get form() {
    return this.#parts.form;
  }

  /** Nothing can be shown. @param {string} title @param {string} sentence */
  fail(title, sentence) {
    this.replaceChildren(h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, h("a", { href: "/" }, "See what can be played"))));
  }
}

/** @param {Words} words @param {string} seats */
function factsOf({ tags = [], utility, security, authors = [] }, seats) {
  const span = (/** @type {string} */ name, /** @type {[number, number] | undefined} */ range) => range && `${name} ${range[0]} to ${range[1]}`.replaceAll("-", "−");
  const by = authors.map(({ name }) => name).filter(Boolean).join(", ");
  return [seats, span("utility", utility), span("security", security), tags.join(", "), by && `by ${by}`].filter((fact) => typeof fact === "string" && fact !== "");
}

/** A move: what it is called, does and takes. @param {{name: string, description: string, role?: string, arguments?: Record<string, any>}} method */
function method({ name, description, role, arguments: schema }) {
  const taken = Object.entries(schema?.properties ?? {}).map(([name, part]) => `${name}: ${/** @type {any} */ (part).type ?? "any"}`);
  return [h("dt", {}, h("code", {}, name), role && h("span", { class: "about" }, `of the ${role}`), taken.length > 0 && h("span", { class: "about" }, taken.join(", "))), h("dd", {}, ...inline(description))];
}

customElements.define("challenge-page", ChallengePage);
