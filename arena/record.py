"""The record of a challenge: what every board shows beside its numbers, and who met whom. Pure arithmetic.

It is counted like a strategy, with a cursor of its own, once for all boards of a type.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import orjson

from arena import pace
from arena.models import GameResult, Outcome, UserId

SUMMED = (
    "games",
    "wins",
    "ties",
    "losses",
    "forfeits",
    "timeouts",
    "voids",
    "reported",
    "tokens",
    "priced",
    "cost_usd",
)
Pair = tuple[UserId, UserId]  # in the order of their names


@dataclass(slots=True)
class Tally:
    """Games, and how they ended for somebody."""

    games: int = 0
    wins: int = 0
    ties: int = 0
    losses: int = 0

    def add(self, place: int, shared: bool) -> None:
        """Count a game; at a table of many, the first place alone is a win, and shared it is a tie."""
        self.games += 1
        self.wins += place == 1 and not shared
        self.ties += place == 1 and shared
        self.losses += place > 1


@dataclass(slots=True)
class Facts(Tally):
    """What is known of a player, whatever the strategy."""

    forfeits: int = 0
    timeouts: int = 0
    voids: int = 0  # games that count nowhere
    opponents: int = 0  # different ones
    seats: list[Tally] = field(default_factory=list)
    last_played: int = 0  # milliseconds since the epoch
    paces: pace.Bins = field(default_factory=dict)  # how long moves took
    reported: int = 0  # games of which the player told what its model took
    tokens: int = 0
    priced: int = 0  # games of which it told the cost
    cost_usd: float = 0.0

    def plus(self, other: "Facts") -> "Facts":
        """Of two challenges together; opponents and seats of different games do not add up."""
        summed = {name: getattr(self, name) + getattr(other, name) for name in SUMMED}
        last, paces = max(self.last_played, other.last_played), pace.merged(self.paces, other.paces)
        return Facts(**summed, opponents=0, last_played=last, paces=paces)

    @classmethod
    def read(cls, data: bytes) -> "Facts":
        """As they were written."""
        known: dict[str, Any] = orjson.loads(data)
        known["seats"] = [Tally(**tally) for tally in known.get("seats", ())]
        return cls(**known)


@dataclass(slots=True)
class Meetings:
    """The games of two players against each other, from the side of the first."""

    games: int = 0
    wins: int = 0
    ties: int = 0
    losses: int = 0

    def add(self, mine: int, other: int) -> None:
        """Count a game by the two places."""
        self.games += 1
        self.wins += mine < other
        self.ties += mine == other
        self.losses += mine > other

    def plus(self, other: "Meetings") -> "Meetings":
        """Of two challenges together."""
        return Meetings(
            games=self.games + other.games,
            wins=self.wins + other.wins,
            ties=self.ties + other.ties,
            losses=self.losses + other.losses,
        )

    def turned(self) -> "Meetings":
        """From the side of the second."""
        return Meetings(games=self.games, wins=self.losses, ties=self.ties, losses=self.wins)


def pair_of(one: UserId, other: UserId) -> Pair:
    """Two players, in the order in which their meetings are kept."""
    return (one, other) if one < other else (other, one)


def field_of(pair: Pair) -> bytes:
    """The name of a pair in the store."""
    return orjson.dumps(pair)


def pairs_of(result: GameResult) -> Iterator[Pair]:
    """Who met whom in a game."""
    if result.counts:
        for one, other in combinations(result.users, 2):
            yield pair_of(one, other)


class Record:
    """The facts and meetings of those who sat at some tables, as they were before."""

    def __init__(self, facts: dict[UserId, Facts], meetings: dict[Pair, Meetings]) -> None:
        self.facts = facts
        self.meetings = meetings

    def add(self, result: GameResult) -> None:
        """Count a game. A void one is only mentioned; self-play and games off the record are not."""
        if not result.is_official:
            return
        places = [] if result.is_void else result.places
        for seat in range(len(result.players)):
            user = result.user(seat)
            if user is None:
                continue
            facts = self.facts.setdefault(user, Facts())
            facts.last_played = max(result.completed_at, facts.last_played)
            facts.forfeits += result.outcomes[seat] is Outcome.FORFEIT
            facts.timeouts += result.outcomes[seat] is Outcome.TIMEOUT
            if result.is_void:
                facts.voids += 1
            else:
                self._count(facts, seat, places)
                _add_usage(facts, result, seat)
                facts.paces = pace.binned(result.response_times[seat] if result.response_times else (), facts.paces)
        if not result.is_void:
            self._meet(result, places)

    def _count(self, facts: Facts, seat: int, places: list[int]) -> None:
        shared = places.count(places[seat]) > 1
        facts.add(places[seat], shared)
        while len(facts.seats) <= seat:
            facts.seats.append(Tally())
        facts.seats[seat].add(places[seat], shared)

    def _meet(self, result: GameResult, places: list[int]) -> None:
        seats = [(user, place) for seat, place in enumerate(places) if (user := result.user(seat)) is not None]
        for (one, mine), (other, theirs) in combinations(seats, 2):
            pair = pair_of(one, other)
            if pair not in self.meetings:
                self.meetings[pair] = Meetings()
                self.facts[one].opponents += 1
                self.facts[other].opponents += 1
            first, second = (mine, theirs) if pair[0] == one else (theirs, mine)
            self.meetings[pair].add(first, second)


def _add_usage(facts: Facts, result: GameResult, seat: int) -> None:
    """Count what a player says that its model took; to a pack it says so case by case."""
    told = (result.reported_usage or {}).get(result.players[seat])
    card = result.scorecards[seat] if result.scorecards else None
    tokens, usd = (told.total_tokens, told.cost_usd) if told else (card.tokens, card.cost_usd) if card else (None, None)
    if tokens:
        facts.reported += 1
        facts.tokens += round(tokens)
    if usd is not None:
        facts.priced += 1
        facts.cost_usd += usd
