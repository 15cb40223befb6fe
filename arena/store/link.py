"""Link: one connection to a store, without the cost per command that a general client has.

redis-py opens it (address, TLS, password); from then on packing and parsing are hiredis's, and what is sent within one
turn of the event loop leaves in one write. Replies come in order, so a reply needs no name.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import hiredis
from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,  # noqa: A004
    MovedError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)

KINDS: dict[str, Callable[[str], RedisError]] = {
    "ASK": AskError,
    "CLUSTERDOWN": ClusterDownError,
    "LOADING": BusyLoadingError,
    "MOVED": MovedError,
    "NOSCRIPT": NoScriptError,
    "OOM": OutOfMemoryError,
    "READONLY": ReadOnlyError,
    "TRYAGAIN": TryAgainError,
}


def read_error(text: str) -> RedisError:
    """An error reply as an exception of its kind."""
    kind, _, rest = text.partition(" ")
    return KINDS[kind](rest) if kind in KINDS else ResponseError(text)


class Link(asyncio.Protocol):
    """A connection that carries commands, or pushes of feeds; when it breaks, all that waited on it fails."""

    def __init__(self, silence: float, pushed: Callable[[Any], None] | None = None) -> None:
        self.lost = asyncio.Event()
        self._silence = silence  # seconds after which a store that owes an answer counts as gone
        self._take = pushed or self._settle
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(replyError=read_error)
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._outgoing: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self._connection: Any = None
        self._heard = self._loop.time()
        self._watch: asyncio.TimerHandle | None = None

    @classmethod
    async def open(cls, connection: Any, silence: float, pushed: Callable[[Any], None] | None = None) -> "Link":
        """Take over a connection that redis-py has made ready for commands."""
        await connection.connect()
        link = cls(silence, pushed)
        transport: asyncio.Transport = connection._writer.transport
        link._connection = connection  # keeps its streams from closing the transport
        link._transport = transport
        transport.set_protocol(link)
        link._watch = link._loop.call_later(silence / 2, link._look)
        return link

    def send(self, command: tuple[Any, ...]) -> asyncio.Future[Any]:
        """Queue a command; its reply comes through the future."""
        reply = self._loop.create_future()
        if self._transport is None:
            reply.set_exception(ConnectionError("the connection to the store is closed"))
            return reply
        self.tell(command)
        self._waiting.append(reply)
        return reply

    def tell(self, command: tuple[Any, ...]) -> None:
        """Queue a command whose answer is a push."""
        packed = hiredis.pack_command(command)
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing.append(packed)

    def _flush(self) -> None:
        outgoing, self._outgoing = self._outgoing, []
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(outgoing))

    def data_received(self, data: bytes) -> None:
        """Replies, or parts of them."""
        self._heard = self._loop.time()
        self._reader.feed(data)
        try:
            while (reply := self._reader.gets()) is not False:
                self._take(reply)
        except hiredis.ProtocolError:
            self.close()

    def _settle(self, reply: Any) -> None:
        future = self._waiting.popleft()
        if future.done():
            return
        if isinstance(reply, RedisError):
            future.set_exception(reply)
        else:
            future.set_result(reply)

    def _look(self) -> None:
        """A store that owes answers and says nothing counts as gone."""
        if self._waiting and self._loop.time() - self._heard > self._silence:
            self.close()
            return
        if not self._waiting:
            self._heard = self._loop.time()
        self._watch = self._loop.call_later(self._silence / 2, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Whatever waited will not be answered."""
        self._transport = None
        self.lost.set()
        if self._watch is not None:
            self._watch.cancel()
        for future in self._waiting:
            if not future.done():
                future.set_exception(ConnectionError("the connection to the store was lost"))
        self._waiting.clear()

    def pause_writing(self) -> None:
        """The store takes nothing for now: what waits is bounded by those who wait for it."""

    def resume_writing(self) -> None:
        """It does again."""

    def eof_received(self) -> None:
        """The store has closed its end."""

    def close(self) -> None:
        """Break it off."""
        if self._transport is not None:
            self._transport.abort()
