import { contentOf, keptOf } from "../moves.js";
import { h } from "./dom.js";
import { inline } from "./prose.js";
import { draw, givenIn } from "./schema-fields.js";

/** @import { Refusal } from "../arena.js" */
/** @import { Move } from "../moves.js" */

/**
 * <move-form>: one move of a challenge. Assign `move`; a wish comes up as `move` with `type` and `content`. Then call
 * `done`, or `refuse` with why not: what was entered stays until it was taken.
 */
class MoveForm extends HTMLElement {
  /** @type {Move | null} */ #move = null;
  #fields = h("div", { class: "fields" });
  #raw = /** @type {HTMLTextAreaElement} */ (h("textarea", { class: "raw", rows: 2, dir: "auto", spellcheck: "false" }));
  #button = /** @type {HTMLButtonElement} */ (h("button"));
  #said = h("p", { class: "said", role: "status" });
  #problem = h("div", { class: "problem", role: "alert" });

  set move(/** @type {Move} */ move) {
    this.#move = move;
    const about = `move-${move.name.replaceAll(/\W/g, "-")}`;
    this.#raw.setAttribute("aria-label", `What to send with ${move.label}`);
    this.#raw.setAttribute("aria-describedby", about);
    this.#raw.placeholder = move.example;
    this.#button.textContent = move.label;
    this.#fields.replaceChildren(...(move.isRaw ? [this.#raw] : move.fields.filter(({ choices }) => choices.length !== 1).map(draw)));
    const form = /** @type {HTMLFormElement} */ (h("form", { "aria-label": move.label, novalidate: true }, h("p", { id: about, class: "help" }, ...inline(move.words)), this.#fields, h("div", { class: "send" }, this.#button, this.#said), this.#problem));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#wish();
    });
    this.#raw.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit(this.#button);
    });
    this.replaceChildren(form);
  }

  /** Whether moves can be made now. */
  set isOpen(/** @type {boolean} */ isOpen) {
    this.#button.disabled = !isOpen;
  }

  #wish() {
    if (!this.#move || this.#button.getAttribute("aria-busy")) return;
    try {
      const content = contentOf(this.#move, givenIn(this.#fields), this.#raw.value);
      this.#busy(true);
      this.dispatchEvent(new CustomEvent("move", { detail: { type: this.#move.name, content }, bubbles: true }));
    } catch (error) {
      this.#tell(/** @type {Error} */ (error).message, "Nothing was sent. What you entered is kept.");
    }
  }

  /** It was taken. */
  done() {
    this.#busy(false);
    this.#said.textContent = "Sent.";
    /** @type {HTMLFormElement} */ (this.firstElementChild).reset();
  }

  /** It was not. @param {Refusal} error */
  refuse(error) {
    this.#busy(false);
    this.#tell(error.message, keptOf(error), error.code);
  }

  /** @param {string} why @param {string} kept @param {string} [code] */
  #tell(why, kept, code) {
    this.#said.textContent = "";
    this.#problem.replaceChildren(h("p", { class: "why", dir: "auto" }, why, " ", code && h("code", {}, code)), h("p", { class: "help" }, kept));
  }

  #busy(/** @type {boolean} */ isBusy) {
    if (isBusy) this.#button.setAttribute("aria-busy", "true");
    else this.#button.removeAttribute("aria-busy");
    this.#said.textContent = isBusy ? "Sending…" : "";
    this.#problem.replaceChildren();
  }
}

customElements.define("move-form", MoveForm);
