"""Events: one channel as a listener of the hub that is sent whole server-sent events."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from typing import Any

import orjson
from starlette.types import Receive, Send

from arena.chat import NO_TAG
from arena.errors import NotFound
from arena.models import Channel, Invite, SessionId
from arena.room import Subscription
from arena.runtime import Arena
from arena.store import keys
from arena.web.chunks import ChunkProtocol, chunk
from arena.web.hangup import hung_up
from arena.web.outlet import Direct, Outlet, Queued
from arena.web.pump import Pump
from arena.wire import JSON, Codec, Cursor

logger = logging.getLogger(__name__)

PING = b": ping\n\n"
CHUNKED_PING = chunk(PING)
NOTHING = {"messages": [], "next": 1, "epoch": NO_TAG, "recovered": False}  # in a channel that does not exist
LONGEST_NAME = 128  # characters of a channel
FLUSH = 2.0  # seconds that the last words of a stream may take


def event(fields: Mapping[str, Any]) -> bytes:
    """One event: the frame as the WebSocket has it, with an id where it moves the reader's cursor."""
    data = JSON.encode(fields)
    match fields["type"]:
        case "new_message":
            last = fields["message"]["index"]
        case "initial":
            last = fields["next"] - 1
        case _:
            return b"data: %b\n\n" % data
    return b"id: %d.%b\ndata: %b\n\n" % (last, fields["epoch"].encode(), data)


PLAIN = Codec("sse", text=True, encode=event, load=orjson.loads)
CHUNKED = Codec("sse", text=True, encode=lambda fields: chunk(event(fields)), load=orjson.loads, framed=True)


class Stream:
    """One reader of one channel. While nothing happens it has one task, which waits for the end."""

    outlet: Outlet
    push: Callable[[bytes], None]

    def __init__(self, arena: Arena, channel: Channel, receive: Receive, send: Send) -> None:
        self.arena = arena
        self.channel = channel
        self.codec = PLAIN
        self._receive = receive
        self._send = send
        self._subscription: Subscription | None = None
        self._protocol: ChunkProtocol | None = None
        self._pump = Pump(self._bring, copy_context())
        self._ping: asyncio.TimerHandle | None = None
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ending: asyncio.Task[None] | None = None
        self._is_open = False

    # The life of a stream

    async def follow(self, viewer: Invite | None, cursor: Cursor | None) -> None:
        """Take a place in the channel's room; what can have no messages has nothing to follow."""
        if len(self.channel) > LONGEST_NAME:
            return
        cursors: dict[str, Cursor] = {self.channel: cursor} if cursor else {}
        with suppress(NotFound):  # no such session
            self._subscription = await self.arena.hub.subscribe(
                self, keys.room_of(self.channel), viewer, cursors, only=self.channel
            )

    async def run(self, protocol: ChunkProtocol | None) -> None:
        """Send what there is and what comes, until either side ends it; the headers are on their way."""
        self._open(protocol)
        if self._subscription is None:
            self.push(self.codec.encode({"type": "initial", "channel": self.channel, **NOTHING}))
        self.lag()
        self._ping_later()
        gone = None if self._protocol else asyncio.create_task(self._hang_up(), name="hang-up")
        try:
            await self._over
        finally:
            self.leave()
            if gone is not None:
                gone.cancel()

    def _open(self, protocol: ChunkProtocol | None) -> None:
        """Choose the way out: straight into the socket if we can, else through ASGI."""
        if protocol is not None and protocol.attach(self):
            self._protocol, self.codec, self.outlet = protocol, CHUNKED, Direct(protocol)
        else:
            self.outlet = Queued(self._send_body, self.arena.settings.outbox_bytes)
        self.push = self.outlet.push
        self._is_open = True

    async def _hang_up(self) -> None:
        await hung_up(self._receive)
        self.lost()

    def leave(self) -> None:
        """Follow no more."""
        self._is_open = False
        self._pump.stop()
        if self._ping is not None:
            self._ping.cancel()
        if self._subscription is not None:
            self.arena.hub.unsubscribe(self._subscription)
            self._subscription = None

    def end(self) -> None:
        """Complete the answer, with what is on its way."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(), name="stream end")

    async def _end(self) -> None:
        self.leave()
        try:
            async with asyncio.timeout(FLUSH):
                await self.outlet.emptied()
                if self._protocol is not None:
                    self._protocol.detach()
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            self.outlet.close()
            if self._protocol is not None:
                self._protocol.transport.abort()
        self.lost()

    def lost(self) -> None:
        """The connection is gone."""
        self.leave()
        self.outlet.drop()
        self.push = self.outlet.push
        if not self._over.done():
            self._over.set_result(None)

    def removed(self, session: SessionId) -> None:
        """The session is gone, and its channels with it."""
        self._subscription = None
        if self._is_open:
            self.end()

    def go_away(self) -> asyncio.Task[None] | None:
        """The server is about to stop."""
        self.end()
        return self._ending

    def stalled(self) -> None:
        """The socket has taken nothing for too long."""
        logger.info("stream closed reason=stalled")
        if self._protocol is not None:
            self._protocol.transport.abort()
        else:
            self.end()

    # Out

    async def _send_body(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    @property
    def has_room(self) -> bool:
        """Whether it keeps up."""
        return self.outlet.has_room

    def stuck(self) -> None:
        """The socket takes no more for now: it is served from the log."""
        self.outlet.stuck()
        if self._subscription is not None:
            asyncio.get_running_loop().call_soon(self.arena.hub.demote, (self._subscription,))

    def flowing(self) -> None:
        """The socket takes more again."""
        self.outlet.flowing()

    def lag(self) -> None:
        """Something waits in the log."""
        if self._is_open:
            self._pump.start()

    async def _bring(self) -> bool:
        if self._subscription is None or not self._subscription.lags:
            return False
        await self.outlet.emptied()
        return await self.arena.hub.bring(self._subscription)

    def _ping_later(self) -> None:
        if seconds := self.arena.settings.event_ping_seconds:
            self._ping = asyncio.get_running_loop().call_later(seconds, self._send_ping)

    def _send_ping(self) -> None:
        """Keep the way open, unless there is something on it."""
        if self.has_room:
            self.push(PING if self._protocol is None else CHUNKED_PING)
        self._ping_later()
