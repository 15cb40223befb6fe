/**
 * Scorecards as they are shown: a table with a column for each seat. Pure.
 *
 * @typedef {{overall: number, passed: boolean, dimensions: Record<string, number>, cases: number, passes: number,
 *   costUsd?: number, latencyMs?: number, tokens?: number}} SeatCard
 * @typedef {{seat: number, player: string, card?: SeatCard, cases: Record<string, any>[]}} SeatCards
 * @typedef {{kind: "pass" | "fail" | "none" | "plain", text: string, share?: number, more?: [string, string][]}} Cell of a
 *   table; `share`: how much of the best possible, `more`: what lies behind it, under its names
 * @typedef {{label: string, about?: string, cells: Cell[]}} Line of a table, with a cell for each seat
 */

import { count, counted, dollars, duration, headed, spoken } from "./packs.js";
import { decimal } from "./view.js";

/** All seats side by side, as a whole. @param {SeatCards[]} seats @returns {Line[]} */
export function compared(seats) {
  const cards = seats.map(({ card }) => card);
  const keys = [...new Set(cards.flatMap((card) => Object.keys(card?.dimensions ?? {})))];
  const line = (/** @type {string} */ label, /** @type {(card: SeatCard) => Cell} */ cell) => ({ label, cells: cards.map((card) => (card ? cell(card) : NONE)) });
  const known = (/** @type {"costUsd" | "latencyMs" | "tokens"} */ name) => cards.some((card) => typeof card?.[name] === "number");
  return [
    line("Overall", ({ overall, passed }) => ({ kind: passed ? "pass" : "fail", text: decimal(overall), share: overall })),
    line("Cases passed", ({ passes, cases }) => ({ kind: "plain", text: `${passes} of ${cases}` })),
    ...keys.map((key) => line(headed(key), ({ dimensions }) => score(dimensions[key]))),
    ...(known("costUsd") ? [line("Cost", ({ costUsd }) => plain(costUsd, dollars))] : []),
    ...(known("latencyMs") ? [line("Time", ({ latencyMs }) => plain(latencyMs, duration))] : []),
    ...(known("tokens") ? [line("Tokens", ({ tokens }) => plain(tokens, count))] : []),
  ];
}

/** @type {Cell} */ const NONE = { kind: "none", text: "–" };

/** @param {number | undefined} value @param {(value: number) => string} write @returns {Cell} */
function plain(value, write) {
  return typeof value === "number" ? { kind: "plain", text: write(value) } : NONE;
}

/** @param {number | null | undefined} value @returns {Cell} */
function score(value) {
  return typeof value === "number" ? { kind: "plain", text: decimal(value), share: value } : NONE;
}

/** The parts of a card, each a table of seats. @type {[string, string, string, (result: any) => Cell][]} */
const PARTS = [
  ["Dimensions", "dimension_results", "dimension", dimension],
  ["Validators", "validator_results", "key", validator],
  ["Judges", "llm_judge_results", "judge_key", judge],
  ["Metrics", "metric_results", "key", metric],
];

/** One case, seat by seat. @param {SeatCards[]} seats @param {number} place of the case */
export function caseOf(seats, place) {
  const cards = seats.map(({ cases }) => cases[place] ?? {});
  const parts = PARTS.map(([title, list, name, cell]) => ({ title, lines: linesOf(cards, list, name, cell) }));
  const verdicts = cards.map(verdict);
  return {
    name: String(cards[0]?.case ?? place + 1),
    parts: [
      { title: "Result", lines: [{ label: "Overall", cells: verdicts }, ...posture(cards)] },
      ...parts.filter(({ lines }) => lines.length),
    ],
  };
}

/** @param {Record<string, any>[]} cards @param {string} list @param {string} name @param {(result: any) => Cell} cell @returns {Line[]} */
function linesOf(cards, list, name, cell) {
  const results = cards.map((card) => /** @type {Record<string, any>[]} */ (card[list] ?? []));
  const keys = [...new Set(results.flatMap((each) => each.map((result) => String(result[name]))))];
  return keys.map((key) => {
    const found = results.map((each) => each.find((result) => String(result[name]) === key));
    return { label: headed(key), about: aboutOf(found.find(Boolean)), cells: found.map((result) => (result ? cell(result) : NONE)) };
  });
}

/** What kind of thing a result is of. @param {Record<string, any> | undefined} result */
function aboutOf(result) {
  return [result?.type ?? result?.mode, result?.target].filter((part) => typeof part === "string" && part).map(spoken).join(", ");
}

/** @param {Record<string, any>} card @returns {Cell} */
function verdict(card) {
  if (card.error) return { kind: "none", text: "no card", more: [["Why", String(card.error)]] };
  const more = present([["Why", card.overall_reason], ["Validity", card.validity === "valid" ? "" : card.validity], ["Because", card.validity_reason], ["Warnings", (card.warnings ?? []).join("\n")]]);
  const kind = card.passed === true ? "pass" : card.passed === false ? "fail" : "plain";
  return typeof card.overall_score === "number" ? { kind, text: decimal(card.overall_score), share: card.overall_score, more } : { ...NONE, more };
}

/** How secrets and bounds were kept, where that was at stake. @param {Record<string, any>[]} cards @returns {Line[]} */
function posture(cards) {
  if (!cards.some(({ posture }) => posture)) return [];
  return [{ label: "Security posture", cells: cards.map(({ posture }) => (posture ? kept(posture) : NONE)) }];
}

/** @param {Record<string, any>} posture @returns {Cell} */
function kept({ posture, passed, incidents = [] }) {
  const more = incidents.map((/** @type {Record<string, string>} */ each) => {
    const what = each.secret_name ?? each.pattern_description ?? each.egress_host ?? each.prompt_name ?? "";
    return /** @type {[string, string]} */ ([headed(each.kind), [what, each.severity, each.source && `in ${spoken(each.source)}`].filter(Boolean).join(", ")]);
  });
  return { kind: passed ? "pass" : "fail", text: decimal(posture), share: posture, more };
}

/** @param {any} result @returns {Cell} */
function dimension({ score: value, state, reason }) {
  const more = present([["State", state === "available" ? "" : state], ["Why", reason]]);
  return state === "available" ? { ...score(value), more } : { kind: "none", text: state === "error" ? "failed" : "not known", more };
}

const CLASSES = /** @type {Record<string, string>} */ ({
  unavailable: "there was nothing to look at",
  infra_error: "the machinery failed, not the agent",
  pack_error: "the pack is at fault",
  evaluator_error: "the evaluation failed, not the agent",
});

/** @param {any} result @returns {Cell} */
function validator({ verdict, state, normalized_score: value, outcome_class: outcome, reason, actual_value: actual, expected_value: expected, source, details }) {
  const more = present([
    ["Why", reason || CLASSES[outcome] || ""],
    ["Answer", actual ?? ""],
    ["Expected", expected ?? ""],
    ["Evidence", source ? `event ${source.sequence}, ${spoken(source.event_type)}` : ""],
    ["Details", details && Object.keys(details).length ? JSON.stringify(details, null, 1) : ""],
  ]);
  if (state !== "available") return { kind: "none", text: state === "error" ? "failed" : "not known", more };
  const kind = verdict === "pass" ? "pass" : verdict === "fail" ? "fail" : "none";
  return { kind, text: typeof value === "number" && value > 0 && value < 1 ? decimal(value) : verdict || "–", more };
}

/** @param {any} result @returns {Cell} */
function judge({ normalized_score: value, confidence, variance, sample_count: samples, model_count: models, reason, sample_scores: scores, payload }) {
  const each = scores ?? Object.values(payload?.samples ?? {}).map((row) => /** @type {any[]} */ (row).map((sample) => sample.score));
  const told = each.map((/** @type {(number | null)[]} */ row) => row.map((one) => (typeof one === "number" ? decimal(one) : "none")).join("  ")).join("\n");
  const said = Object.entries(payload?.samples ?? {}).flatMap(([model, row]) => /** @type {any[]} */ (row).map((sample) => sample.error && `${model}: ${sample.error}`));
  const more = present([
    ["Why", reason ?? ""],
    ["Samples", told && `${told}\n${counted(samples, "sample")} of ${counted(models, "model")}`],
    ["Confidence", confidence ?? ""],
    ["Variance", typeof variance === "number" ? decimal(variance) : ""],
    ["Said", said.filter(Boolean).join("\n")],
    ["Warnings", (payload?.warnings ?? []).join("\n")],
  ]);
  return typeof value === "number" ? { ...score(value), more } : { kind: "none", text: "no verdict", more: more.length ? more : [["Why", "no sample of this judge has a score"]] };
}

/** @param {any} result @returns {Cell} */
function metric({ state, unit, reason, numeric_value: number, text_value: text, boolean_value: flag }) {
  const more = present([["Why", reason]]);
  if (state !== "available") return { kind: "none", text: state === "error" ? "failed" : "not known", more };
  if (typeof flag === "boolean") return { kind: "plain", text: flag ? "yes" : "no", more };
  return { kind: "plain", text: typeof number === "number" ? [count(number), unit].filter(Boolean).join(" ") : String(text ?? "–"), more };
}

/** Those with something behind them. @param {[string, string | undefined][]} pairs @returns {[string, string][]} */
function present(pairs) {
  return /** @type {[string, string][]} */ (pairs.filter(([, text]) => typeof text === "string" && text !== ""));
}
