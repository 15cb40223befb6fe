/**
 * The moves of a challenge as forms, as plain functions of its metadata.
 *
 * @import { Method, Refusal } from "./arena.js"
 * @import { Field, Schema } from "./options.js"
 * @typedef {{name: string, label: string, words: string, fields: Field[], isRaw: boolean, isAlone: boolean,
 *   example: string}} Move `isRaw`: its content is the text as it was typed; `isAlone`: it is one value, not an object
 */

import { allFieldsOf, optionsOf, sentence } from "./options.js";

/** The moves that players may make; those of other roles are not for them. @param {Method[] | undefined} methods @returns {Move[]} */
export function movesOf(methods = []) {
  return methods.filter(({ role }) => role === undefined || role === null).map(moveOf);
}

/** @param {Method} method @returns {Move} */
export function moveOf({ name, description, arguments: schema }) {
  const names = Object.keys(schema?.properties ?? {});
  const takesNothing = schema?.type === "object" && names.length === 0 && schema.additionalProperties === false;
  const fields = allFieldsOf(schema);
  const isText = fields.length === 1 && names.length === 1 && fields[0].kind === "text";
  const example = /`([^`]+)`/.exec(description)?.[1] ?? "";
  return {
    name,
    label: sentence(name),
    words: description,
    fields,
    isRaw: isText || (fields.length === 0 && !takesNothing),
    isAlone: names.length === 1,
    example: example.startsWith("{") ? "" : example,
  };
}

/**
 * What is sent for a move; throws a sentence about a field that cannot be read.
 * @param {Move} move @param {Record<string, string | boolean>} given @param {string} raw what was typed, where there are no fields
 */
export function contentOf({ fields, isRaw, isAlone }, given, raw) {
  if (isRaw) return raw;
  if (fields.length === 0) return "";
  const values = optionsOf(fields, given);
  if (!isAlone) return JSON.stringify(values);
  const [value] = Object.values(values);
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What became of a move that was refused. @param {Refusal} error */
export function keptOf({ code }) {
  switch (code) {
    case "VALIDATION":
    case "TOO_LARGE":
    case "UNKNOWN_METHOD":
      return "The game has not heard of it. What you entered is kept; change it and send it again.";
    case "GAME_NOT_RUNNING":
      return "The game has not begun, or is over. What you entered is kept.";
    case "DISCONNECTED":
      return "Whether it arrived is not known. What you entered is kept.";
    case "INTERNAL":
      return "A fault of the server; nothing has changed. What you entered is kept.";
    default:
      return "The operator did not take it, and nothing has changed. What you entered is kept.";
  }
}
