import { counted, dimensionFacts, duration, headed, limitsOf, modeOf, rulesOf, spoken } from "../packs.js";
import "./copy-line.js";
import { dayOf, give, h } from "./dom.js";
import { GameSections } from "./game-sections.js";
import { essay } from "./prose.js";

/** @import { Board } from "../boards.js" */
/** @import { Head, Manifest, Release } from "../packs.js" */
/** @import { Card, Result } from "../wall.js" */
/** @import { Child } from "./dom.js" */

/** <pack-page>: a pack in one of its versions, and who plays it. Call `introduce`, `show` or `fail`. */
class PackPage extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  #games = new GameSections(() => this.now());

  /** @param {Head & {versions: Release[]}} pack @param {number} number @param {Manifest} manifest */
  introduce(pack, number, manifest) {
    const { slug, name, description, family, archived } = pack;
    this.replaceChildren(
      h(
        "header",
        { class: "challenge-head" },
        h("a", { class: "back", href: "/packs" }, "← All packs"),
        h("h1", { tabindex: -1 }, h("bdi", {}, name)),
        h("p", { class: "lead", dir: "auto" }, description),
        h("p", { class: "facts" }, ...[headed(family), modeOf(manifest.version.execution_mode), counted(casesIn(manifest), "case"), `version ${number}`].map((fact) => h("span", {}, fact)), archived && h("span", { class: "tag" }, "archived")),
        archived ? h("p", { class: "empty" }, "No new sessions are opened of this pack.") : play(slug),
      ),
      h("div", { class: "halves" }, h("div", { class: "stack" }, ...tasks(manifest)), h("div", { class: "stack" }, ...scoring(manifest))),
      versions(pack, number),
      ...this.#games.sections(slug),
    );
  }

  /** @param {Card[]} live @param {Result[]} ended @param {Board | null} board */
  show(live, ended, board) {
    this.#games.show(live, ended, board);
  }

  /** Nothing can be shown. @param {string} title @param {string} sentence */
  fail(title, sentence) {
    this.replaceChildren(h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, h("a", { href: "/packs" }, "See all packs"))));
  }
}

/** @param {Manifest} manifest */
const casesIn = ({ input_sets: sets }) => sets.reduce((/** @type {number} */ sum, /** @type {any} */ { cases }) => sum + cases.length, 0);

/** How to play it. @param {string} slug */
function play(slug) {
  return h(
    "div",
    { class: "play-it" },
    h("a", { class: "primary", href: `/challenges/${encodeURIComponent(slug)}` }, "Create a session"),
    give(/** @type {any} */ (h("copy-line")), { text: `arena eval start --pack ${slug} --agent "python agent.py"` }),
  );
}

// What is asked for

/** @param {Manifest} manifest */
function tasks(manifest) {
  const { challenges, input_sets: sets, tool_policy: policy, sandbox, security } = manifest;
  const tools = listed(manifest.tools);
  const bounds = [...listed(policy?.allowed_tool_kinds).map(spoken), policy?.allow_shell && "a shell", sandbox?.network_access && "the network"].filter(Boolean);
  return [
    section("What is asked", ...challenges.map(task)),
    section("Cases", ...sets.map((/** @type {any} */ set) => inputSet(set, challenges)), h("p", { class: "note" }, "What each case holds is told to those who play it, what is expected to nobody.")),
    (tools.length > 0 || bounds.length > 0) &&
      section("Tools", bounds.length > 0 && h("p", {}, `Agents may use: ${bounds.join(", ")}.`), tools.length > 0 && h("dl", { class: "methods" }, ...tools.flatMap((/** @type {any} */ { name, description }) => [h("dt", {}, h("code", {}, name)), h("dd", { dir: "auto" }, description ?? "")]))),
    security && section("Security", facts(Object.entries(security).map(([name, number]) => [headed(name), String(number)]))),
  ].filter((part) => part !== false && part !== undefined);
}

/** @param {any} challenge */
function task({ title, key, category, difficulty, instructions }) {
  return h("article", { class: "task" }, h("h3", {}, h("bdi", {}, title || key)), h("p", { class: "about" }, ...[category, difficulty].filter(Boolean).map((word) => h("span", {}, spoken(word)))), h("div", { class: "prompt", dir: "auto" }, ...essay(instructions || "Without instructions.")));
}

/** @param {any} set @param {any[]} challenges */
function inputSet({ key, name, description, cases }, challenges) {
  const titles = new Map(challenges.map((each) => [each.key, each.title || each.key]));
  const isTimed = cases.some((/** @type {any} */ { case_timeout_seconds: seconds }) => seconds);
  const rows = cases.map((/** @type {any} */ { case_key: own, challenge_key: task, case_timeout_seconds: seconds }) =>
    h("tr", {}, h("th", { scope: "row" }, h("code", {}, own ?? task)), h("td", {}, titles.get(task) ?? task), isTimed && h("td", { class: "number" }, seconds ? duration(1_000 * seconds) : "–")),
  );
  return h(
    "div",
    { class: "input-set" },
    h("h3", {}, h("bdi", {}, name || key), " ", h("code", { class: "handle" }, key)),
    description && h("p", { dir: "auto" }, description),
    wide(`Cases of ${name || key}`, h("table", {}, head("Case", "Task", ...(isTimed ? ["Time"] : [])), h("tbody", {}, ...rows))),
  );
}

// How it is scored

/** @param {Manifest} manifest */
function scoring(manifest) {
  const { scorecard, ...spec } = manifest.evaluation_spec;
  const [validators, judges, metrics] = [spec.validators, spec.llm_judges, spec.metrics].map(listed);
  const limits = limitsOf(manifest);
  return [
    section("How answers are scored", ...rulesOf(manifest).map((sentence) => h("p", {}, sentence)), list("Dimensions", ["Dimension", "Made of", "Counts"], listed(scorecard.dimensions).map((/** @type {any} */ each) => [headed(each.key), spoken(each.source || each.key), dimensionFacts(each) || "–"]))),
    validators.length > 0 && section("Validators", list("Validators", ["Validator", "Checks", "Looks at"], validators.map((/** @type {any} */ { key, type, target }) => [headed(key), spoken(type), spoken(target ?? "")]))),
    judges.length > 0 && section("Judges", list("Judges", ["Judge", "Kind", "Samples"], judges.map((/** @type {any} */ { key, mode, samples }) => [headed(key), spoken(mode), String(samples || 3)]))),
    metrics.length > 0 && section("Measured", facts(metrics.map((/** @type {any} */ { key, collector, unit }) => [headed(key), spoken(collector ?? "") + (unit ? `, ${unit}` : "")]))),
    limits.length > 0 && section("Limits of a run", facts(limits)),
  ].filter(Boolean);
}

/** @param {Head & {versions: Release[]}} pack @param {number} shown */
function versions({ slug, versions }, shown) {
  const rows = versions.map(({ number, content_hash: hash, published_at: at, archived, bundle_bytes: bytes }) =>
    h(
      "tr",
      { "aria-current": number === shown && "true" },
      h("th", { scope: "row" }, h("a", { href: `/packs/${encodeURIComponent(slug)}?version=${number}` }, `Version ${number}`), archived && h("span", { class: "tag" }, "archived")),
      h("td", { class: "hash" }, h("code", {}, hash)),
      h("td", { class: "number" }, `${Math.ceil(bytes / 1_000)} kB`),
      h("td", {}, dayOf(at)),
    ),
  );
  return section("Versions", wide("Versions", h("table", { class: "versions" }, head("Version", "Content hash", "Size", "Published"), h("tbody", {}, ...rows))));
}

// The shapes of it

/** What a pack may leave out. @param {any[] | null | undefined} members @returns {any[]} */
function listed(members) {
  return members ?? [];
}

let sections = 0;

/** @param {string} title @param {...Child} children */
function section(title, ...children) {
  const id = `part-${(sections += 1)}`;
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

/** @param {...string} names */
function head(...names) {
  return h("thead", {}, h("tr", {}, ...names.map((name) => h("th", { scope: "col", class: ["Time", "Size", "Samples"].includes(name) ? "number" : null }, name))));
}

/** @param {string} label @param {HTMLElement} table */
function wide(label, table) {
  return h("div", { class: "wide", role: "region", "aria-label": `${label}, table`, tabindex: 0 }, table);
}

/** @param {string} label @param {string[]} heads @param {string[][]} rows */
function list(label, heads, rows) {
  const line = (/** @type {string[]} */ [first, ...rest]) => h("tr", {}, h("th", { scope: "row" }, first), ...rest.map((text, place) => h("td", { class: heads[place + 1] === "Samples" ? "number" : null }, text)));
  return wide(label, h("table", {}, head(...heads), h("tbody", {}, ...rows.map(line))));
}

/** @param {[string, string][]} pairs */
function facts(pairs) {
  return h("dl", { class: "pairs" }, ...pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

customElements.define("pack-page", PackPage);
