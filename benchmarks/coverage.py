"""How often a 95 % interval holds what it is about: simulated players whose true numbers are known.

`python -m benchmarks.coverage` prints the table of docs/scoring.md and fails if a row lies outside of 93 to 97 %; with
words, only the rows whose names hold one of them.
"""

import math
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from random import Random
from typing import Any, NamedTuple

from arena import GameResult
from arena.statistics import Spread, wilson
from scoring_strategies.bradley_terry import RATING, BradleyTerry
from scoring_strategies.elo import Elo
from scoring_strategies.glicko2 import Glicko2
from scoring_strategies.openskill import BETA, MU, SIGMA, TAU, OpenSkill

LEAST, MOST = 0.93, 0.97
POINTS = 400 / math.log(10)
VOLATILITY = 0.06
FITS = 40  # for each row and seed
MANY = 160  # where lines of a fit hang together, and 40 would leave a row to chance

Held = tuple[int, int]  # intervals that held, and all


class Row(NamedTuple):
    """One line of the experiment."""

    what: str
    how: str
    run: Callable[[int], Held]
    counts: bool = True  # whether it must lie within the bounds


def result(table: list[int], places: list[int], number: int, pair: str | None = None) -> GameResult:
    """A game of these players with these places."""
    invites = [f"inv_{seat}" for seat in range(len(table))]
    return GameResult.model_validate(
        {
            "gameId": f"g{number:07d}",
            "challengeType": "simulated",
            "createdAt": 1,
            "startedAt": 1,
            "completedAt": 1,
            "players": invites,
            "playerIdentities": {invite: f"p{player}" for invite, player in zip(invites, table, strict=True)},
            "scores": [{"security": 0, "utility": -place} for place in places],
            "outcomes": ["played"] * len(table),
            "seedCommitment": "",
            "challengeVersion": {"version": "1", "contentHash": ""},
            "pair": pair,
        },
        strict=False,
    )


def perform(rng: Random, strengths: list[float]) -> list[int]:
    """Places by the Plackett-Luce model."""
    marks = [strength - math.log(-math.log(rng.random())) for strength in strengths]
    return [1 + sum(other > mark for other in marks) for mark in marks]


def rates(chance: float, games: int) -> Callable[[int], Held]:
    """The share of games that a player wins."""

    def run(seed: int) -> Held:
        rng, held = Random(seed), 0
        for _ in range(2000):
            low, high = wilson(sum(rng.random() < chance for _ in range(games)), games)
            held += low <= chance <= high
        return held, 2000

    return run


def means(games: int, paired: bool) -> Callable[[int], Held]:
    """The mean of scores -1, 0 and 1; in pairs both games share half of their luck."""

    def run(seed: int) -> Held:
        rng, held = Random(seed), 0
        for _ in range(2000):
            spread, total = Spread(), 0.0
            for number in range(games):
                if number % 2 == 0 or not paired:
                    luck = rng.random()
                drawn = luck if paired and rng.random() < 0.5 else rng.random()
                score = float(-1 if drawn < 0.3 else 0 if drawn < 0.5 else 1)
                spread, total = spread.add(score, f"p{number // 2}" if paired else None), total + score
            interval = spread.interval(total / games)
            held += interval is not None and interval.low <= 0.2 <= interval.high
        return held, 2000

    return run


def online(make: Callable[[], Any], key: str, model: "Model", seats: int, rounds: int) -> Callable[[int], Held]:
    """Twenty players of an online rating, whose true strengths wander as the method believes."""

    def run(seed: int) -> Held:
        rng, held, total = Random(seed), 0, 0
        for _ in range(10):
            strategy, truth = make(), [rng.gauss(model.mean, model.spread) for _ in range(20)]
            tallies = [strategy.tally_type() for _ in truth]
            for _ in range(rounds):
                for table in _tables(rng, len(truth), seats):
                    for player in table:
                        truth[player] += rng.gauss(0, model.drift)
                    places = perform(rng, [truth[player] / model.scale(seats) for player in table])
                    moved = strategy.fold([tallies[player] for player in table], result(table, places, 0))
                    for player, tally in zip(table, moved, strict=True):
                        tallies[player] = tally
            shift = sum(strategy.read(tally)[key] - true for tally, true in zip(tallies, truth, strict=True)) / len(
                truth
            )
            for tally, true in zip(tallies, truth, strict=True):
                low, high = strategy.intervals(tally)[key]
                held, total = held + (low <= true + shift <= high), total + 1
        return held, total

    return run


class Model(NamedTuple):
    """What an online rating believes of its players."""

    mean: float
    spread: float
    drift: float  # of a player in each game
    unit: float

    def scale(self, seats: int) -> float:
        """Points that multiply the odds by e."""
        return self.unit * (math.sqrt(seats) if self.mean == MU else 1)


def _tables(rng: Random, players: int, seats: int) -> Iterator[list[int]]:
    order = rng.sample(range(players), players)
    yield from (order[at : at + seats] for at in range(0, players - seats + 1, seats))


def fitted(players: int, seats: int, games: int, paired: bool = False, fits: int = FITS) -> Callable[[int], Held]:
    """Players of one fit."""

    def run(seed: int) -> Held:
        rng, held, total = Random(seed), 0, 0
        for number in range(fits):
            truth = [rng.gauss(0, 1) for _ in range(players)]
            middle = sum(truth) / players
            played = []
            for game in range(games):
                table = rng.sample(range(players), seats)
                places = perform(rng, [truth[player] for player in table])
                pair = f"pair {game}" if paired else None
                played += [result(table, places, 2 * game + twin, pair) for twin in range(2 if paired else 1)]
            strategy = BradleyTerry(400, seed * 100 + number)
            for line in strategy.fit({"simulated": played}).lines:
                low, high = strategy.measure(line.kept).intervals[RATING]
                true = 1500 + POINTS * (truth[int(line.entry.player_id[1:])] - middle)
                held, total = held + (low <= true <= high), total + 1
        return held, total

    return run


ELO, GLICKO = Model(1500, 200, 0, POINTS), Model(1500, 350, POINTS * VOLATILITY, POINTS)
SKILL = Model(MU, SIGMA, TAU, BETA)
ROWS = [
    Row("rate 50 %, 40 games", "Wilson", rates(0.5, 40)),
    Row("rate 85 %, 40 games", "Wilson", rates(0.85, 40)),
    Row("rate 30 %, 200 games", "Wilson", rates(0.3, 200)),
    Row("mean score, 20 games", "t", means(20, paired=False)),
    Row("mean score, 100 games", "t", means(100, paired=False)),
    Row("mean score, 40 games in pairs", "t by pair", means(40, paired=True)),
    Row("elo, 300 games", "error followed to first order", online(Elo, "elo:rating", ELO, 2, 300)),
    Row("elo, 4 seats, 300 games", "the same", online(Elo, "elo:rating", ELO, 4, 300)),
    Row("glicko2, 300 games", "deviation", online(Glicko2, "glicko2:rating", GLICKO, 2, 300)),
    Row("openskill, 300 games", "sigma", online(OpenSkill, "openskill:mu", SKILL, 2, 300)),
    Row("openskill, 4 seats, 300 games", "sigma", online(OpenSkill, "openskill:mu", SKILL, 4, 300)),
    Row("bradley-terry, 6 players, 300 games", "bootstrap", fitted(6, 2, 300)),
    Row("bradley-terry, 12 players, 900 games", "bootstrap", fitted(12, 2, 900)),
    Row("bradley-terry, 6 players, 300 pairs of equal games", "bootstrap by pair", fitted(6, 2, 300, paired=True)),
    Row("bradley-terry, 8 players, 4 seats, 200 games", "bootstrap", fitted(8, 4, 200, fits=MANY)),
    Row("bradley-terry, 8 players, 4 seats, 400 games", "bootstrap", fitted(8, 4, 400, fits=MANY)),
    Row("elo, first 30 games", "", online(Elo, "elo:rating", ELO, 2, 30), counts=False),
    Row("glicko2, first 30 games", "", online(Glicko2, "glicko2:rating", GLICKO, 2, 30), counts=False),
    Row("openskill, first 30 games", "", online(OpenSkill, "openskill:mu", SKILL, 2, 30), counts=False),
]
SEEDS = range(1, 5)


def job(task: tuple[int, int]) -> Held:
    """One row with one seed."""
    number, seed = task
    return ROWS[number].run(seed)


def main(words: list[str]) -> int:
    """Run all that is wanted, print the table, and say whether it holds."""
    wanted = [number for number, row in enumerate(ROWS) if not words or any(word in row.what for word in words)]
    tasks = [(number, seed) for number in wanted for seed in SEEDS]
    print("| interval of | by | held | of |\n| --- | --- | --- | --- |")
    wrong = 0
    with ProcessPoolExecutor(int(os.environ.get("ARENA_BENCH_PROCESSES", os.cpu_count() or 1))) as pool:
        found = list(pool.map(job, tasks))
    for number in wanted:
        row = ROWS[number]
        mine = [held for held, (task, _) in zip(found, tasks, strict=True) if task == number]
        held, total = (sum(column) for column in zip(*mine, strict=True))
        share = held / total
        outside = row.counts and not LEAST <= share <= MOST
        wrong += outside
        print(f"| {row.what} | {row.how} | {share:.1%} | {total} |{' outside' if outside else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
