"""Outlets: the way out of one connection, straight into its transport or through ASGI's `send`."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.websockets import WebSocketDisconnect


class Socket(Protocol):
    """A protocol class of ours that lets the app write to its transport."""

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop

    @property
    def buffered(self) -> int:
        """Bytes that the socket has not taken yet."""


class Outlet(Protocol):
    """Takes bytes without waiting; whoever has much to send looks at `has_room` first."""

    push: Callable[[bytes], None]  # send as soon as the socket takes it

    @property
    def has_room(self) -> bool:
        """Whether the reader keeps up."""

    def stuck(self) -> None:
        """The socket says that it takes no more for now."""

    def flowing(self) -> None:
        """The socket says that it takes more again."""

    async def emptied(self) -> None:
        """Wait until the socket has taken what there was."""

    @property
    def mark(self) -> tuple[int, int]:
        """How many messages were sent, and how many bytes wait; (0, 0) if none do."""

    def gather(self) -> None:
        """From now on join what is sent within one turn of the event loop."""

    def close(self) -> None:
        """Send no more."""

    def drop(self) -> None:
        """The socket is gone: what is pushed from now on goes nowhere."""


def nowhere(data: bytes) -> None:
    """Where words go that nobody hears."""


class Direct:
    """Ready-made bytes, written to the transport at once; its buffer limits say whether the reader keeps up.

    Whoever only listens gets what its group gets, which is joined already. A player gets replies beside that, and a
    write costs more than anything else we do for it: `gather` makes one of them.
    """

    __slots__ = ("_flowing", "_gathered", "_protocol", "has_room", "push")

    def __init__(self, protocol: Socket) -> None:
        self.has_room = True
        self.push: Callable[[bytes], None] = protocol.transport.write
        self._protocol = protocol
        self._gathered: list[bytes] | None = None
        self._flowing: asyncio.Event | None = None

    def gather(self) -> None:
        """Write once per turn of the event loop."""
        if self._gathered is None and self.push is not nowhere:
            self._gathered = []
            self.push = self._gather

    def _gather(self, data: bytes) -> None:
        gathered = self._gathered
        if not gathered:
            self._protocol.loop.call_soon(self._flush)
        gathered.append(data)  # type: ignore[union-attr]

    def _flush(self) -> None:
        if self._gathered:
            gathered, self._gathered = self._gathered, []
            self._protocol.transport.write(gathered[0] if len(gathered) == 1 else b"".join(gathered))

    def stuck(self) -> None:
        """The transport is full."""
        self.has_room = False

    def flowing(self) -> None:
        """It is not any more."""
        self.has_room = True
        if self._flowing is not None:
            self._flowing.set()

    async def emptied(self) -> None:
        """Wait until the transport takes more."""
        self._flush()
        while not self.has_room:
            self._flowing = asyncio.Event()
            await self._flowing.wait()

    @property
    def mark(self) -> tuple[int, int]:
        """How much waits in the transport."""
        return (0, self._protocol.buffered)

    def close(self) -> None:
        """Write what is gathered."""
        self._flush()

    def drop(self) -> None:
        """Write nothing: uvloop raises at whoever writes to a closed transport, and others wait behind us."""
        self.push, self._gathered = nowhere, None


class Queued:
    """Messages in a queue that a task sends one by one, for servers that know nothing but ASGI."""

    def __init__(self, send: Callable[[bytes], Awaitable[None]], limit: int) -> None:
        self._send = send
        self._limit = limit
        self._queue: deque[bytes] = deque()
        self.push: Callable[[bytes], None] = self._enqueue
        self._size = 0
        self._sent = 0
        self._empty = asyncio.Event()
        self._empty.set()
        self._writer: asyncio.Task[None] | None = None

    @property
    def has_room(self) -> bool:
        """Whether the queue is short."""
        return self._size < self._limit

    def stuck(self) -> None:
        """ASGI never says so."""

    def flowing(self) -> None:
        """ASGI never says so."""

    def gather(self) -> None:
        """ASGI sends message by message."""

    def _enqueue(self, data: bytes) -> None:
        self._queue.append(data)
        self._size += len(data)
        if self._writer is None:
            self._empty.clear()
            self._writer = asyncio.create_task(self._write(), name="writer")

    async def _write(self) -> None:
        try:
            while self._queue:
                data = self._queue.popleft()
                await self._send(data)
                self._size -= len(data)
                self._sent += 1
        except (OSError, RuntimeError, WebSocketDisconnect):
            self._queue.clear()  # the other side is gone, and the reader will hear of it
            self._size = 0
        self._writer = None
        self._empty.set()

    async def emptied(self) -> None:
        """Wait until everything is sent."""
        await self._empty.wait()

    @property
    def mark(self) -> tuple[int, int]:
        """How much was sent, and how much waits."""
        return (self._sent, self._size) if self._size else (0, 0)

    def close(self) -> None:
        """Send no more, and let nobody wait for what was not sent."""
        if self._writer is not None:
            self._writer.cancel()
            self._writer = None
        self._queue.clear()
        self._size = 0
        self._empty.set()

    def drop(self) -> None:
        """Queue nothing, and forget for whom."""
        self.push, self._send = nowhere, _to_nobody
        self.close()


async def _to_nobody(data: bytes) -> None:
    """How a message is sent to somebody who is gone."""
