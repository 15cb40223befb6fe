"""Entry: a tournament as it is kept: what it is never changes, how it stands does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from pydantic import JsonValue

from arena.models import Millis, Model, Version
from arena.tournament import setup
from arena.tournament.games import Done, Game, Rules
from arena.tournament.setup import Setup


class Phase(StrEnum):
    """How far a tournament is."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"  # its budget is used up, or it cannot go on
    FINISHED = "finished"


class Head(Model):
    """What a tournament is."""

    id: str
    created_at: Millis
    setup: dict[str, JsonValue]  # as it was written
    seed: str
    seats: int
    replayable: bool
    options: dict[str, JsonValue]  # those of every game, defaults included
    version: Version  # of the challenge
    arena: str

    @property
    def rules(self) -> Rules:
        """What the plan has to know."""
        return Rules(self.seats, self.replayable)


class Standing(Model):
    """How a tournament stands, beside its games."""

    phase: Phase = Phase.RUNNING
    reason: str | None = None
    saved: int = 0  # games that were not needed
    seconds: float = 0.0  # that it was played for
    run: int = 1  # counts how often it was started; games of programs do not outlive their runner
    ended_at: Millis | None = None
    budget: dict[str, JsonValue] | None = None  # in place of the file's
    concurrency: int | None = None


@dataclass(frozen=True)
class Entry:
    """A tournament with its games."""

    head: Head
    standing: Standing
    games: Mapping[str, Game] = field(default_factory=dict)

    @cached_property
    def setup(self) -> Setup:
        """The file, with what was changed since."""
        changed = {"budget": self.standing.budget, "concurrency": self.standing.concurrency}
        return setup.parse({**self.head.setup, **{name: value for name, value in changed.items() if value is not None}})

    @property
    def done(self) -> Done:
        """The games that are over."""
        return {key: game for key, game in self.games.items() if game.is_over}

    @property
    def cost(self) -> float:
        """US dollars, as far as agents told."""
        return sum(cost for game in self.games.values() for cost in game.costs if cost is not None)
