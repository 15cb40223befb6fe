"""Games of a tournament: their place in the plan, and what came of them. Plain data."""

import hmac
from collections.abc import Mapping, Sequence
from enum import StrEnum
from random import Random
from typing import NamedTuple

from arena.models import Millis, Model, Number, Outcome, Score, SessionId


class Rules(NamedTuple):
    """What a plan has to know of its challenge."""

    seats: int = 2
    replayable: bool = False  # whether seats may be changed on the same deal


class Table(NamedTuple):
    """A game as it is planned."""

    key: str  # its place in the plan
    round: int
    match: str  # games that are counted together
    deal: str  # games with the same are dealt the same
    seats: tuple[str, ...]  # agents in seat order


class State(StrEnum):
    """How far a game is."""

    PLAYING = "playing"
    DONE = "done"
    VOID = "void"  # it counts nowhere


class Game(Model):
    """A game that was begun, and what came of it."""

    key: str
    round: int
    match: str
    deal: str
    seats: list[str]
    state: State = State.PLAYING
    session: SessionId
    attempt: int = 1
    run: int = 1  # of the tournament, in which it was begun
    started_at: Millis
    ended_at: Millis | None = None
    commitment: str = ""
    scores: list[Score] = []
    places: list[int] = []
    outcomes: list[Outcome] = []
    breaches: list[tuple[int, int]] = []  # by which seat, of which seat
    costs: list[Number | None] = []  # US dollars, of seats that told them
    reason: str | None = None  # why it is void

    @property
    def is_over(self) -> bool:
        """Whether it will not be played any more."""
        return self.state is not State.PLAYING


Done = Mapping[str, Game]  # games that are over, by key


def shares(places: Sequence[int]) -> list[float]:
    """What each seat won: the share of its rivals that it left behind, equals counting half."""
    rivals = len(places) - 1
    return [(sum((p > mine) + (p == mine) / 2 for p in places) - 0.5) / rivals for mine in places]


def draw(seed: str, *place: str) -> bytes:
    """Thirty-two bytes that a seed gives for a place in the plan, and nobody can tell without it."""
    return hmac.digest(seed.encode(), "\x00".join(("arena:v1:tournament", *place)).encode(), "sha256")


def rng_of(seed: str, key: str, seat: int) -> Random:
    """The generator of whoever sits there."""
    return Random(draw(seed, "seat", key, str(seat)))  # noqa: S311
