/** A player: who it says it is, how it does, what it has played, and how it does against another. */

import { path, read } from "../api.js";
import "../elements/player-page.js";
import { soon } from "./drawing.js";
import { followWall } from "./lobby.js";
import { wear } from "./styles.js";

/** @import { Challenge, Profile, Refusal } from "../arena.js" */
/** @import { Context, View } from "../app.js" */
/** @import { Head, Met, Row } from "../boards.js" */
/** @typedef {{challengeType: string, strategy: string, metric: string, players: number, row: Row}} Line on a board */
/**
 * @typedef {{id: string, profile: Profile, names: Record<string, {name: string}>, heads: Head[], lines: Line[],
 *   games: {challenges: Challenge[], total: number, profiles: Record<string, Profile>}, rival: string,
 *   meetings: {type: string, met: Met | null}[] | null, way: {at: number, metrics: Record<string, number>}[],
 *   line: Line | undefined}} Portrait all that is shown; `line` is the one whose way is drawn
 */

const PAGE = 50; // games

await Promise.all([wear("boards"), wear("player")]);

/** @param {Context} context @returns {View} */
export function open({ arena, params: { id }, query, changed, go }) {
  const element = /** @type {any} */ (document.createElement("player-page"));
  /** @type {Portrait} */
  const portrait = { id, profile: { userId: id }, names: {}, heads: [], lines: [], games: { challenges: [], total: 0, profiles: {} }, rival: "", meetings: null, way: [], line: undefined };
  let isOpen = true;
  let isKnown = false;
  const drawSoon = soon(() => {
    if (!isOpen || !isKnown) return;
    element.show(portrait);
    changed();
  });

  /** Read everything again. */
  async function look() {
    try {
      const [profiles, lines, games, names, { boards }] = await Promise.all([
        read("/users/batch", { ids: id }),
        read(path`/users/${id}/leaderboards`),
        read(path`/users/${id}/challenges`, { limit: PAGE }),
        read("/metadata"),
        read("/leaderboards"),
      ]);
      if (!isOpen) return;
      isKnown = true;
      Object.assign(portrait, { profile: profiles[id] ?? { userId: id }, lines: lines.boards, games, names, heads: boards });
    } catch (error) {
      if (!isKnown && isOpen) element.fail("This player cannot be shown", `${/** @type {Refusal} */ (error).message} Try again later.`);
      return;
    }
    drawSoon();
    await Promise.all([compare(), retrace()]);
  }

  /** How it did against the rival of the address, challenge by challenge. */
  async function compare() {
    const rival = portrait.rival;
    const first = new Map(portrait.heads.filter(({ kind }) => kind !== "global").reverse().map((head) => [head.challengeType, head.strategy]));
    const types = [...new Set(portrait.lines.map(({ challengeType }) => challengeType))].filter((type) => first.has(type));
    const found = rival ? await Promise.all(types.map((type) => read(path`/leaderboards/${type}/${first.get(type) ?? ""}/head-to-head`, { players: `${id},${rival}` }))) : [];
    if (!isOpen || rival !== portrait.rival) return;
    portrait.meetings = rival ? found.map(({ challengeType, meetings }) => ({ type: challengeType, met: meetings[0] ?? null })) : null;
    drawSoon();
  }

  /** Its way on one of its boards. */
  async function retrace() {
    const { line } = portrait;
    if (!line) return;
    const { history } = await read(path`/leaderboards/${line.challengeType}/${line.strategy}/players/${id}`, { metric: line.metric });
    if (!isOpen || line !== portrait.line) return;
    portrait.way = history;
    drawSoon();
  }

  /** @param {URLSearchParams} query */
  function choose(query) {
    portrait.rival = query.get("rival") ?? "";
    portrait.meetings = null;
    compare().catch(() => {}); // the rest of the page stands
    drawSoon();
  }

  element.addEventListener("rival", (/** @type {CustomEvent<string>} */ { detail }) => {
    const words = new URLSearchParams(detail ? { rival: detail } : {});
    go(`/players/${encodeURIComponent(id)}${detail ? `?${words}` : ""}`, "replace");
  });
  element.addEventListener("line", (/** @type {CustomEvent<import("./player.js").Line>} */ { detail }) => {
    portrait.line = detail;
    retrace().catch(() => {}); // the table stands
  });
  const stopWall = followWall(arena, (frame) => {
    if (frame?.event === "ended" && Object.values(frame.challenge.state.playerIdentities).includes(id)) look().catch(() => {});
  });
  portrait.rival = query.get("rival") ?? "";
  look().catch(() => {}); // what was read is shown
  return {
    element,
    title: () => `${portrait.profile.username || id} · Arena`,
    moved: choose,
    close: () => {
      isOpen = false;
      stopWall();
    },
  };
}
