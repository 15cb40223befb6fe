import { h } from "./dom.js";

/** <copy-line>: a command to copy. Assign `text`. */
class CopyLine extends HTMLElement {
  set text(/** @type {string} */ text) {
    const button = h("button", { type: "button" }, "Copy");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1_500);
    });
    // Browsers lend their clipboard only to pages of https and of this machine.
    this.replaceChildren(h("code", {}, text), ...(navigator.clipboard ? [button] : []));
  }
}

customElements.define("copy-line", CopyLine);
