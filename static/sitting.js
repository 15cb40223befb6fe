/**
 * What somebody is asked who sits at a table without playing: a judge, or the one who speaks for a user. Pure.
 *
 * @import { Message } from "./arena.js"
 * @typedef {{mode: string, min?: number, max?: number, candidates?: string[]}} Form what a verdict is made of
 * @typedef {{key: string, kind: "question", id: string, system: string, user: string, form: Form, until: number | null}} Question
 * @typedef {{key: string, kind: "turn", run: string, case: string, turn: number, answer: string, until: number | null}} Turn
 */

import { textOf, toldBy } from "./calls.js";

/**
 * What waits for an answer, oldest first: of each conversation only the newest turn. A judge's time begins anew with
 * every question, so the latest end counts for all.
 * @param {Message[]} messages of the operator's channel @param {string} invite @param {string[]} answered keys
 * @returns {(Question | Turn)[]}
 */
export function asked(messages, invite, answered) {
  /** @type {Map<string, Question | Turn>} */ const found = new Map();
  for (const { from, to, content } of messages) {
    const told = from === "operator" && to === invite ? toldBy(content) : null;
    if (told?.type === "question") found.set(`question ${told.id}`, questionOf(told));
    if (told?.type === "your-turn") found.set(`run ${told.run}`, turnOf(told));
  }
  const all = [...found.values()];
  const latest = Math.max(...all.map(({ kind, until }) => (kind === "question" ? until ?? 0 : 0)));
  return all.filter(({ key }) => !answered.includes(key)).map((one) => (one.kind === "question" && latest ? { ...one, until: latest } : one));
}

/** @param {import("./calls.js").Told} told @returns {Question} */
function questionOf({ id, system, user, form, until }) {
  return { key: `question ${id}`, kind: "question", id: String(id), system: textOf(system), user: textOf(user), form: form ?? { mode: "json" }, until: until ?? null };
}

/** @param {import("./calls.js").Told} told @returns {Turn} */
function turnOf({ run, case: key, turn, answer, until }) {
  return { key: `turn ${turn} of ${run}`, kind: "turn", run: String(run), case: String(key), turn: Number(turn), answer: textOf(answer ?? ""), until: until ?? null };
}

/** A verdict as the referee reads it; throws a sentence about what is missing. @param {Form} form @param {Record<string, string[]>} given values by field */
export function verdictOf({ mode, min = 1, max = 5, candidates = [] }, given) {
  const sure = given.confidence?.[0] ? { confidence: given.confidence[0] } : {};
  switch (mode) {
    case "rubric":
    case "reference": {
      const score = Number(given.score?.[0]);
      if (!given.score?.[0] || !(score >= min && score <= max)) throw new Error(`Give a score from ${min} to ${max}.`);
      return { score, ...sure };
    }
    case "assertion":
      if (!given.pass?.[0]) throw new Error("Say whether it holds.");
      return { pass: given.pass[0] === "yes", ...sure };
    case "n_wise": {
      const ranking = given.ranking ?? [];
      if (new Set(ranking).size !== candidates.length) throw new Error("Give every candidate a place of its own.");
      return { ranking };
    }
    default: {
      const text = given.answer?.[0]?.trim();
      if (!text) throw new Error("Write your verdict.");
      return text;
    }
  }
}
