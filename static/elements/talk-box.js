import { h } from "./dom.js";

/** @import { Player } from "../view.js" */
/** @import { Refusal } from "../arena.js" */

/**
 * <talk-box>: talk to all players or to one. Call `show` with the others; a wish comes up as `talk` with `content` and
 * `to`. Then call `done`, or `refuse` with why not.
 */
class TalkBox extends HTMLElement {
  #drawn = "";
  #to = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "To" }));
  #text = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, dir: "auto", "aria-label": "What you say", placeholder: "Say something to the other players" }));
  #button = /** @type {HTMLButtonElement} */ (h("button", {}, "Say"));
  #problem = h("p", { class: "problem", role: "alert" });

  connectedCallback() {
    if (this.childElementCount) return;
    const form = /** @type {HTMLFormElement} */ (h("form", { "aria-label": "Talk" }, this.#to, this.#text, this.#button, this.#problem));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#wish();
    });
    this.#text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    this.#to.addEventListener("change", () => this.toggleAttribute("data-private", this.#to.value !== ""));
    this.append(form);
  }

  /** @param {Player[]} others whom one may talk to alone @param {boolean} isOpen whether anybody listens */
  show(others, isOpen) {
    const wanted = JSON.stringify([others.map(({ handle, name }) => [handle, name]), isOpen]);
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    const chosen = this.#to.value;
    this.#to.replaceChildren(h("option", { value: "" }, "To everybody"), ...others.map(({ handle, name }) => h("option", { value: handle }, `To ${name} alone`)));
    this.#to.value = others.some(({ handle }) => handle === chosen) ? chosen : "";
    this.toggleAttribute("data-private", this.#to.value !== "");
    this.#button.disabled = !isOpen;
  }

  #wish() {
    const content = this.#text.value.trim();
    if (!content || this.#button.disabled || this.#button.getAttribute("aria-busy")) return;
    this.#busy(true);
    this.dispatchEvent(new CustomEvent("talk", { detail: { content, to: this.#to.value || undefined }, bubbles: true }));
  }

  /** It was said. */
  done() {
    this.#busy(false);
    this.#text.value = "";
  }

  /** It was not. @param {Refusal} error */
  refuse(error) {
    this.#busy(false);
    this.#problem.textContent = `${error.message} What you wrote is kept.`;
  }

  #busy(/** @type {boolean} */ isBusy) {
    if (isBusy) this.#button.setAttribute("aria-busy", "true");
    else this.#button.removeAttribute("aria-busy");
    this.#button.textContent = isBusy ? "Sending…" : "Say";
    this.#problem.textContent = "";
  }
}

customElements.define("talk-box", TalkBox);
