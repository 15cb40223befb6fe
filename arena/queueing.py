"""Queueing as its owners see it: how a ticket stands, and who is told when that changes."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

from arena.models import Invite, Millis, Model, SessionId
from arena.room import Listener
from arena.store.feeds import Feeds
from arena.store.queues import Found, names_of, type_of

Name = tuple[str, str]  # challenge and ticket


class QueueState(Model):
    """A ticket as its owner may see it: nothing in it depends on who else waits or plays."""

    challenge_type: str
    ticket: str
    status: Literal["waiting", "matched", "failed", "gone"]
    ranked: bool | None = None
    since: Millis | None = None
    seats: int | None = None
    challenge_id: SessionId | None = None
    invite: Invite | None = None
    code: str | None = None
    error: str | None = None

    @property
    def is_final(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status != "waiting"

    @classmethod
    def of(cls, type: str, id_: str, found: Found) -> "QueueState":
        """What the store knows of a ticket; one whose match is being made still waits."""
        outcome, ticket = found.outcome, found.ticket
        state = cls(challenge_type=type, ticket=id_, status="waiting")
        if outcome is not None and outcome.invite is not None:
            return state._with(status="matched", challenge_id=outcome.session, invite=outcome.invite)
        if outcome is not None and outcome.code is not None:
            return state._with(status="failed", code=outcome.code, error=outcome.error)
        if outcome is not None:
            return state
        if ticket is None:
            return gone(type, id_)
        return state._with(ranked=ticket.ranked, since=ticket.at, seats=ticket.seats)

    def _with(self, **told: Any) -> "QueueState":
        return self.model_copy(update=told)


def gone(type: str, ticket: str) -> QueueState:
    """A ticket that there is not, or no more."""
    return QueueState(challenge_type=type, ticket=ticket, status="gone")


class Followers:
    """Connections of this worker that follow tickets, and requests that wait for one."""

    def __init__(self, feeds: Feeds) -> None:
        self.feeds = feeds
        self.news: set[Name] = set()  # tickets to look at
        self._following: defaultdict[Name, set[Listener]] = defaultdict(set)
        self._names: defaultdict[Listener, set[Name]] = defaultdict(set)  # the same, the other way round
        self._waiting: defaultdict[Name, set[asyncio.Event]] = defaultdict(set)

    async def follow(self, listener: Listener, type: str, ticket: str) -> None:
        """Tell a connection what comes of a ticket."""
        self._following[type, ticket].add(listener)
        self._names[listener].add((type, ticket))
        await self.feeds.subscribe(names_of(type).feed)

    def unfollow(self, listener: Listener, type: str, ticket: str | None = None) -> list[str]:
        """Tell it no more about a ticket of a challenge, or about all; says which those were."""
        found = [name for name in self._names.get(listener, ()) if name[0] == type and ticket in {None, name[1]}]
        for name in found:
            self._drop(listener, name)
        return [ticket for _, ticket in found]

    def forget(self, listener: Listener) -> None:
        """A connection is gone."""
        for name in list(self._names.get(listener, ())):
            self._drop(listener, name)

    @asynccontextmanager
    async def awaiting(self, type: str, ticket: str) -> AsyncIterator[asyncio.Event]:
        """An event that is set when something has come of a ticket."""
        told = asyncio.Event()
        self._waiting[type, ticket].add(told)
        try:
            await self.feeds.subscribe(names_of(type).feed)
            yield told
        finally:
            self._waiting[type, ticket].discard(told)
            if not self._waiting[type, ticket]:
                del self._waiting[type, ticket]
            self._leave(type)

    def hear(self, feed: str, payload: bytes) -> bool:
        """Something has come of some tickets; says whether a connection is to be told."""
        names = [(type_of(feed), ticket) for ticket in payload.decode().split()]
        for name in names:
            for told in self._waiting.get(name, ()):
                told.set()
        self.news |= {name for name in names if name in self._following}
        return bool(self.news)

    def release(self) -> None:
        """The server is about to stop: nobody waits any longer."""
        for waiting in self._waiting.values():
            for told in waiting:
                told.set()

    def take_news(self) -> set[Name]:
        """The tickets to look at, which are then forgotten."""
        taken, self.news = self.news, set()
        return taken

    def tell(self, state: QueueState) -> None:
        """Tell those who follow a ticket that something has come of it; who has no room is told later."""
        name = (state.challenge_type, state.ticket)
        if not state.is_final:
            return
        for listener in [listener for listener in self._following.get(name, ()) if listener.has_room]:
            listener.push(listener.codec.encode({"type": "queue", **state.wire()}))
            self._drop(listener, name)

    def by_type(self) -> dict[str, list[str]]:
        """The tickets that are followed."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for type_, ticket in self._following:
            found[type_].append(ticket)
        return found

    def _drop(self, listener: Listener, name: Name) -> None:
        self._following[name].discard(listener)
        if not self._following[name]:
            del self._following[name]
        self._names[listener].discard(name)
        if not self._names[listener]:
            del self._names[listener]
        self._leave(name[0])

    def _leave(self, type: str) -> None:
        if all(type_ != type for type_, _ in (*self._following, *self._waiting)):
            self.feeds.unsubscribe(names_of(type).feed)
