import { fieldsOf, optionsOf } from "../options.js";
import "./copy-line.js";
import { give, h } from "./dom.js";

/** @import { Challenge } from "../arena.js" */
/** @import { Field, Schema } from "../options.js" */

/**
 * <create-form>: opens a session. Assign `schema`, the options of a challenge; a wish comes up as `create` with
 * `options` and `private`. Then call `made` with the session, or `refuse` with a sentence.
 */
class CreateForm extends HTMLElement {
  /** @type {Field[]} */ #fields = [];
  #parts = {
    fields: h("div", { class: "fields" }),
    secret: /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", name: "private" })),
    button: /** @type {HTMLButtonElement} */ (h("button", { class: "primary" }, "Create a session")),
    problem: h("p", { class: "problem", role: "alert" }),
    made: h("div", { class: "made", "aria-live": "polite" }),
  };

  connectedCallback() {
    if (this.childElementCount) return;
    const { fields, secret, button, problem, made } = this.#parts;
    const form = h("form", { "aria-label": "Create a session" }, fields, h("label", { class: "tick-box" }, secret, "Private: in no list, for those who have the link"), button, problem);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#wish();
    });
    this.append(form, made);
  }

  set schema(/** @type {Schema | undefined} */ schema) {
    this.#fields = fieldsOf(schema);
    this.#parts.fields.replaceChildren(...this.#fields.map(draw));
  }

  #wish() {
    const { fields, secret, button } = this.#parts;
    const inputs = /** @type {HTMLInputElement[]} */ ([...fields.querySelectorAll("input, select, textarea")]);
    /** @type {Record<string, string | boolean>} */ const given = {};
    for (const { name, type, checked, value } of inputs) {
      if (type === "checkbox") given[name] = checked;
      else given[name] = name in given ? `${given[name]},${value}` : value;
    }
    try {
      const detail = { options: optionsOf(this.#fields, given), private: secret.checked };
      button.disabled = true;
      this.refuse("");
      this.dispatchEvent(new CustomEvent("create", { detail, bubbles: true }));
    } catch (error) {
      this.refuse(/** @type {Error} */ (error).message);
    }
  }

  /** It could not be done. @param {string} sentence */
  refuse(sentence) {
    this.#parts.problem.textContent = sentence;
    if (sentence) this.#parts.button.disabled = false;
  }

  /** There it is: a link for each seat, which whoever opens it takes. @param {Challenge} challenge */
  made({ id, invites, roles = {} }) {
    this.#parts.button.disabled = false;
    this.#parts.made.replaceChildren(
      h("h3", {}, "The session is open"),
      h("p", {}, "Give each player one link or one code. Whoever uses it first has the seat, so give it to nobody else."),
      h(
        "ol",
        { class: "invites" },
        ...invites.map((invite, seat) =>
          h(
            "li",
            {},
            h("h4", {}, seatTitle(seat, roles[invite])),
            give(/** @type {any} */ (h("copy-line", { "aria-label": `Invite code of seat ${seat + 1}` })), { text: invite }),
            give(/** @type {any} */ (h("copy-line", { "aria-label": `Invite link of seat ${seat + 1}` })), { text: new URL(seatAddress(invite, roles[invite]), location.href).href }),
            h("a", { href: seatAddress(invite, roles[invite]) }, isPlayers(roles[invite]) ? "Play this seat here" : "Take this seat here"),
          ),
        ),
      ),
      h("p", {}, h("a", { href: `/session/${encodeURIComponent(id)}` }, "Watch the session")),
    );
  }
}

/** @param {string | undefined} role */
const isPlayers = (role) => role === undefined || role === "player";

/** @param {number} seat @param {string | undefined} role */
function seatTitle(seat, role) {
  return isPlayers(role) ? `Seat ${seat + 1}` : role === "judge" ? "Seat of the judge" : `Seat of the ${role}`;
}

/** Where a seat is taken in a browser. @param {string} invite @param {string | undefined} role */
function seatAddress(invite, role) {
  return `${isPlayers(role) ? "/play" : "/sit"}#${invite}`;
}

/** A field of the form. @param {Field} field */
function draw(field) {
  const { name, label, kind, value, help, choices, least, most } = field;
  const words = [h("span", { class: "label" }, label), help && h("span", { class: "help" }, help)];
  const numeric = { type: "number", name, min: least, max: most, step: kind === "number" ? "any" : 1 };
  switch (kind) {
    case "boolean":
      return h("label", { class: "tick-box" }, h("input", { type: "checkbox", name, checked: value === true }), ...words);
    case "choice":
      return h("label", {}, ...words, h("select", { name }, ...choices.map((choice) => h("option", { value: JSON.stringify(choice), selected: choice === value }, String(choice)))));
    case "pair":
      return h("fieldset", {}, h("legend", {}, label), help && h("span", { class: "help" }, help), ...[0, 1].map((place) => h("input", { ...numeric, value: value?.[place], "aria-label": `${label}, ${place ? "to" : "from"}` })));
    case "integer":
    case "number":
      return h("label", {}, ...words, h("input", { ...numeric, value }));
    case "text":
      return h("label", {}, ...words, h("input", { type: "text", name, value }));
    case "json":
      return h("label", {}, ...words, h("textarea", { name, rows: 2, spellcheck: "false" }, value === undefined ? "" : JSON.stringify(value)));
  }
}

customElements.define("create-form", CreateForm);
