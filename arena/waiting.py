"""Waiting instead of asking again and again, for a message that is not there yet."""

import asyncio
from contextlib import suppress

from arena.errors import NotFound
from arena.hub import Hub
from arena.models import Channel
from arena.store import keys

LONGEST = 25.0  # seconds that a reader may wait


class Waiting:
    """Those who wait for messages on this worker: each costs a place in its channel's room, and asks nothing."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self._waiters: set[asyncio.Event] = set()
        self._is_over = False

    async def until(self, channel: Channel, index: int, seconds: float) -> None:
        """Return when there is a message of this index, or never will be, or the time is over."""
        if self._is_over:
            return
        try:
            room = await self.hub.enter(keys.room_of(channel))
        except NotFound:
            return
        log = next(log for log in room.logs if log.channel == channel)
        there = asyncio.Event()
        log.awaited[there] = max(index, 1)
        log.wake()  # its room listened before it looked, so what came meanwhile is known or will be told
        self._waiters.add(there)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(seconds, LONGEST)):
                    await there.wait()
        finally:
            self._waiters.discard(there)
            log.awaited.pop(there, None)
            self.hub.leave(room)

    def release(self) -> None:
        """The server is about to stop: nobody waits any longer."""
        self._is_over = True
        for there in self._waiters:
            there.set()
