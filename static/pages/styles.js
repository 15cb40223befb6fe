/** Styles that only some pages need: fetched with the first of them. */

/** @type {Map<string, Promise<void>>} */ const worn = new Map();

/** Have a stylesheet of ours in the document; without it the page is plain, but there. @param {string} name @returns {Promise<void>} */
export function wear(name) {
  const known = worn.get(name);
  if (known) return known;
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `/static/styles/${name}.css` });
  const there = new Promise((/** @type {(nothing: void) => void} */ resolve) => {
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => resolve());
  });
  worn.set(name, there);
  document.head.append(link);
  return there;
}
