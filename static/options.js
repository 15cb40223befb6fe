/**
 * What a creator may choose or a player may send, as plain functions of a JSON schema.
 *
 * @typedef {Record<string, any>} Schema
 * @typedef {{name: string, label: string, kind: "integer" | "number" | "boolean" | "choice" | "text" | "pair" | "numbers" | "texts" | "json",
 *   value: any, help: string, choices: unknown[], isNeeded: boolean, least?: number, most?: number}} Field `name` has dots
 *   where it is a part
 */

/** The fields that a form for a schema has; what leaves no choice is left out. @param {Schema | undefined} schema @returns {Field[]} */
export function fieldsOf(schema) {
  return allFieldsOf(schema).filter(({ kind, choices }) => kind !== "choice" || choices.length > 1);
}

/** All fields of a schema, those without a choice too. @param {Schema | undefined} schema @returns {Field[]} */
export function allFieldsOf(schema) {
  return parts(schema ?? {}, schema ?? {}, [], true);
}

/** @param {Schema} schema @param {Schema} whole @param {string[]} above names of what it is a part of @param {boolean} isNeeded @returns {Field[]} */
function parts(schema, whole, above, isNeeded) {
  return Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const known = resolve(/** @type {Schema} */ (part), whole);
    const path = [...above, name];
    const needed = isNeeded && schema.required?.includes(name) === true;
    return known.type === "object" && known.properties ? parts(known, whole, path, needed) : [fieldOf(path, known, needed)];
  });
}

/** A schema that may stand elsewhere. @param {Schema} part @param {Schema} whole @returns {Schema} */
function resolve(part, whole) {
  const name = /^#\/\$defs\/(.+)$/.exec(part.$ref ?? "")?.[1];
  if (name) return resolve({ ...whole.$defs?.[name], ...part, $ref: undefined }, whole);
  const real = part.anyOf?.find((/** @type {Schema} */ one) => one.type !== "null");
  return real ? resolve({ ...real, ...part, anyOf: undefined }, whole) : part;
}

/** @param {string[]} path @param {Schema} part @param {boolean} isNeeded @returns {Field} */
function fieldOf(path, part, isNeeded) {
  const choices = part.enum ?? ("const" in part ? [part.const] : []);
  const kind = choices.length ? "choice" : part.type === "array" ? listKind(part) : (KINDS[part.type] ?? "json");
  const bounds = kind === "pair" ? (part.prefixItems?.[0] ?? part.items ?? {}) : part;
  return {
    name: path.join("."),
    label: sentence(path.join(", ")),
    kind,
    value: part.default ?? undefined,
    help: part.description ?? "",
    choices,
    isNeeded,
    least: bounds.minimum ?? (bounds.exclusiveMinimum === undefined ? undefined : bounds.exclusiveMinimum + 1),
    most: bounds.maximum ?? (bounds.exclusiveMaximum === undefined ? undefined : bounds.exclusiveMaximum - 1),
  };
}

/** @type {Record<string, "integer" | "number" | "boolean" | "text">} */
const KINDS = { integer: "integer", number: "number", boolean: "boolean", string: "text" };

/** How a list is asked for. @param {Schema} part @returns {"pair" | "numbers" | "texts" | "json"} */
function listKind({ items, prefixItems, minItems, maxItems }) {
  const kinds = (prefixItems ?? [items ?? {}]).map((/** @type {Schema} */ { type }) => KINDS[type]);
  const areNumbers = kinds.every((/** @type {string} */ kind) => kind === "integer" || kind === "number");
  const isOpen = items === undefined && prefixItems === undefined; // whatever two things
  if ((areNumbers || isOpen) && minItems === 2 && maxItems === 2) return "pair";
  if (prefixItems) return "json";
  return areNumbers ? "numbers" : kinds[0] === "text" ? "texts" : "json";
}

/** A name in camelCase as words. @param {string} name */
export function sentence(name) {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * What was chosen, without what goes by default; throws a sentence about a field that cannot be read.
 * @param {Field[]} fields @param {Record<string, string | boolean>} given by name; both of a pair with a comma between
 */
export function optionsOf(fields, given) {
  /** @type {Record<string, any>} */ const options = {};
  for (const field of fields) {
    const value = valueOf(field, given[field.name]);
    if (value === undefined && field.isNeeded) throw new Error(`${field.label} is needed.`);
    if (value === undefined || JSON.stringify(value) === JSON.stringify(field.value)) continue;
    const path = field.name.split(".");
    const last = path.pop() ?? "";
    path.reduce((part, name) => (part[name] ??= {}), options)[last] = value;
  }
  return options;
}

/** @param {Field} field @param {string | boolean | undefined} given @returns {unknown} */
function valueOf({ kind, label, choices }, given) {
  if (given === undefined && choices.length === 1) return choices[0];
  if (given === undefined || given === "" || (kind === "pair" && given === ",")) return undefined;
  if (typeof given === "boolean") return given;
  switch (kind) {
    case "integer":
    case "number":
      return numberOf(label, given);
    case "pair":
      return given.split(",").map((one) => numberOf(label, one));
    case "numbers":
      return given.split(/[\s,;]+/).filter(Boolean).map((one) => numberOf(label, one));
    case "texts":
      return given.split("\n").map((one) => one.trim()).filter(Boolean);
    case "choice":
      return choices.find((choice) => JSON.stringify(choice) === given);
    case "json":
      return jsonOf(label, given);
    default:
      return given;
  }
}

/** @param {string} label @param {string} text */
function numberOf(label, text) {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number)) throw new Error(`${label} is to be a number.`);
  return number;
}

/** @param {string} label @param {string} text */
function jsonOf(label, text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${label} is to be JSON, like [1, 2] or {"name": "value"}.`);
  }
}
