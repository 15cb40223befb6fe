/** The plain routes of the server: JSON, or a refusal with its sentence. */

import { Refusal } from "./arena.js";

/**
 * Read something.
 * @param {string} path under `/api` @param {Record<string, string | number | undefined>} [query] @returns {Promise<any>}
 */
export function read(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const words = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return ask(given.length ? `${path}?${words}` : path, {});
}

/** Have something done. @param {string} path @param {object} body @returns {Promise<any>} */
export function post(path, body) {
  return ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

/** A path with names in it, which may hold anything. @param {TemplateStringsArray} texts @param {...string} names */
export function path(texts, ...names) {
  return String.raw({ raw: texts }, ...names.map(encodeURIComponent));
}

/** @param {string} path @param {RequestInit} how */
async function ask(path, how) {
  const answer = await fetch(`/api${path}`, how).catch(() => {
    throw new Refusal("UNREACHABLE", "The server does not answer.");
  });
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  const code = said.code ?? (answer.status === 404 ? "NOT_FOUND" : String(answer.status));
  throw new Refusal(code, said.error ?? "The server could not answer this.", Number(answer.headers.get("retry-after")) || undefined);
}
