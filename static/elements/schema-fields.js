/** Fields of a form that was made from a schema. */

import { h } from "./dom.js";

/** @import { Field } from "../options.js" */

/** A field, with its words. @param {Field} field */
export function draw(field) {
  const { name, label, kind, value, help, choices, least, most, isNeeded } = field;
  const note = hintOf(field);
  const words = [h("span", { class: "label" }, label, !isNeeded && value === undefined && h("span", { class: "help" }, " (optional)")), help && h("span", { class: "help" }, help)];
  const numeric = { type: "number", name, min: least, max: most, step: kind === "number" ? "any" : 1 };
  switch (kind) {
    case "boolean":
      return h("label", { class: "tick-box" }, h("input", { type: "checkbox", name, checked: value === true }), ...words);
    case "choice":
      return h("label", {}, ...words, h("select", { name }, ...none(field), ...choices.map((choice) => h("option", { value: JSON.stringify(choice), selected: choice === value }, String(choice)))));
    case "pair":
      return h("fieldset", {}, h("legend", {}, label), help && h("span", { class: "help" }, help), ...[0, 1].map((place) => h("input", { ...numeric, value: value?.[place], "aria-label": `${label}, ${place ? "to" : "from"}` })));
    case "integer":
    case "number":
      return h("label", {}, ...words, h("input", { ...numeric, value }));
    case "text":
      return h("label", {}, ...words, h("input", { type: "text", name, value, dir: "auto" }));
    case "numbers":
      return h("label", {}, ...words, h("input", { type: "text", name, value: value?.join(" "), placeholder: note, inputmode: "text" }));
    case "texts":
      return h("label", {}, ...words, h("textarea", { name, rows: 3, placeholder: note, dir: "auto" }, value?.join("\n") ?? ""));
    case "json":
      return h("label", {}, ...words, h("textarea", { name, rows: 2, placeholder: note, spellcheck: "false" }, value === undefined ? "" : JSON.stringify(value)));
  }
}

/** Nothing is a choice too, where nothing else is given. @param {Field} field */
function none({ isNeeded, value }) {
  return isNeeded || value !== undefined ? [] : [h("option", { value: "" }, "–")];
}

/** How something is written that has no field of its own. @param {Field} field */
function hintOf({ kind }) {
  return { numbers: "1 2 3", texts: "one in each line", json: "JSON" }[/** @type {string} */ (kind)];
}

/** What stands in the fields, by name; both of a pair with a comma between. @param {HTMLElement} fields */
export function givenIn(fields) {
  const inputs = /** @type {HTMLInputElement[]} */ ([...fields.querySelectorAll("input, select, textarea")]);
  /** @type {Record<string, string | boolean>} */ const given = {};
  for (const { name, type, checked, value } of inputs) {
    if (type === "checkbox") given[name] = checked;
    else given[name] = name in given ? `${given[name]},${value}` : value;
  }
  return given;
}
