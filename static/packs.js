/**
 * Packs as they are shown: what they ask for, and how far those are who play them. Pure.
 *
 * @typedef {{slug: string, name: string, family: string, description: string, latest: number, archived: boolean}} Head
 * @typedef {{number: number, content_hash: string, published_at: number, archived: boolean, execution_mode: string,
 *   bundle_bytes: number, input_sets: {key: string, name: string, cases: number}[]}} Release
 * @typedef {Record<string, any>} Manifest what everybody may know of a version
 *
 * @typedef {{seat: number, case: string, stage: "waiting" | "running" | "finished" | "scored", failed?: string}} Run
 */

import { decimal } from "./view.js";

/** A key as words. @param {string} key */
export function spoken(key) {
  return key.replaceAll(/[_-]+/g, " ");
}

/** A key as the head of a line. @param {string} key */
export function headed(key) {
  const words = spoken(key);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// What a pack asks for

const MODES = /** @type {Record<string, string>} */ ({
  prompt_eval: "One prompt, one answer",
  responses: "One prompt, one answer",
  multi_turn: "A conversation",
  native: "Work with tools, in a sandbox of its own",
  "": "Work with tools, in a sandbox of its own",
});

/** How a pack is played. @param {string | undefined} mode */
export function modeOf(mode = "") {
  return MODES[mode] ?? headed(mode);
}

const STRATEGIES = /** @type {Record<string, string>} */ ({
  weighted: "The score is the weighted mean of the dimensions.",
  binary: "All or nothing: a run passes if every dimension reaches its threshold.",
  hybrid: "Gates first: a run that misses one fails; the others are weighted.",
});

/** How a score comes about, in sentences. @param {Manifest} manifest @returns {string[]} */
export function rulesOf({ evaluation_spec: spec }) {
  const { strategy = "weighted", pass_threshold: least } = spec.scorecard;
  return [
    STRATEGIES[strategy] ?? `The score is put together by the strategy ${spoken(strategy)}.`,
    typeof least === "number" ? `A run passes from ${decimal(least)} on.` : "",
  ].filter(Boolean);
}

/** What a run may use up. @param {Manifest} manifest @returns {[string, string][]} */
export function limitsOf({ evaluation_spec: { runtime_limits: limits } }) {
  const words = /** @type {Record<string, (value: number) => [string, string]>} */ ({
    max_duration_ms: (value) => ["Time", duration(value)],
    max_total_tokens: (value) => ["Tokens", count(value)],
    max_cost_usd: (value) => ["Cost", dollars(value)],
    max_iterations: (value) => ["Calls of tools", count(value)],
  });
  return Object.entries(limits ?? {}).flatMap(([name, value]) => (value ? [words[name]?.(value) ?? [headed(name), String(value)]] : []));
}

/** What makes a dimension, in a few words. @param {Record<string, any>} dimension */
export function dimensionFacts({ weight, gate, pass_threshold: least, better_direction: way }) {
  const facts = [gate && "gate", weight !== undefined && `weight ${weight}`, least !== undefined && `from ${decimal(least)} on`, way === "lower" && "lower is better"];
  return facts.filter(Boolean).join(", ");
}

// How far the runs are

export const STAGES = /** @type {const} */ ({
  waiting: ["not begun", "·"],
  running: ["at work", "▸"],
  finished: ["handed in", "■"],
  scored: ["scored", "✓"],
});

/** The runs as a table: cases down, seats across. @param {Run[]} runs */
export function gridOf(runs) {
  /** @type {Map<string, Run[]>} */ const cases = new Map();
  for (const run of runs) cases.set(run.case, [...(cases.get(run.case) ?? []), run]);
  const seats = [...new Set(runs.map(({ seat }) => seat))].sort((one, other) => one - other);
  return { seats, cases: [...cases].map(([name, each]) => ({ name, runs: seats.map((seat) => each.find((run) => run.seat === seat)) })) };
}

/** Where a seat is, in words. @param {Run[]} runs @param {number} seat */
export function placeOf(runs, seat) {
  const own = runs.filter((run) => run.seat === seat);
  const done = own.filter(({ stage }) => stage === "finished" || stage === "scored").length;
  const at = own.filter(({ stage }) => stage === "running").map((run) => run.case);
  return { done, of: own.length, at };
}

// Numbers

/** @param {number} number @param {string} thing */
export function counted(number, thing) {
  return `${count(number)} ${thing}${number === 1 ? "" : "s"}`;
}

/** @param {number} value */
export function count(value) {
  return Number.isInteger(value) ? value.toLocaleString("en").replaceAll(",", " ") : decimal(value);
}

/** @param {number} usd */
export function dollars(usd) {
  return `$${usd !== 0 && Math.abs(usd) < 0.01 ? usd.toPrecision(2) : usd.toFixed(2)}`;
}

/** @param {number} milliseconds */
export function duration(milliseconds) {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(milliseconds / 60_000);
  const seconds = Math.round((milliseconds % 60_000) / 1_000);
  return minutes < 60 ? `${minutes} min ${seconds} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
