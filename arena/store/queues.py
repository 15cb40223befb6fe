"""Queues in the store: tickets that wait, matches in the making, and what came of tickets. One slot per challenge.

A ticket leaves the queue by one script, into one match or into nothing; whatever a worker does after that can be done
again by another, with the same outcome.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError

from arena.models import Invite, Millis, Model, SessionId, UserId
from arena.pairing import Ticket
from arena.store.nodes import Nodes

QUEUES = "{idx}:queues"  # challenges that somebody queues for, by when that was known last


class Place(Model):
    """A seat of a match and who is to sit there: the owner of a ticket, or a house bot."""

    ticket: str | None = None
    bot: str | None = None
    user: UserId | None = None


class Match(Model):
    """Tickets that were paired: all that is needed to seat their owners, whoever does it."""

    id: str
    type: str
    session: SessionId
    options: dict[str, JsonValue] = {}
    ranked: bool = True
    places: list[Place]  # in the order of the session's invites
    at: Millis
    settled: bool = False  # owners know; bots may still be playing

    @property
    def tickets(self) -> list[str]:
        """The tickets of those who are to be told."""
        return [place.ticket for place in self.places if place.ticket is not None]


class Outcome(Model):
    """What came of a ticket: a seat, or why there is none; neither while the match is being made."""

    match: str
    session: SessionId | None = None
    invite: Invite | None = None
    code: str | None = None
    error: str | None = None


class Found(NamedTuple):
    """A ticket as it stands: it waits, something came of it, or it is not there."""

    ticket: Ticket | None = None
    outcome: Outcome | None = None


class Waiting(NamedTuple):
    """A queue as one worker reads it."""

    tickets: list[Ticket]
    seen: dict[str, Millis]


class Names(NamedTuple):
    """The keys of one queue."""

    waiting: str
    seen: str
    origins: str
    matches: str
    worked: str
    feed: str


def names_of(type: str) -> Names:
    """The keys of a challenge's queue, all in one slot."""
    return Names(*(f"{{q:{type}}}:{part}" for part in ("w", "s", "o", "m", "p", "f")))


def type_of(feed: str) -> str:
    """Of which challenge a feed tells."""
    return feed.removeprefix("{q:").removesuffix("}:f")


def _outcome(type: str, ticket: str) -> str:
    return f"{{q:{type}}}:r:{ticket}"


def _user(type: str, ticket: Ticket) -> str:
    """Where the ticket of a user is noted; of nobody, a place where there is never anything."""
    return f"{{q:{type}}}:u:{ticket.user}" if ticket.user else f"{{q:{type}}}:n:{ticket.id}"


class Queues:
    """The queues of a store."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    async def enter(
        self, type: str, ticket: Ticket, now: Millis, limits: tuple[int, int], instead_of: str = ""
    ) -> tuple[str, str]:
        """Queue; says `ok`, `again`, `other` with the user's other ticket, `full`, or `many` of one address."""
        names = names_of(type)
        await self.nodes.run(QUEUES, "ZADD", QUEUES, now, type)  # first: a queue that nobody looks at would be worse
        reply = await self.nodes.script(
            "enqueue",
            [names.waiting, names.seen, names.origins, _outcome(type, ticket.id), _user(type, ticket)],
            *(ticket.id, ticket.to_json(), now, ticket.origin, *limits),
            "1" if ticket.user else "0",
            instead_of,
        )
        return reply[0].decode(), reply[1].decode() if len(reply) > 1 else ""

    async def leave(self, type: str, ticket: Ticket, not_seen_since: Millis | None = None) -> bool:
        """Take a ticket out of the queue, if it still waits there."""
        names = names_of(type)
        return bool(
            await self.nodes.script(
                "dequeue",
                [names.waiting, names.seen, names.origins, _user(type, ticket)],
                ticket.id,
                ticket.origin,
                "" if not_seen_since is None else not_seen_since,
            )
        )

    async def touch(self, type: str, tickets: Iterable[str], now: Millis) -> None:
        """Note that the owners of these tickets are there."""
        seen = names_of(type).seen
        await self.nodes.run_all(
            [(QUEUES, ("ZADD", QUEUES, now, type)), *((seen, ("ZADD", seen, "XX", now, id_)) for id_ in tickets)]
        )

    async def find(self, type: str, ticket: str) -> Found:
        """How a ticket stands."""
        names, outcome = names_of(type), _outcome(type, ticket)
        # What came of it is read last: a ticket is in the queue, or it is there.
        waits, told = await self.nodes.run_all(
            [(names.waiting, ("HGET", names.waiting, ticket)), (outcome, ("GET", outcome))]
        )
        return Found(Ticket.from_json(waits) if waits else None, Outcome.from_json(told) if told else None)

    async def waiting(self, type: str) -> Waiting:
        """Everybody who waits, and when they were seen."""
        names = names_of(type)
        records, seen = await self.nodes.run_all(
            [(names.waiting, ("HVALS", names.waiting)), (names.seen, ("ZRANGE", names.seen, 0, -1, "WITHSCORES"))]
        )
        moments = {id_.decode(): Millis(int(float(at))) for id_, at in zip(seen[::2], seen[1::2], strict=True)}
        return Waiting([ticket for record in records if (ticket := _readable(record)) is not None], moments)

    async def lengths(self, types: Sequence[str]) -> dict[str, int]:
        """How many tickets wait for each of these challenges."""
        names = [names_of(type_).waiting for type_ in types]
        found = await self.nodes.run_all([(name, ("HLEN", name)) for name in names])
        return dict(zip(types, found, strict=True))

    async def busy(self, since: Millis) -> list[str]:
        """The challenges that somebody has queued for since then; older notes are dropped."""
        _, found = await self.nodes.run_all(
            [
                (QUEUES, ("ZREMRANGEBYSCORE", QUEUES, "-inf", f"({since}")),
                (QUEUES, ("ZRANGE", QUEUES, 0, -1)),
            ]
        )
        return [type_.decode() for type_ in found]

    async def pair(self, match: Match, tickets: Sequence[Ticket], now: Millis, keep: int) -> bool:
        """Take tickets from the queue for a match; False, and nothing done, if one of them is gone."""
        names = names_of(match.type)
        own = [key for ticket in tickets for key in (_outcome(match.type, ticket.id), _user(match.type, ticket))]
        told = [part for ticket in tickets for part in (ticket.id, ticket.origin)]
        made = Outcome(match=match.id).to_json()
        keys = [names.waiting, names.seen, names.origins, names.matches, names.worked, *own]
        return bool(await self.nodes.script("pair", keys, match.id, match.to_json(), now, keep, made, *told))

    async def seat(self, match: Match, outcomes: Sequence[Outcome], now: Millis, keep: int, *, goes_on: bool) -> bool:
        """Tell the owners of a match's tickets what came of them, parallel to the tickets; once."""
        names, tickets = names_of(match.type), match.tickets
        left: Any = match.model_copy(update={"settled": True}).to_json() if goes_on else ""
        return bool(
            await self.nodes.script(
                "seat",
                [names.matches, names.worked, names.feed, *(_outcome(match.type, id_) for id_ in tickets)],
                *(match.id, left, now, keep, " ".join(tickets)),
                *(outcome.to_json() for outcome in outcomes),
            )
        )

    async def abandoned(self, type: str, before: Millis) -> list[tuple[Match, Millis]]:
        """Matches that nobody has worked on since then, with the last time."""
        names = names_of(type)
        found = await self.nodes.run(
            names.worked, "ZRANGEBYSCORE", names.worked, "-inf", before, "WITHSCORES", "LIMIT", 0, 100
        )
        worked = {id_: Millis(int(float(at))) for id_, at in zip(found[::2], found[1::2], strict=True)}
        if not worked:
            return []
        records = await self.nodes.run(names.matches, "HMGET", names.matches, *worked)
        return [(Match.from_json(record), at) for record, at in zip(records, worked.values(), strict=True) if record]

    async def claim(self, match: Match, worked: Millis, now: Millis) -> bool:
        """Take over a match; False if somebody else did."""
        return bool(await self.nodes.script("claim", [names_of(match.type).worked], match.id, worked, now))

    async def renew(self, match: Match, now: Millis) -> None:
        """Note that somebody works on a match."""
        worked = names_of(match.type).worked
        await self.nodes.run_all(
            [(QUEUES, ("ZADD", QUEUES, now, match.type)), (worked, ("ZADD", worked, "XX", now, match.id))]
        )

    async def finish(self, match: Match) -> None:
        """Forget a match of which nothing is left to do."""
        names = names_of(match.type)
        await self.nodes.run_all(
            [(names.matches, ("HDEL", names.matches, match.id)), (names.worked, ("ZREM", names.worked, match.id))]
        )


def _readable(record: bytes) -> Ticket | None:
    """A ticket; none if its record is spoiled, which then keeps nobody else from being paired."""
    try:
        return Ticket.from_json(record)
    except ValidationError:
        return None
