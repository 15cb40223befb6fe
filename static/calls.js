/**
 * What the operator of a pack says for programs, in words for people. Pure.
 *
 * @import { Part } from "./view.js"
 * @typedef {{type: string, [field: string]: any}} Told
 */

/** What a message of the operator tells, if it is one for programs. @param {string} content @returns {Told | null} */
export function toldBy(content) {
  if (!content.startsWith("{")) return null;
  try {
    const told = JSON.parse(content);
    return typeof told?.type === "string" ? told : null;
  } catch {
    return null;
  }
}

/** The same in words; null for what is left as it is: others may write JSON too. @param {string} content @returns {Part[] | null} */
export function callOf(content) {
  const told = toldBy(content);
  if (!told || !Object.hasOwn(FIELDS, told.type) || !FIELDS[told.type].every((name) => name in told)) return null;
  return CALLS[told.type](told);
}

/** @type {Record<string, string[]>} what a message of a type holds if it is one of ours */
const FIELDS = {
  progress: ["player", "done", "of", "failed"],
  output: ["player", "case", "output"],
  ballot: ["ballot", "case", "A", "B"],
  votes: ["ballot", "votes"],
  judge: ["state"],
};

/** @type {Record<string, (told: Told) => Part[]>} */
const CALLS = {
  progress: ({ player, done, of, failed }) => [...who(player), failed ? " could not finish a case: " : " finished a case: ", `${done} of ${of} are done.`],
  output: ({ player, case: key, output }) => [...who(player), ` answered ${named(key)}:\n${textOf(output)}`],
  ballot: ({ case: key, A, B }) => [`Which answer to ${named(key)} is better?\nA: ${textOf(A)}\nB: ${textOf(B)}`],
  votes: ({ votes }) => [votes === 1 ? "1 vote on a pair of answers." : `${votes} votes on a pair of answers.`],
  judge: () => ["The time of the judge is up."],
};

/** @param {unknown} player @returns {Part[]} */
function who(player) {
  const seat = Number(player) - 1;
  return Number.isInteger(seat) && seat >= 0 ? ["Player ", { seat }] : ["A player"];
}

/** @param {unknown} key */
function named(key) {
  return `“${textOf(key)}”`;
}

/** Whatever stands there, as a text. @param {unknown} value */
export function textOf(value) {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}
