/** The keys that the page understands, in a dialog. */

import { h } from "./dom.js";

/** @type {[string, string][]} */
const EVERYWHERE = [
  ["/", "search"],
  ["?", "show these keys"],
  ["Esc", "close this"],
];

/** Show them. @param {[string, string][]} keys of the view that is open */
export function help(keys) {
  if (document.querySelector("dialog.keys")) return;
  const close = h("button", {}, "Close");
  const rows = [...keys, ...EVERYWHERE].map(([key, words]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)));
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { class: "keys", "aria-labelledby": "keys" }, h("h2", { id: "keys" }, "Keys"), h("dl", {}, ...rows), h("form", { method: "dialog" }, close)));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
