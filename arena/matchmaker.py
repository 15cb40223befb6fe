"""Matchmaker: who wants to play gets a ticket, and the invite of a seat when there is company for it.

Tickets lie in the store. Any worker may pair them: one script takes them from the queue, and from then on the match is
carried out by whoever works on it last, always with the same session and the same seats.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random

from arena import backfill, deals
from arena.duties import AFTER_FAULT, attempt
from arena.engine import Engine
from arena.errors import ArenaError, NotFound, RateLimited, Refused, StoreUnavailable, Taken, Unreadable
from arena.models import Millis
from arena.pairing import Rules, Table, tables
from arena.queueing import Followers, QueueState, gone
from arena.room import Listener
from arena.scorer import Scorer
from arena.session import Session
from arena.store import keys
from arena.store.feeds import Feeds
from arena.store.nodes import heed_cancellation
from arena.store.queues import Found, Match, Outcome, Place, Queues
from arena.store.sessions import Conflict
from arena.ticketing import Tickets, Wish

logger = logging.getLogger(__name__)

PAUSE = 0.5  # seconds between two looks at the queues while nobody comes
BEAT = 5.0  # seconds between two signs of life for tickets whose owner is connected
STALE = 5_000  # milliseconds after which a match's worker counts as dead
LONGEST_WAIT = 25.0  # seconds that somebody may wait for an answer


class House:
    """Whoever lets bots play. This one has none."""

    def has_bots(self, type: str) -> list[str]:
        """The bots that can play a challenge."""
        return []

    def play(self, match: Match, session: Session) -> None:
        """Have the bots of a match play it."""


class Matchmaker:
    """The queues of an arena, as one worker tends them."""

    def __init__(self, engine: Engine, queues: Queues, scorer: Scorer, feeds: Feeds, secret: bytes) -> None:
        self.engine = engine
        self.queues = queues
        self.clock = engine.clock
        self.settings = engine.settings
        self.tickets = Tickets(engine, scorer, secret)
        self.house = House()
        self.is_ours: Callable[[str], bool] = lambda name: True  # whether this worker looks at a queue by itself
        self.followers = Followers(feeds)
        self._entered: set[str] = set()  # challenges that somebody queued for here since the last look
        self._nudged = asyncio.Event()

    # What those who want to play ask for

    async def enter(self, wish: Wish) -> QueueState:
        """Queue, or come back to one's ticket."""
        ticket = await self.tickets.ticket(wish, self.clock.now())
        replaced = ""
        while True:
            limits = (self.settings.limit_queue_tickets, self.settings.limit_queue_tickets_per_address)
            reply, id_ = await self.queues.enter(wish.type, ticket, self.clock.now(), limits, replaced)
            match reply:
                case "ok":
                    self._entered.add(wish.type)
                    self._nudged.set()
                    return QueueState.of(wish.type, id_, Found(ticket))
                case "again":
                    return await self.state(wish.type, id_)
                case "other":
                    found = await self.queues.find(wish.type, id_)
                    if await self._is_over(wish.type, found):
                        replaced = id_
                    elif wish.proven:
                        return await self.state(wish.type, id_)
                    else:
                        raise Taken("ALREADY_QUEUED", "Somebody of this name is in the queue; use that ticket.")
                case "full":
                    raise RateLimited("This queue is full.", PAUSE)
                case _:
                    raise RateLimited("Too many of your tickets wait in this queue.", BEAT)

    async def state(self, type: str, ticket: str) -> QueueState:
        """How a ticket stands; who asks is there, so it goes on waiting."""
        found = await self.queues.find(type, ticket)
        if found.outcome is None and found.ticket is not None:
            await self.queues.touch(type, [ticket], self.clock.now())
        return QueueState.of(type, ticket, found)

    async def wait(self, type: str, ticket: str, seconds: float) -> QueueState:
        """The same, once something has come of it, or after a while."""
        seconds = min(seconds, LONGEST_WAIT, self.settings.queue_ticket_seconds / 2)
        async with self.followers.awaiting(type, ticket) as told:
            state = await self.state(type, ticket)
            if state.is_final or not seconds:
                return state
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await told.wait()
        return await self.state(type, ticket)

    async def leave(self, type: str, ticket: str) -> QueueState:
        """Give a ticket up; one that was paired stays so, and says it."""
        found = await self.queues.find(type, ticket)
        if found.ticket is not None and found.outcome is None and await self.queues.leave(type, found.ticket):
            return gone(type, ticket)
        return QueueState.of(type, ticket, await self.queues.find(type, ticket))

    async def follow(self, listener: Listener, state: QueueState) -> None:
        """Tell a connection what comes of a ticket, and take it for its owner's presence."""
        if not state.is_final:
            await self.followers.follow(listener, state.challenge_type, state.ticket)
            self.followers.news.add((state.challenge_type, state.ticket))  # it may have been paired meanwhile
            self._nudged.set()

    async def overview(self, type: str) -> dict[str, int]:
        """How many wait, for games that count and for others."""
        await self.tickets.offer(type, None)
        waiting = (await self.queues.waiting(type)).tickets
        ranked = sum(ticket.ranked for ticket in waiting)
        return {"ranked": ranked, "practice": len(waiting) - ranked}

    def hear(self, feed: str, payload: bytes) -> None:
        """Something has come of some tickets."""
        if self.followers.hear(feed, payload):
            self._nudged.set()

    async def _is_over(self, type: str, found: Found) -> bool:
        """Whether a ticket keeps its user from another: not if its seat is taken, or its owner is gone."""
        outcome = found.outcome
        if outcome is None:
            ticket, last = found.ticket, self._last_seen()
            return ticket is None or await self.queues.leave(type, ticket, not_seen_since=last)
        if outcome.session is None or outcome.invite is None:
            return outcome.code is not None
        try:
            return (await self.engine.get(outcome.session)).seat_of(outcome.invite) is not None
        except (NotFound, Unreadable):
            return True

    # What a worker does by itself

    async def run(self) -> None:
        """Pair those who wait, carry out what was begun, and tell owners, for as long as the server lives."""
        loop = asyncio.get_running_loop()
        looked = beaten = -PAUSE
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE):
                    await self._nudged.wait()
            self._nudged.clear()
            types, self._entered = self._entered, set()
            if loop.time() - looked >= PAUSE:
                looked, types = loop.time(), types | await self._busy()
            fine = [await attempt(f"queue of {type_}", self.tend(type_)) for type_ in sorted(types)]
            if loop.time() - beaten >= BEAT:
                beaten = loop.time()
                fine.append(await attempt("tickets", self._beat()))
            fine.append(await attempt("news of tickets", self._tell()))
            heed_cancellation()
            if not all(fine):
                await asyncio.sleep(AFTER_FAULT)

    async def _busy(self) -> set[str]:
        found: list[str] = []

        async def look() -> None:
            since = self.clock.now() - 2 * round(self.settings.queue_ticket_seconds * 1000) - 4 * STALE
            found.extend(await self.queues.busy(Millis(since)))

        await attempt("queues", look())
        return {type_ for type_ in found if self.is_ours(type_)}

    async def tend(self, type: str) -> None:
        """Drop tickets whose owners are gone, pair the others, and go on with what dead workers began."""
        now = self.clock.now()
        for match, worked in await self.queues.abandoned(type, Millis(now - STALE)):
            if await self.queues.claim(match, worked, now):
                await attempt("match", self.carry_out(match))
        matches = await self.pair(type)
        await asyncio.gather(*(attempt("match", self.carry_out(match)) for match in matches))

    async def pair(self, type: str) -> list[Match]:
        """Take those from the queue who suit each other; what this worker has paired, nobody else has."""
        now, last = self.clock.now(), self._last_seen()
        waiting = await self.queues.waiting(type)
        for ticket in [ticket for ticket in waiting.tickets if waiting.seen.get(ticket.id, 0) <= last]:
            await self.queues.leave(type, ticket, not_seen_since=last)
        there = [ticket for ticket in waiting.tickets if waiting.seen.get(ticket.id, 0) > last]
        bots = self.house.has_bots(type)
        settings = self.settings
        patience = (
            Millis(round(settings.queue_backfill_seconds * 1000)) if bots and settings.queue_backfill_seconds else None
        )
        rules = Rules(settings.queue_reach, settings.queue_widen, patience)
        made = [(_match(type, table, bots, now), table.tickets) for table in tables(there, now, rules)]
        paired = await asyncio.gather(*(self.queues.pair(match, some, now, self._keep) for match, some in made))
        return [match for (match, _), first in zip(made, paired, strict=True) if first]

    async def carry_out(self, match: Match) -> None:
        """Open the session of a match and tell the owners of its tickets; may be done again by anybody."""
        try:
            session = await (self.engine.get(match.session) if match.settled else self._open(match))
        except (StoreUnavailable, RateLimited):
            raise
        except ArenaError as error:
            if match.settled:  # its game is gone, and so is the work of its bots
                await self.queues.finish(match)
                return
            logger.warning("match failed type=%s code=%s", match.type, error.code)
            failed = Outcome(match=match.id, code=error.code, error=error.message)
            await self.queues.seat(match, [failed] * len(match.tickets), self.clock.now(), self._keep, goes_on=False)
            return
        seated = zip(match.places, session.header.invites, strict=False)
        outcomes = [Outcome(match=match.id, session=session.id, invite=code) for place, code in seated if place.ticket]
        has_bots = any(place.bot for place in match.places)
        if not match.settled:
            await self.queues.seat(match, outcomes, self.clock.now(), self._keep, goes_on=has_bots)
        if has_bots:
            self.house.play(match, session)

    async def _open(self, match: Match) -> Session:
        """The session of a match: there is one, whoever opens it."""
        fill_by = Millis(match.at + round(self.settings.queue_join_seconds * 1000))
        with suppress(NotFound):
            return await self.engine.get(match.session)
        if self.clock.now() > fill_by:
            raise Refused("MATCH_LAPSED", "This match was not made in time; queue again.")
        try:
            return await self.engine.create(
                match.type,
                match.options,
                id_=match.session,
                deal=deals.draw(ranked=match.ranked),
                held=[place.user for place in match.places],
                fill_by=fill_by,
            )
        except Conflict:
            return await self.engine.get(match.session)

    async def _beat(self) -> None:
        """Say that the owners of followed tickets are there, and look whether a piece of news was lost."""
        for type_, tickets in self.followers.by_type().items():
            await self.queues.touch(type_, tickets, self.clock.now())
            self.followers.news |= {(type_, ticket) for ticket in tickets}

    async def _tell(self) -> None:
        for type_, ticket in self.followers.take_news():
            self.followers.tell(QueueState.of(type_, ticket, await self.queues.find(type_, ticket)))

    def _last_seen(self) -> Millis:
        """Whoever was not heard of since then is gone."""
        return Millis(self.clock.now() - round(self.settings.queue_ticket_seconds * 1000))

    @property
    def _keep(self) -> int:
        """Milliseconds for which it is remembered what came of a ticket."""
        return round((self.settings.open_seconds + self.settings.queue_join_seconds) * 1000)


def _match(type: str, table: Table, bots: Sequence[str], now: Millis) -> Match:
    """A match of a table. Who sits where says nothing about who came when."""
    id_, first = secrets.token_hex(16), table.tickets[0]
    players = [Place(ticket=ticket.id, user=ticket.user) for ticket in table.tickets]
    taken = [place.user for place in players]
    places = players + (backfill.line_up(type, bots, table.bots, taken, id_) if table.bots else [])
    Random(id_).shuffle(places)  # noqa: S311
    return Match(
        id=id_,
        type=type,
        session=keys.new_session_id(),
        options=first.options,
        ranked=first.ranked,
        places=places,
        at=now,
    )
