/** Tournaments as they are shown: pure functions from what the server tells to words and columns. */

/**
 * @typedef {{value: number, interval?: [number, number]}} Mean
 * @typedef {{agent: string, rank: number, points: number, games: number, wins: number, ties: number, losses: number,
 *   share?: Mean, utility?: Mean, security?: Mean, forfeits: number, timeouts: number, void: number, byes: number,
 *   breaches: number, exposed: number, cost?: number, reached?: number, anchor?: boolean}} Standing
 * @typedef {{most: number, played: number, void: number, playing: number, saved: number}} Counts
 * @typedef {{name: string, round: number, agents: string[], winner?: string}} Match
 * @typedef {{key: string, round: number, state: string, session: string, agents?: string[], seats?: string[],
 *   scores?: {utility: number, security: number}[], places?: number[], reason?: string}} Game
 * @typedef {{id: string, challenge: string, format: string, phase: string, reason?: string, createdAt: number,
 *   games: Counts, agents: any, standings: Standing[], matches: Match[], byes: {round: number, agent: string}[],
 *   playing: Game[], seconds: number, cost: number}} Tournament
 */

/** How far it is, in a sentence. @param {{phase: string, reason?: string, games: Counts}} tournament */
export function progress({ phase, reason, games }) {
  const over = games.played + games.void;
  const extra = [games.void ? `${games.void} void` : "", games.saved ? `${games.saved} saved` : ""].filter(Boolean);
  const count = `${over.toLocaleString()} of ${games.most.toLocaleString()} games`;
  const why = reason ? `: ${reason}` : "";
  return `${phase[0].toUpperCase()}${phase.slice(1)}${why}. ${count}${extra.length ? `, ${extra.join(", ")}` : ""}.`;
}

/** The columns that have something to say. @param {Standing[]} rows @returns {{key: keyof Standing, label: string}[]} */
export function extras(rows) {
  /** @type {{key: keyof Standing, label: string}[]} */
  const known = [
    { key: "reached", label: "Reached" },
    { key: "forfeits", label: "Forfeits" },
    { key: "timeouts", label: "Timeouts" },
    { key: "void", label: "Void" },
    { key: "byes", label: "Byes" },
    { key: "breaches", label: "Breaches" },
    { key: "exposed", label: "Exposed" },
    { key: "cost", label: "Cost (US$)" },
  ];
  return known.filter(({ key }) => rows.some((row) => row[key]));
}

/** Matches by round, in order. @param {Match[]} matches @returns {{round: number, matches: Match[]}[]} */
export function rounds(matches) {
  /** @type {Map<number, Match[]>} */ const found = new Map();
  for (const match of matches) found.set(match.round, [...(found.get(match.round) ?? []), match]);
  return [...found].sort(([a], [b]) => a - b).map(([round, some]) => ({ round, matches: some }));
}

/** What a game came to: a few words, and who won it if anybody did. @param {Game} game @returns {{words: string, first: string[]}} */
export function outcome(game) {
  if (game.state === "playing") return { words: "live", first: [] };
  if (game.state === "void") return { words: `void: ${game.reason ?? ""}`, first: [] };
  const first = (game.places ?? []).flatMap((place, seat) => (place === 1 ? [game.seats?.[seat] ?? ""] : []));
  return first.length === game.places?.length ? { words: "tied", first: [] } : { words: "won by ", first };
}
