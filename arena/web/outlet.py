"""Outlet: the way out of one connection. Bytes are queued, a writer sends them, a watch sees that they leave."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

from arena.web.protocol import ArenaProtocol
from arena.wire import Codec


class Outlet:
    """What waits to be sent on a connection; bounded, because whoever fills it looks at `has_room` first."""

    def __init__(self, send: Callable[[bytes], Awaitable[None]], codec: Codec, limit: int) -> None:
        self.codec = codec
        self._send = send
        self._limit = limit
        self._queue: deque[tuple[bytes, bool]] = deque()
        self._size = 0
        self._replies = 0
        self._sent = 0
        self._filled = asyncio.Event()
        self._empty = asyncio.Event()
        self._replied = asyncio.Event()
        self._empty.set()
        self._replied.set()

    @property
    def has_room(self) -> bool:
        """Whether the reader keeps up."""
        return self._size < self._limit

    @property
    def waiting(self) -> int:
        """Bytes that the socket has not been given yet."""
        return self._size

    def push(self, data: bytes, *, reply: bool = False) -> None:
        """Queue bytes."""
        self._queue.append((data, reply))
        self._size += len(data)
        self._filled.set()
        self._empty.clear()
        if reply:
            self._replies += 1
            self._replied.clear()

    async def replied(self) -> None:
        """Wait until no reply waits."""
        await self._replied.wait()

    async def emptied(self) -> None:
        """Wait until nothing waits."""
        await self._empty.wait()

    async def write(self) -> None:
        """Send what is queued, for as long as the connection lives."""
        while True:
            await self._filled.wait()
            self._filled.clear()
            while self._queue:
                data, reply = self._queue.popleft()
                await self._send(data)
                self._sent += 1
                self._size -= len(data)
                if reply:
                    self._replies -= 1
                    if not self._replies:
                        self._replied.set()
            self._empty.set()

    async def watch(self, stall: float, protocol: ArenaProtocol | None) -> None:
        """Return when the socket has taken nothing for so long although something waits."""
        sent, left, since = -1, 0, time.monotonic()
        while True:
            await asyncio.sleep(stall / 4)
            buffered = protocol.buffered if protocol else 0
            # More bytes than before are no sign of life: a ping of ours may have been added to them.
            if self._sent != sent or buffered < left or not (self._size or buffered):
                since = time.monotonic()
            elif time.monotonic() - since >= stall:
                return
            sent, left = self._sent, buffered
