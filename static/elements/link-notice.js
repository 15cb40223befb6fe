import { h } from "./dom.js";

/** @import { Status } from "../arena.js" */

const LOST = "The connection is lost. What you see is kept.";
const SILENT = "The server does not answer.";

/** <link-notice>: how the connection is. Assign `status`; a wish to try now comes up as `retry`. */
class LinkNotice extends HTMLElement {
  /** @type {ReturnType<typeof setInterval> | undefined} */ #timer;
  #wasOnline = false;
  #sentence = h("span");
  #left = h("span", { class: "left figure", "aria-hidden": "true" });
  #button = h("button", { type: "button" }, "Try now");

  connectedCallback() {
    this.setAttribute("role", "status");
    this.#button.addEventListener("click", () => this.dispatchEvent(new CustomEvent("retry", { bubbles: true })));
  }

  set status(/** @type {Status} */ status) {
    clearInterval(this.#timer);
    this.dataset.status = status.status;
    switch (status.status) {
      case "online":
        this.#wasOnline = true;
        this.replaceChildren();
        break;
      case "connecting":
        this.#left.textContent = "Trying…";
        break;
      case "waiting":
        this.#say(this.#wasOnline ? LOST : SILENT, this.#left, this.#button);
        this.#count(status.retryAt ?? 0);
        break;
      case "closed":
        this.#say(`The server closed the connection${status.reason ? ` (${status.reason})` : ""}. Reload the page to connect anew.`);
    }
  }

  #count(/** @type {number} */ retryAt) {
    const draw = () => {
      this.#left.textContent = `Next try in ${Math.max(1, Math.ceil((retryAt - Date.now()) / 1_000))} s.`;
    };
    draw();
    this.#timer = setInterval(draw, 250);
  }

  /** Say something, without announcing again what stands there already. */
  #say(/** @type {string} */ sentence, /** @type {HTMLElement[]} */ ...rest) {
    if (this.#sentence.textContent !== sentence) this.#sentence.textContent = sentence;
    if (this.childElementCount !== rest.length + 1) this.replaceChildren(this.#sentence, ...rest);
  }
}

customElements.define("link-notice", LinkNotice);
