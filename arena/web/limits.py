"""Limits of one worker: frames per connection, connections per address."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from arena.web.outlet import Outlet


class Watched(Protocol):
    """A connection that may stall."""

    outlet: Outlet

    def stalled(self) -> None:
        """Its socket has taken nothing for too long."""

    def go_away(self) -> asyncio.Task[None] | None:
        """The server stops: finish what is under way, and close."""


class Bucket:
    """A token bucket: so many a second, with a burst of twice as many; 0 has no bottom."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._tokens = 2 * rate
        self._at = clock()

    def take(self) -> float:
        """Take a token; if there is none, the seconds until there will be one."""
        if not self.rate:
            return 0.0
        now = self._clock()
        self._tokens = min(2 * self.rate, self._tokens + (now - self._at) * self.rate)
        self._at = now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) / self.rate


class Connections:
    """The connections of this worker: how many each address has, and which of them take nothing."""

    def __init__(self, most_per_address: int, stall_seconds: float) -> None:
        self.most = most_per_address
        self.stall = stall_seconds
        self._open: Counter[str] = Counter()
        self._watched: dict[Watched, tuple[tuple[int, int], float]] = {}

    def enter(self, address: str) -> bool:
        """Count a new connection, unless there are too many."""
        if self.most and self._open[address] >= self.most:
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        """A connection is gone."""
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]

    @contextmanager
    def watched(self, connection: Watched) -> Iterator[None]:
        """Keep an eye on a connection."""
        self._watched[connection] = ((0, 0), time.monotonic())
        try:
            yield
        finally:
            del self._watched[connection]

    async def close_all(self) -> None:
        """Have every connection finish what it is doing and say goodbye; returns when they have."""
        endings = [ending for connection in list(self._watched) if (ending := connection.go_away()) is not None]
        if endings:
            await asyncio.wait(endings)

    async def watch(self) -> None:
        """End connections whose socket has taken nothing for too long although something waits."""
        while self.stall:
            await asyncio.sleep(self.stall / 4)
            now = time.monotonic()
            for connection, (seen, since) in list(self._watched.items()):
                mark = sent, left = connection.outlet.mark
                # More bytes than before are no sign of life: a ping of ours may have been added to them.
                alive = sent != seen[0] or left < seen[1] or not left
                self._watched[connection] = (mark, now if alive else since)
                if not alive and now - since >= self.stall:
                    connection.stalled()
