import { fieldsOf, optionsOf } from "../options.js";
import { h } from "./dom.js";
import { invites, isPlayers } from "./invite-list.js";
import { draw, givenIn } from "./schema-fields.js";

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
    try {
      const detail = { options: optionsOf(this.#fields, givenIn(fields)), private: secret.checked };
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
  made({ id, invites: codes, roles = {} }) {
    this.#parts.button.disabled = false;
    this.#parts.made.replaceChildren(
      h("h3", {}, "The session is open"),
      h("p", {}, "Give each player one link or one code. Whoever uses it first has the seat, so give it to nobody else."),
      invites(id, codes.map((invite, seat) => ({ invite, label: titleOf(seat, roles[invite]), role: roles[invite] }))),
      h("p", {}, h("a", { href: `/session/${encodeURIComponent(id)}` }, "Watch the session")),
    );
  }
}

/** @param {number} seat @param {string | undefined} role */
function titleOf(seat, role) {
  return isPlayers(role) ? `Seat ${seat + 1}` : `Seat of the ${role}`;
}

customElements.define("create-form", CreateForm);
