/** An OpenAPI document as the page reads it. Pure: no page, no network. */

/** @typedef {{$ref?: string, type?: string | string[], properties?: Record<string, Schema>, required?: string[], items?: Schema, additionalProperties?: boolean | Schema, anyOf?: Schema[], enum?: string[], const?: unknown, description?: string, default?: unknown, pattern?: string}} Schema */
/** @typedef {{name: string, in: string, required?: boolean, description: string, schema: Schema}} Parameter */
/** @typedef {Record<string, {schema: Schema, example?: unknown}>} Content */
/** @typedef {{operationId: string, tags: string[], summary: string, description?: string, parameters: any[], requestBody?: {required: boolean, content: Content}, responses: Record<string, {description: string, content?: Content}>, security?: Record<string, string[]>[], method: string, path: string}} Operation */
/** @typedef {{openapi: string, info: Record<string, string>, servers: {url: string}[], tags: {name: string, description: string}[], paths: Record<string, Record<string, Omit<Operation, "method" | "path">>>, components: {schemas: Record<string, Schema>, parameters: Record<string, Parameter>, securitySchemes?: Record<string, {description: string}>}}} Document */

/** All operations, each with its method and path. @param {Document} api @returns {Operation[]} */
export function operationsOf(api) {
  return Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ ...one, method: method.toUpperCase(), path })),
  );
}

/** Follows references into a document. @param {Document} api @returns {(part: any) => any} */
export function resolver(api) {
  return (part) => {
    if (!part?.$ref) return part;
    const found = part.$ref.slice(2).split("/").reduce((/** @type {any} */ at, /** @type {string} */ name) => at[name], api);
    return { ...found, ...(part.description ? { description: part.description } : {}) };
  };
}

/** The name of a shape that has one. @param {Schema} schema */
export function nameOf(schema) {
  return schema.$ref?.split("/").at(-1);
}

/** A schema in a few words, such as `list of Score`. @param {Schema} schema @param {(part: any) => any} [resolve] @returns {string} */
export function kindOf(schema, resolve = (part) => part) {
  const kind = (/** @type {Schema} */ part) => kindOf(part, resolve);
  if (isList(schema, resolve)) return resolve(schema).enum.map((/** @type {string} */ one) => JSON.stringify(one)).join(" or ");
  if (schema.$ref) return /** @type {string} */ (nameOf(schema));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
  if (schema.type === "array") return `list of ${schema.items ? kind(schema.items) : "anything"}`;
  if (schema.type === "object" && schema.additionalProperties && typeof schema.additionalProperties === "object") {
    return `object of ${kind(schema.additionalProperties)}`;
  }
  return [schema.type ?? "anything"].flat().join(" or ");
}

/** Whether a schema lists its values. @param {Schema} schema @param {(part: any) => any} resolve */
function isList(schema, resolve) {
  return resolve(schema).enum !== undefined;
}

/** The shapes with fields that a schema is made of. @param {Schema} schema @param {(part: any) => any} resolve @returns {Schema[]} */
export function partsOf(schema, resolve) {
  if (schema.$ref) return resolve(schema).properties ? [schema] : [];
  const inner = [schema.items, schema.additionalProperties, ...(schema.anyOf ?? [])];
  return inner.flatMap((one) => (one && typeof one === "object" ? partsOf(one, resolve) : []));
}

/** The address of a request. @param {string} path @param {Parameter[]} parameters @param {Record<string, string>} values */
export function addressOf(path, parameters, values) {
  const query = new URLSearchParams();
  let address = path;
  for (const { name, in: place } of parameters) {
    const value = values[name] ?? "";
    if (place === "path") address = address.replace(`{${name}}`, encodeURIComponent(value));
    else if (value) query.set(name, value);
  }
  return query.size ? `${address}?${query}` : address;
}
