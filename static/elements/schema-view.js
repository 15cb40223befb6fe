/** <schema-view>: the fields of a shape. Assign `resolve`, then `schema`; shapes inside open on demand. */

import { kindOf, nameOf, partsOf } from "../openapi.js";
import { give, h } from "./dom.js";
import { inline } from "./prose.js";

/** @import { Schema } from "../openapi.js" */

customElements.define(
  "schema-view",
  class extends HTMLElement {
    /** @type {(part: any) => any} */ resolve = (part) => part;

    set schema(/** @type {Schema} */ schema) {
      const whole = this.resolve(schema);
      const fields = Object.entries(whole.properties ?? {});
      if (fields.length) this.replaceChildren(h("dl", { class: "fields" }, ...fields.flatMap(([name, field]) => this.field(name, /** @type {Schema} */ (field), whole))));
      else this.replaceChildren(h("p", { class: "kind" }, kindOf(whole, this.resolve)), ...this.inside(whole));
    }

    /** @param {string} name @param {Schema} field @param {Schema} whole */
    field(name, field, whole) {
      const isNeeded = whole.required?.includes(name);
      const term = h("dt", {}, h("code", {}, name), " ", h("span", { class: "kind" }, kindOf(field, this.resolve) + (isNeeded ? "" : ", optional")));
      return [term, h("dd", {}, field.description ? h("p", {}, ...inline(field.description)) : null, ...this.inside(field))];
    }

    /** The shapes that a field holds, drawn when they are opened. @param {Schema} field */
    inside(field) {
      return partsOf(field, this.resolve).map((part) => {
        const more = h("details", {}, h("summary", {}, `Fields of ${nameOf(part)}`));
        more.addEventListener("toggle", () => {
          if (more.children.length > 1) return;
          const view = /** @type {any} */ (document.createElement("schema-view"));
          more.append(give(view, { resolve: this.resolve, schema: part }));
        });
        return more;
      });
    }
  },
);
