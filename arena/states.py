"""States: how the sessions of this worker stand and who is there, told to whoever follows and to other workers.

A state is not queued: only the newest is sent, and no more than a few times a second.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from arena.clocks import as_frame
from arena.duties import attempt
from arena.engine import Engine
from arena.errors import ArenaError
from arena.models import Invite, SessionId
from arena.room import Presence, Room
from arena.session import Session, state_view, times
from arena.store import keys
from arena.store.nodes import Nodes
from arena.wire import Push

PEER_LIFE = 15.0  # seconds that another worker's presence is believed


class States:
    """The rooms whose state or presence has changed, until everybody knows."""

    def __init__(
        self,
        engine: Engine,
        nodes: Nodes,
        worker: str,
        rooms: Mapping[SessionId, Room],
        leave: Callable[[Room], None],
        aside: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        self.engine = engine
        self.nodes = nodes
        self.worker = worker
        self.rooms = rooms
        self._leave = leave  # called for a room in which nobody is left
        self._aside = aside  # does something without being waited for
        self._restless: set[Room] = set()
        self.watched: Callable[[SessionId, int], None] = lambda id_, spectators: None  # told how many watch a session

    def stir(self, room: Room) -> None:
        """Something has changed in a room: it is looked at before long."""
        self._restless.add(room)

    async def keep(self) -> None:
        """Look at the rooms in which something has changed."""
        rooms, self._restless = self._restless, set()
        known = (room for room in rooms if self.rooms.get(room.session) is room)
        await asyncio.gather(*(attempt("state", self._refresh(room)) for room in known if not self._refresh_now(room)))

    def _refresh_now(self, room: Room) -> bool:
        """Refresh a room of which everything is at hand, as it is while a game goes on; False if it is not."""
        session = self.engine.seen(room.session)
        if session is None or not room.stands_at(session) or not room.subscriptions or room.published != room.presence:
            return False
        self._show(room, session)
        return True

    async def _refresh(self, room: Room) -> None:
        if room.is_deserted:
            self._leave(room)
        if not room.is_game:
            return
        if not room.subscriptions:
            await self.publish(room)
            return
        session = self.engine.seen(room.session)
        try:
            if session is None or not room.stands_at(session):
                session = await self.engine.get(room.session)
        except ArenaError:
            self.stir(room)
            return
        self._show(room, session)
        await self.publish(room)

    def _show(self, room: Room, session: Session) -> None:
        """Have everybody in a room told how its session stands, if that has changed."""
        room.stand(session.tag, session.version)
        here = room.everybody(time.monotonic())
        players = filter(None, session.handles)
        frame: dict[str, Any] = {
            "type": "state",
            "challengeId": room.session,
            "state": state_view(session).wire(),
            "connected": [invite for invite in players if invite in here.seats],
            "spectators": here.spectators,
        }
        if (left := times(session)) is not None:
            frame["clocks"] = as_frame(left, self.engine.clock.now())
        if frame != room.state_frame:
            room.state_frame, room.state_push = frame, Push(lambda: frame)
            for subscription in room.subscriptions:
                subscription.state_stale = subscription.whole
        for subscription in room.subscriptions:
            if subscription.state_stale:
                subscription.listener.lag()

    # Other workers

    def hear(self, room: Room, kind: str, words: Sequence[str]) -> None:
        """What another worker says of a room: who is there, or that it wants to know who is here."""
        if words[0] == self.worker:
            return
        if kind == "?":
            self._aside(self.publish(room, again=True))
            return
        seats = frozenset(Invite(word) for word in words[2:] if word)
        if room.meet(words[0], Presence(seats, int(words[1]), time.monotonic() + PEER_LIFE)):
            self.stir(room)

    def ask(self, room: Room) -> None:
        """Ask the other workers who is there."""
        self._aside(self._tell(room, f"? {self.worker}"))

    def renew(self, room: Room) -> None:
        """Tell those whom we have heard of that we are still here; one of them may have gone without a word."""
        if room.peers:
            self.stir(room)
            self._aside(self.publish(room, again=True))

    async def publish(self, room: Room, *, again: bool = False) -> None:
        """Tell the other workers who is here, if they do not know."""
        here = room.presence
        if room.published == here and not again:
            return
        room.published = here
        self.watched(room.session, room.everybody(time.monotonic()).spectators)
        await self._tell(room, " ".join(["w", self.worker, str(here.spectators), *here.seats]))

    async def _tell(self, room: Room, news: str) -> None:
        feed = keys.feed(room.session)
        try:
            await self.nodes.run(feed, "SPUBLISH", feed, news)
        except ArenaError:
            room.published = None
            self.stir(room)
