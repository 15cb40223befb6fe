/** A question before something that cannot be taken back. */

import { h } from "./dom.js";

/** Whether the reader is sure. @param {string} title @param {string} sentence @param {string} yes @param {string} no @returns {Promise<boolean>} */
export function ask(title, sentence, yes, no) {
  const dialog = /** @type {HTMLDialogElement} */ (
    h(
      "dialog",
      { class: "keys ask", "aria-labelledby": "ask" },
      h("h2", { id: "ask" }, title),
      h("p", {}, sentence),
      h("form", { method: "dialog" }, h("button", { value: "no", autofocus: true }, no), h("button", { value: "yes", class: "danger" }, yes)),
    )
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
