"""Fuzzing: play a challenge badly, from all seats, and see what it makes of that. `arena challenge test` is this.

Every game must end under a clock without a crash, with scores in the declared range, and the same inputs must make the
same game again. Text that one seat sends must not come out at another before the game is over, and neither may what the
operator told one seat alone be said to everybody.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import isfinite
from random import Random
from typing import Any

from pydantic import JsonValue

from arena import adjudication, chat
from arena.bots import Bot
from arena.errors import ArenaError, GameNotRunning, Internal
from arena.guesses import content_for, words_in
from arena.models import CODE, OPERATOR, ChatMessage, Status
from arena.operator import JobFailed, Operator
from arena.testing import Table, play

MOVE, GAME = 20.0, 400.0  # seconds of the clocks that games are played under
STEPS = 120  # moves of a game, most of which are refused
SHORTEST = 8  # characters of a private message that is looked for elsewhere

AnyOperator = Operator[Any, Any]


@dataclass(frozen=True)
class Finding:
    """Something that a challenge must not do, and the seed of the game in which it did."""

    seed: str
    words: str


@dataclass
class Report:
    """What came of many games."""

    games: int = 0
    ended: Counter[str] = field(default_factory=Counter)  # by themselves or by the clock
    taken: Counter[str] = field(default_factory=Counter)  # moves, by name
    refused: Counter[str] = field(default_factory=Counter)  # moves, by code
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: "Report") -> None:
        """Take in what came of other games."""
        self.games += other.games
        self.ended += other.ended
        self.taken += other.taken
        self.refused += other.refused
        self.findings += other.findings


def fuzz(
    operator: type[AnyOperator],
    games: int = 100,
    seed: int | str = 0,
    options: Mapping[str, Any] | None = None,
    bots: Mapping[str, type[Bot]] | None = None,
) -> Report:
    """Play games of random moves; with bots, every third one is begun by them."""
    report = Report()
    for number in range(games):
        name = f"{seed}.{number}"
        report.add(_Game(operator, name, options or {}, list((bots or {}).values()) if number % 3 == 2 else []).run())
    return report


class _Game:
    """One game, and all that is noticed in it."""

    def __init__(
        self, operator: type[AnyOperator], seed: str, options: Mapping[str, Any], bots: Sequence[type[Bot]]
    ) -> None:
        self.seed = seed
        self.rng = Random(seed)  # noqa: S311
        self.bots = bots
        self.report = Report(games=1)
        per_move = {} if operator.to_move is Operator.to_move else {"move": MOVE}
        self.operator = operator({**options, "clock": {"game": GAME, **per_move}})
        self.canaries: dict[str, int] = {}  # text that one seat sent, and which
        self.checked = 0  # messages of the operator channel

    def run(self) -> Report:
        """Play it to its end, which must come."""
        try:
            self.table: Table[Any, Any] = Table(self.operator, self.seed)
            self._play()
            by_itself = self.table.status is Status.ENDED
            self.table.advance(GAME)
            self.report.ended["by themselves" if by_itself else "by the clock"] += 1
            self._check_end()
        except Exception as error:  # whatever a challenge raises is what we look for
            self._find(f"crash: {type(error).__name__}: {error}")
        return self.report

    def _play(self) -> None:
        if self.bots:
            seats = [self.rng.choice(self.bots)(Random(f"{self.seed} {n}")) for n in range(self.operator.players)]  # noqa: S311
            self._begin(seats)
        for _ in range(STEPS):
            if self.table.status is not Status.ACTIVE:
                return
            self._step()
            self._check_log()
            self._check_waiting()

    def _begin(self, seats: Sequence[Bot]) -> None:
        """Let bots bring the game to some point, so that what lies behind good moves is found too."""
        with suppress(TimeoutError):  # the point was reached
            play(self.table, seats, limit=self.rng.randrange(200))

    def _step(self) -> None:
        chance = self.rng.random()
        if chance < 0.04:
            self.table.advance(self.rng.choice((0.5, MOVE / 2, MOVE)))
        elif chance < 0.3 and self.table.jobs:
            results: list[JsonValue | JobFailed] = [None, [], {}, "x", 1, JobFailed("gone")]
            result = self.rng.choice(results)
            self.table.finish(self.rng.choice(self.table.jobs), result)
        else:
            self._move()
        for fault in self.table.faults:
            self._find(f"crash: a handler that nobody waited for raised {type(fault).__name__}: {fault}")
        self.table.faults.clear()

    def _move(self) -> None:
        waiting = list(self.operator.to_move(self.table.state) or range(self.operator.players))
        seat = self.rng.choice(waiting if waiting and self.rng.random() < 0.8 else range(self.operator.players))
        name, content = self._choose(seat)
        try:
            self.table.act(seat, name, content)
            self.report.taken[name] += 1
        except GameNotRunning:
            return
        except ArenaError as refusal:
            self._check_refusal(name, refusal)

    def _choose(self, seat: int) -> tuple[str, str]:
        if self.rng.random() < 0.005:
            return adjudication.RESIGN, ""
        if self.rng.random() < 0.02:
            return "no_such_move", ""
        action = self.rng.choice(list(self.operator.actions.values()))
        if self.rng.random() < 0.05:
            canary = f"canary{self.rng.getrandbits(64):x}"
            self.canaries[canary] = seat
            return action.name, canary
        return action.name, content_for(action, self.rng, self._heard(seat))

    def _heard(self, seat: int) -> list[str]:
        """Numbers and words that a player could know."""
        handle = self.table.handles[seat]
        texts = [m.content for m in self.table.log if chat.may_read(m.from_, m.to, handle) and m.from_ == OPERATOR]
        return [*words_in(texts), *self.table.handles]

    def _check_refusal(self, name: str, refusal: ArenaError) -> None:
        self.report.refused[refusal.code] += 1
        if isinstance(refusal, Internal):
            self._find(f"crash in {name}: {refusal}")
        if not CODE.fullmatch(refusal.code):
            self._find(f"the code {refusal.code!r} of a refusal is not in upper case")

    def _check_log(self) -> None:
        """Look for words of one seat in what others may read."""
        log = self.table.log
        told = [m for m in log if m.from_ == OPERATOR and m.to and len(m.content) >= SHORTEST]
        for message in log[self.checked :] if self.table.status is Status.ACTIVE else ():
            if message.from_ == OPERATOR:
                self._check_canaries(message)
            if message.from_ == OPERATOR and not message.to:
                for private in told:
                    if private.content in message.content and private.index < message.index:
                        self._find(f"leak: {private.content!r} was told to one seat and then said to everybody")
        self.checked = len(log)

    def _check_canaries(self, message: ChatMessage) -> None:
        for canary, seat in self.canaries.items():
            if canary in message.content and message.to != self.table.handles[seat]:
                self._find(f"leak: text that player {seat + 1} sent to the operator was told to others")

    def _check_waiting(self) -> None:
        if self.table.status is not Status.ACTIVE:
            return
        waiting = self.operator.to_move(self.table.state)
        if waiting is not None and not set(waiting) <= set(range(self.operator.players)):
            self._find(f"to_move names seats that do not exist: {sorted(waiting)}")

    def _check_end(self) -> None:
        if self.table.status is not Status.ENDED:
            self._find("the game does not end when its time is over")
            return
        for fault in self.table.faults:
            self._find(f"crash at the limit: {type(fault).__name__}: {fault}")
        for seat, score in enumerate(self.table.scores):
            self._check_range(seat, "utility", score.utility, self.operator.utility)
            self._check_range(seat, "security", score.security, self.operator.security)
        if self.table.again() != self.table.session:
            self._find("the same inputs do not make the same game again")

    def _check_range(self, seat: int, name: str, value: float, bounds: tuple[float, float]) -> None:
        if not isfinite(value) or not bounds[0] - 1e-9 <= value <= bounds[1] + 1e-9:
            self._find(
                f"the {name} of player {seat + 1} is {value:g}, which is not between {bounds[0]:g} and {bounds[1]:g}"
            )

    def _find(self, words: str) -> None:
        self.report.findings.append(Finding(self.seed, words))


def unused(operator: type[AnyOperator], report: Report) -> list[str]:
    """Moves that were never taken: too hard to guess, or never allowed."""
    return [name for name in operator.actions if not report.taken[name]]


def distinct(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Findings by their words."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.words, []).append(finding)
    return found
