/** <api-operation>: one route, closed at first. Assign `resolve`, then `operation`. */

import { addressOf, kindOf } from "../openapi.js";
import { give, h } from "./dom.js";
import { inline, prose } from "./prose.js";
import "./schema-view.js";

/** @import { Content, Operation, Parameter } from "../openapi.js" */

const LONGEST = 20_000; // characters of an answer that are shown

customElements.define(
  "api-operation",
  class extends HTMLElement {
    /** @type {(part: any) => any} */ resolve = (part) => part;
    /** @type {HTMLDetailsElement | undefined} */ details;

    set operation(/** @type {Operation} */ one) {
      const head = h(
        "summary",
        {},
        h("span", { class: "method", "data-method": one.method }, one.method),
        h("code", { class: "path" }, ...wrappable(one.path)),
        h("span", { class: "what" }, ...inline(one.summary)),
      );
      this.details = /** @type {HTMLDetailsElement} */ (h("details", { class: "operation" }, head));
      const details = this.details;
      details.addEventListener("toggle", () => {
        if (details.open && details.children.length === 1) details.append(this.inside(one));
      });
      this.replaceChildren(details);
    }

    /** Show everything. */
    open() {
      if (this.details) this.details.open = true;
    }

    /** @param {Operation} one */
    inside(one) {
      const parameters = /** @type {Parameter[]} */ (one.parameters.map(this.resolve));
      return h(
        "div",
        { class: "inside" },
        one.description ? prose(one.description) : null,
        whoMay(one),
        ...(parameters.length ? [h("h3", {}, "Parameters"), parametersOf(parameters)] : []),
        ...(canTry(one) ? [h("h3", {}, "Try it"), trial(one, parameters)] : []),
        ...(one.requestBody ? [h("h3", {}, one.requestBody.required ? "Body" : "Body, optional"), ...this.content(one.requestBody.content)] : []),
        h("h3", {}, "Answers"),
        ...Object.entries(one.responses).map(([status, answer]) => this.answer(status, answer)),
      );
    }

    /** @param {string} status @param {{description: string, content?: Content}} answer */
    answer(status, answer) {
      const head = h("summary", {}, h("span", { class: "status", "data-kind": status[0] }, status), " ", ...inline(answer.description.split("\n")[0].replace(/^- /, "")));
      const more = h("details", { class: "answer", open: status === "200" }, head);
      if (answer.description.includes("\n")) more.append(prose(answer.description));
      more.append(...this.content(answer.content ?? {}));
      return more;
    }

    /** @param {Content} content */
    content(content) {
      return Object.entries(content).flatMap(([kind, { schema, example }]) => [
        h("p", { class: "kind" }, kind),
        kind === "application/json" ? give(/** @type {any} */ (document.createElement("schema-view")), { resolve: this.resolve, schema }) : null,
        example === undefined ? null : h("figure", {}, h("figcaption", { class: "kind" }, "Example"), code(JSON.stringify(example, null, 2))),
      ]).filter((part) => part !== null);
    }
  },
);

/** A path that may break after each slash. @param {string} path */
function wrappable(path) {
  return path.split(/(?<=\/)/).flatMap((part) => [part, h("wbr")]);
}

/** @param {Operation} one */
function whoMay(one) {
  if (!one.security) return null;
  const isOptional = one.security.some((way) => !Object.keys(way).length);
  return h("p", { class: "note" }, isOptional ? "With a session key you see what is yours." : "Needs a session key.");
}

/** @param {Parameter[]} parameters */
function parametersOf(parameters) {
  const rows = parameters.flatMap(({ name, required, description, schema, in: place }) => [
    h("dt", {}, h("code", {}, name), " ", h("span", { class: "kind" }, `${kindOf(schema)}, in the ${place}${required ? "" : ", optional"}`)),
    h("dd", {}, h("p", {}, ...inline(description))),
  ]);
  return h("dl", { class: "fields" }, ...rows);
}

/** Reading changes nothing, so it can be tried here; a stream would never end. @param {Operation} one */
function canTry(one) {
  return one.method === "GET" && !("text/event-stream" in (one.responses["200"].content ?? {}));
}

/** @param {Operation} one @param {Parameter[]} parameters */
function trial(one, parameters) {
  const inputs = parameters.map(({ name, required }) => h("label", {}, h("code", {}, name), h("input", { name, required, autocomplete: "off", spellcheck: "false" })));
  const shown = h("div", { class: "shown", role: "status" });
  const form = /** @type {HTMLFormElement} */ (h("form", { class: "trial" }, ...inputs, h("button", { type: "submit" }, "Send")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const values = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    const address = addressOf(one.path, parameters, values);
    shown.replaceChildren(h("p", { class: "kind" }, `GET ${address} …`));
    shown.replaceChildren(...(await ask(address)));
  });
  return h("div", {}, form, shown);
}

/** @param {string} address @returns {Promise<Node[]>} */
async function ask(address) {
  try {
    const answer = await fetch(address, { headers: { accept: "application/json, text/plain, */*" } });
    const text = pretty(await answer.text());
    const status = h("span", { class: "status", "data-kind": String(answer.status)[0] }, String(answer.status));
    return [h("p", { class: "kind" }, status, ` GET ${address}`), code(text.length > LONGEST ? `${text.slice(0, LONGEST)}\n…` : text)];
  } catch {
    return [h("p", { class: "breach" }, "The server could not be reached. Nothing was changed; try again.")];
  }
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** @param {string} text */
function code(text) {
  return h("pre", { tabindex: 0 }, h("code", {}, text));
}
