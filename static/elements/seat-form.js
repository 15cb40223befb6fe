import { short } from "../view.js";
import { h } from "./dom.js";

/** @import { Refusal } from "../arena.js" */
/** @typedef {{isSigned: boolean, user?: string, name: string}} Who `user`: of the key pair, if there is one already */

/**
 * <seat-form>: who takes the seat. Call `show`; a wish comes up as `sit` with the `name`. Then call `refuse` if it
 * could not be done.
 */
class SeatForm extends HTMLElement {
  #name = /** @type {HTMLInputElement} */ (h("input", { type: "text", name: "name", maxlength: 128, autocomplete: "nickname", dir: "auto" }));
  #button = /** @type {HTMLButtonElement} */ (h("button", { class: "primary" }, "Take the seat"));
  #problem = h("p", { class: "problem", role: "alert" });

  /** @param {Who} who */
  show({ isSigned, user, name }) {
    this.#name.value = name;
    const words = isSigned
      ? ["Players of this arena are known by their key pairs. ", user ? "Yours is kept in this browser: " : "One is made for you now and kept in this browser, where nobody can read it.", user && h("code", { title: user }, short(user))]
      : ["Others see it when the game is over. Without a name you play unnamed, and no board counts the game for you."];
    const form = h(
      "form",
      { "aria-label": "Take the seat" },
      h("label", {}, h("span", { class: "label" }, isSigned ? "Your name on boards (optional)" : "Your name (optional)"), this.#name),
      h("p", { class: "help" }, ...words),
      this.#button,
      this.#problem,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#button.disabled) return;
      this.#button.disabled = true;
      this.#button.textContent = "Sitting down…";
      this.#problem.textContent = "";
      this.dispatchEvent(new CustomEvent("sit", { detail: { name: this.#name.value.trim() }, bubbles: true }));
    });
    this.replaceChildren(form);
  }

  /** @param {Refusal} error */
  refuse(error) {
    this.#button.disabled = false;
    this.#button.textContent = "Take the seat";
    this.#problem.textContent = error.message;
  }
}

customElements.define("seat-form", SeatForm);
