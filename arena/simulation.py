"""Simulation: many games of bots against each other, in memory and on all cores, and what came of them.

`simulate` is for everybody; `arena simulate` shows what it returns.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from random import Random
from typing import Any

from arena import catalog
from arena.bots import Bot
from arena.catalog import ChallengeType
from arena.effects import BREACH
from arena.errors import CannotStart
from arena.match import Match, play
from arena.models import Seat
from arena.operator import Operator
from arena.statistics import CONFIDENCE, Interval, t_quantile, wilson

BATCH = 250  # games that a process plays before it tells of them


@dataclass
class Mean:
    """A mean over games, with its interval by Student's t."""

    games: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        """Count one game."""
        self.games += 1
        self.total += value
        self.squares += value * value

    def merge(self, other: Mean) -> None:
        """Count the games of another."""
        self.games += other.games
        self.total += other.total
        self.squares += other.squares

    @property
    def value(self) -> float:
        """The mean."""
        return self.total / self.games

    @property
    def interval(self) -> Interval | None:
        """Where it lies with 95 % confidence; a single game, or games that all ended alike, tell nothing of that."""
        scatter = self.squares - self.total * self.total / self.games if self.games > 1 else 0.0
        if scatter <= 1e-12 * self.squares:
            return None
        variance = scatter / (self.games - 1)
        reach = t_quantile(CONFIDENCE, self.games - 1) * sqrt(variance / self.games)
        return Interval(self.value - reach, self.value + reach)


@dataclass
class Rate:
    """A share of games, with Wilson's interval."""

    games: int = 0
    hits: int = 0

    def add(self, hit: bool) -> None:
        """Count one game."""
        self.games += 1
        self.hits += hit

    def merge(self, other: Rate) -> None:
        """Count the games of another."""
        self.games += other.games
        self.hits += other.hits

    @property
    def value(self) -> float:
        """The share."""
        return self.hits / self.games

    @property
    def interval(self) -> Interval:
        """Where it lies with 95 % confidence."""
        return wilson(self.hits, self.games)


@dataclass
class Line:
    """How a bot did. A game counts once, also if it sat on several seats of it."""

    utility: Mean = field(default_factory=Mean)
    security: Mean = field(default_factory=Mean)
    breached: Rate = field(default_factory=Rate)  # games in which it got a secret out of somebody
    exposed: Rate = field(default_factory=Rate)  # games in which somebody got one out of it

    def merge(self, other: Line) -> None:
        """Count the games of another."""
        self.utility.merge(other.utility)
        self.security.merge(other.security)
        self.breached.merge(other.breached)
        self.exposed.merge(other.exposed)


@dataclass
class Simulation:
    """What came of many games, by bot."""

    games: int = 0
    unfinished: int = 0  # games in which all bots fell silent; they are not counted in the lines
    lines: dict[str, Line] = field(default_factory=dict)

    def merge(self, other: Simulation) -> None:
        """Take in other games."""
        self.games += other.games
        self.unfinished += other.unfinished
        for name, line in other.lines.items():
            self.lines.setdefault(name, Line()).merge(line)


def simulate(
    challenge: str,
    bots: Sequence[str],
    games: int,
    seed: int | str = 0,
    *,
    options: Mapping[str, Any] | None = None,
    load: Sequence[str] = (),
    workers: int | None = None,
    progress: Callable[[int], None] = lambda played: None,
) -> Simulation:
    """Let bots of a challenge, by name, play so many games; they change seats from game to game.

    The same seed makes the same games, whatever the number of workers. Game n deals what a session with the seed
    `<seed>.<n>` deals. Without workers all cores are used; with one, no process is started.
    """
    table = Setting(challenge, tuple(bots), str(seed), dict(options or {}), tuple(load))
    table.check()
    batches = [range(start, min(start + BATCH, games)) for start in range(0, games, BATCH)]
    found = Simulation()
    for made in _played(table, batches, workers or os.cpu_count() or 1):
        found.merge(made)
        progress(made.games)
    found.lines = {name: found.lines[name] for name in dict.fromkeys(bots) if name in found.lines}
    return found


@dataclass(frozen=True)
class Setting:
    """What is to be played; small enough to be sent to other processes."""

    challenge: str
    bots: tuple[str, ...]
    seed: str
    options: dict[str, Any]
    load: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse what cannot be played."""
        operator, known = self.operator(), self.kinds()
        for name in self.bots:
            if name not in known:
                raise CannotStart(
                    f"{self.challenge} has no bot {name[:60]!r}; there are: {', '.join(known) or 'none'}."
                )
        if not self.bots or len(self.bots) > operator.players:
            raise CannotStart(f"{self.challenge} has {operator.players} seats; name one bot or up to as many.")

    def operator(self) -> Operator[Any, Any]:
        """The referee of all games."""
        return _kind(self.challenge, self.load).operator(self.options)

    def kinds(self) -> Mapping[str, type[Bot]]:
        """The bots that there are."""
        return _kind(self.challenge, self.load).bots


@lru_cache(maxsize=16)
def _kind(challenge: str, load: tuple[str, ...]) -> ChallengeType:
    """The challenge, read once per process."""
    return catalog.load(load).challenge(challenge)


def _played(setting: Setting, batches: Sequence[range], workers: int) -> Iterator[Simulation]:
    if workers == 1 or len(batches) < 2:
        yield from (play_batch(setting, batch) for batch in batches)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(batches)), mp_context=context) as pool:
        waiting = [pool.submit(play_batch, setting, batch) for batch in batches]
        # In the order of the batches, so that sums of fractions come out the same each time.
        for done in waiting:
            yield done.result()


def play_batch(setting: Setting, numbers: range) -> Simulation:
    """Play some of the games."""
    operator, kinds = setting.operator(), setting.kinds()
    names = [setting.bots[seat % len(setting.bots)] for seat in range(operator.players)]
    found = Simulation()
    for number in numbers:
        turned = names[number % len(names) :] + names[: number % len(names)]
        seed = f"{setting.seed}.{number}"
        match = Match(operator, seed)
        seats = [kinds[name](Random(f"{seed} {seat}")) for seat, name in enumerate(turned)]  # noqa: S311
        for bot in seats:
            bot.rehearse()
        play(match, seats)
        _count(found, match, turned)
    return found


def _count(found: Simulation, match: Match, names: Sequence[str]) -> None:
    found.games += 1
    if not match.is_over:
        found.unfinished += 1
        return
    causers = {by for by, _, type_ in match.attributions if type_ == BREACH}
    victims = {of for _, of, type_ in match.attributions if type_ == BREACH}
    for name in set(names):
        seats: list[Seat] = [seat for seat, each in enumerate(names) if each == name]
        line = found.lines.setdefault(name, Line())
        line.utility.add(sum(match.scores[seat].utility for seat in seats) / len(seats))
        line.security.add(sum(match.scores[seat].security for seat in seats) / len(seats))
        line.breached.add(not causers.isdisjoint(seats))
        line.exposed.add(not victims.isdisjoint(seats))
