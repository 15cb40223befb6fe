/**
 * What a creator may choose, as plain functions of a JSON schema.
 *
 * @typedef {Record<string, any>} Schema
 * @typedef {{name: string, label: string, kind: "integer" | "number" | "boolean" | "choice" | "text" | "pair" | "json",
 *   value: any, help: string, choices: unknown[], least?: number, most?: number}} Field `name` has dots where it is a part
 */

/** The fields that a form for a schema has; what leaves no choice is left out. @param {Schema | undefined} schema @returns {Field[]} */
export function fieldsOf(schema) {
  const fields = parts(schema ?? {}, schema ?? {}, []);
  return fields.filter(({ kind, choices }) => kind !== "choice" || choices.length > 1);
}

/** @param {Schema} schema @param {Schema} whole @param {string[]} above names of what it is a part of @returns {Field[]} */
function parts(schema, whole, above) {
  return Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const known = resolve(/** @type {Schema} */ (part), whole);
    const path = [...above, name];
    return known.type === "object" && known.properties ? parts(known, whole, path) : [fieldOf(path, known)];
  });
}

/** A schema that may stand elsewhere. @param {Schema} part @param {Schema} whole @returns {Schema} */
function resolve(part, whole) {
  const name = /^#\/\$defs\/(.+)$/.exec(part.$ref ?? "")?.[1];
  if (name) return resolve({ ...whole.$defs?.[name], ...part, $ref: undefined }, whole);
  const real = part.anyOf?.find((/** @type {Schema} */ one) => one.type !== "null");
  return real ? resolve({ ...real, ...part, anyOf: undefined }, whole) : part;
}

/** @param {string[]} path @param {Schema} part @returns {Field} */
function fieldOf(path, part) {
  const choices = part.enum ?? ("const" in part ? [part.const] : []);
  const isPair = part.type === "array" && part.minItems === 2 && part.maxItems === 2;
  const kind = choices.length ? "choice" : isPair ? "pair" : (KINDS[part.type] ?? "json");
  const bounds = isPair ? (part.prefixItems?.[0] ?? part.items ?? {}) : part;
  return {
    name: path.join("."),
    label: sentence(path.join(", ")),
    kind,
    value: part.default ?? undefined,
    help: part.description ?? "",
    choices,
    least: bounds.minimum ?? (bounds.exclusiveMinimum === undefined ? undefined : bounds.exclusiveMinimum + 1),
    most: bounds.maximum ?? (bounds.exclusiveMaximum === undefined ? undefined : bounds.exclusiveMaximum - 1),
  };
}

/** @type {Record<string, "integer" | "number" | "boolean" | "text">} */
const KINDS = { integer: "integer", number: "number", boolean: "boolean", string: "text" };

/** A name in camelCase as words. @param {string} name */
function sentence(name) {
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
    if (value === undefined || JSON.stringify(value) === JSON.stringify(field.value)) continue;
    const path = field.name.split(".");
    const last = path.pop() ?? "";
    path.reduce((part, name) => (part[name] ??= {}), options)[last] = value;
  }
  return options;
}

/** @param {Field} field @param {string | boolean | undefined} given @returns {unknown} */
function valueOf({ kind, label, choices }, given) {
  if (given === undefined || given === "") return undefined;
  if (typeof given === "boolean") return given;
  switch (kind) {
    case "integer":
    case "number":
      return numberOf(label, given);
    case "pair":
      return given.split(",").map((one) => numberOf(label, one));
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
