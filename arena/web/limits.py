"""Limits at the doors: frames per connection, connections per address, requests and how large they may be."""

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.errors import RateLimited
from arena.runtime import Arena
from arena.store.slots import Slots
from arena.web.addresses import caller
from arena.web.outlet import Outlet

TOO_MANY_SECONDS = 10  # after which an address with too many connections may try again
FREE = {"/health", "/ready", "/metrics"}  # for those who look after the server


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
    """The connections of this worker: whether there may be one more, and which of them take nothing."""

    def __init__(self, slots: Slots, stall_seconds: float) -> None:
        self.slots = slots
        self.stall = stall_seconds
        self._watched: dict[Watched, tuple[tuple[int, int], float]] = {}
        self.at_close: list[Callable[[], None]] = []  # called when the server is about to stop

    def enter(self, address: str) -> bool:
        """Count a new connection, unless there are too many."""
        return self.slots.enter(address)

    def leave(self, address: str) -> None:
        """A connection is gone."""
        self.slots.leave(address)

    def add(self, connection: Watched) -> None:
        """Keep an eye on a connection."""
        self._watched[connection] = ((0, 0), time.monotonic())

    def drop(self, connection: Watched, address: str) -> None:
        """It is gone, and so is the place that it took."""
        del self._watched[connection]
        self.leave(address)

    @contextmanager
    def watched(self, connection: Watched) -> Iterator[None]:
        """Keep an eye on a connection for a while."""
        self.add(connection)
        try:
            yield
        finally:
            del self._watched[connection]

    async def close_all(self) -> None:
        """Have every connection finish what it is doing and say goodbye; returns when they have."""
        for tell in self.at_close:
            tell()
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


@contextmanager
def place(arena: Arena, address: str) -> Iterator[None]:
    """Count somebody who waits for an answer as a connection, or refuse."""
    if not arena.slots.enter(address):
        raise RateLimited("Too many connections.", TOO_MANY_SECONDS)
    try:
        yield
    finally:
        arena.slots.leave(address)


class RequestLimit:
    """Answers 429 to an address that asks too often."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, if there is a token left for it."""
        app: ASGIApp = self.app
        if scope["type"] == "http" and scope["path"] not in FREE:
            arena: Arena = scope["app"].state.arena
            wait = arena.leases.take("requests", caller(scope))
            app = too_many(wait) if wait else app
        await app(scope, receive, send)


def too_many(wait: float) -> JSONResponse:
    """The answer to a request that came too early."""
    told = {"error": "Too many requests.", "code": RateLimited.code}
    return JSONResponse(told, 429, headers={"retry-after": str(math.ceil(wait))})
