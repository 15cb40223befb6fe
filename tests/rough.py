"""A rough way to a server: a proxy that cuts connections, holds frames back and sends some of them twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from arena.wire import JSON

PROTOCOL = Subprotocol(JSON.protocol)


class Rough:
    """What the proxy does to whom, and how often it did."""

    def __init__(self, target: str, rng: Random, *, cut: float, twice: float, delay: float) -> None:
        self.target = target
        self.rng = rng
        self.chances = (cut, twice, delay)
        self.url = ""
        self.doomed = 0  # answers that are cut whatever the dice say
        self.cuts = self.copies = self.connections = 0

    async def carry(self, guest: ServerConnection) -> None:
        """Relay one connection, badly."""
        self.connections += 1
        try:
            async with (
                connect(
                    self.target,
                    subprotocols=[PROTOCOL],
                    compression=None,
                    max_size=None,
                    proxy=None,
                ) as server,
                asyncio.TaskGroup() as group,
            ):
                group.create_task(self._pump(guest, server))
                group.create_task(self._pump(server, guest))
        except* (ConnectionClosed, ConnectionResetError):
            guest.transport.abort()

    async def _pump(self, source: Any, sink: Any) -> None:
        cut, twice, delay = self.chances
        while True:
            frame = await source.recv()
            if delay:
                await asyncio.sleep(self.rng.random() * delay)
            if self.rng.random() < cut or self._is_doomed(frame):
                self.cuts += 1
                raise ConnectionResetError
            await sink.send(frame)
            if self.rng.random() < twice:
                self.copies += 1
                await sink.send(frame)

    def _is_doomed(self, frame: str) -> bool:
        if not self.doomed or JSON.decode(frame.encode())["type"] not in {"reply", "error"}:
            return False
        self.doomed -= 1
        return True


@asynccontextmanager
async def rough(
    target: str, rng: Random, *, cut: float = 0.0, twice: float = 0.0, delay: float = 0.0
) -> AsyncIterator[Rough]:
    """A proxy in front of a server's socket."""
    way = Rough(target, rng, cut=cut, twice=twice, delay=delay)
    async with serve(
        way.carry,
        "127.0.0.1",
        0,
        subprotocols=[PROTOCOL],
        compression=None,
        max_size=None,
    ) as server:
        port = server.sockets[0].getsockname()[1]
        way.url = f"ws://127.0.0.1:{port}/ws"
        yield way
