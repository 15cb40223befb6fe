"""Pairing: who sits down with whom. Pure: tickets, a time and some rules in, tables out.

Two tickets may meet if the distance of their ratings is within what both of them accept by now. That grows while they
wait, so nobody waits for ever, and those who have just come are not seated with just anybody.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from arena.models import Millis, Model, UserId

START = 1500.0  # the rating of somebody who has none
LOOKED_AT = 300  # tickets of a lane that are paired at once, the oldest of them


class Ticket(Model):
    """A wish to play, as it waits in the queue of a challenge."""

    id: str
    lane: str  # only those in the same may meet: it stands for options, and whether the game counts
    seats: int
    options: dict[str, JsonValue] = {}
    ranked: bool = True
    user: UserId | None = None
    origin: str = ""  # digest of an address, for its limits
    rating: float | None = None
    at: Millis

    @property
    def strength(self) -> float:
        """The rating to pair by."""
        return START if self.rating is None else self.rating


class Rules(NamedTuple):
    """How far apart those may be who meet, and when the house steps in."""

    reach: float = 100.0  # rating points that a new ticket accepts
    widen: float = 10.0  # points more, every second
    backfill: Millis | None = None  # how long a ticket waits before house bots take the free seats; none never

    def accepts(self, ticket: Ticket, now: Millis) -> float:
        """The distance of ratings that a ticket accepts by now."""
        return self.reach + self.widen * max(0, now - ticket.at) / 1000

    def is_patient(self, ticket: Ticket, now: Millis) -> bool:
        """Whether a ticket still waits for others rather than for bots."""
        return self.backfill is None or now - ticket.at < self.backfill


class Table(NamedTuple):
    """Those who sit down together, and how many bots join them."""

    tickets: tuple[Ticket, ...]
    bots: int = 0


def tables(waiting: Iterable[Ticket], now: Millis, rules: Rules) -> list[Table]:
    """The tables that can be set now; whoever has waited longest chooses first."""
    lanes: defaultdict[str, list[Ticket]] = defaultdict(list)
    for ticket in sorted(waiting, key=lambda ticket: (ticket.at, ticket.id)):
        lanes[ticket.lane].append(ticket)
    return [table for lane in lanes.values() for table in _in_lane(lane[:LOOKED_AT], now, rules)]


def _in_lane(waiting: Sequence[Ticket], now: Millis, rules: Rules) -> list[Table]:
    made: list[Table] = []
    left = list(waiting)
    for first in waiting:
        if first not in left:
            continue
        company = _company(first, left, now, rules)
        missing = first.seats - len(company)
        if missing and rules.is_patient(first, now):
            continue
        made.append(Table(tuple(company), missing))
        left = [ticket for ticket in left if ticket not in company]
    return made


def _company(first: Ticket, others: Sequence[Ticket], now: Millis, rules: Rules) -> list[Ticket]:
    """A ticket with those who suit it best and each other well enough, nobody twice; there may be too few."""
    company, users = [first], {first.user} - {None}
    low = high = first.strength
    accepted = rules.accepts(first, now)
    for other in sorted(others, key=lambda other: (abs(other.strength - first.strength), other.at, other.id)):
        if len(company) == first.seats:
            break
        if other is first or other.user in users:
            continue
        spread = max(high, other.strength) - min(low, other.strength)
        least = min(accepted, rules.accepts(other, now))
        if spread > least:
            continue
        company.append(other)
        users |= {other.user} - {None}
        low, high, accepted = min(low, other.strength), max(high, other.strength), least
    return company
