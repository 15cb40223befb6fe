"""Our WebSocket protocol class for uvicorn: the way in and out that ASGI has no words for.

Routing and handshake stay with Starlette and uvicorn. What the app gets as an ASGI extension is the traffic after them:
whole frames as they arrive, without a queue and a task switch, and a way to write ready-made frames. A connection that
the app has attached to needs no task, no scope and no queue, so these are let go, which is half of its memory.
"""

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Protocol

from starlette.types import Scope
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request
from websockets.speedups import apply_mask

EXTENSION = "arena.socket"
STALLED = 4408
LAST_WORDS = 1.0  # seconds that what is left in a transport may take after the app is done
HIGH, LOW = 64 * 1024, 16 * 1024  # bytes in a transport above which, and below which again, it takes more


class Traffic(Protocol):
    """The app's side of a connection."""

    def take(self, data: bytes, *, text: bool) -> None:
        """One message from the peer."""

    def stuck(self) -> None:
        """The socket takes no more for now."""

    def flowing(self) -> None:
        """It does again."""

    def over(self) -> None:
        """The end: nothing more is heard, and nothing more may be written."""


def at_end(scope: Scope, call: Callable[[], None]) -> None:
    """Have something done when a connection is over: now, unless it lives on without the app's task."""
    protocol: ArenaProtocol | None = scope.get("extensions", {}).get(EXTENSION)
    if protocol is None or protocol.endings is None:
        call()
    else:
        protocol.endings.append(call)


class Ear:
    """Stands where uvicorn keeps events for the app, which of all of them is told the last alone, and at once."""

    __slots__ = ("_protocol",)

    def __init__(self, protocol: "ArenaProtocol") -> None:
        self._protocol = protocol

    def put_nowait(self, event: object) -> None:
        """The connection is over, whatever uvicorn calls it."""
        self._protocol.hang_up()


class Deaf:
    """Stands there when the app has been told everything."""

    def put_nowait(self, event: object) -> None:
        """Nobody wants to know."""


GONE: Any = Deaf()
FLOWING = asyncio.Event()  # stands where uvicorn has one for each connection, for sends that do not happen any more
FLOWING.set()


class ArenaProtocol(WebSocketsSansIOProtocol):
    """Hands whole frames to the app and takes ready-made ones from it; everything unusual goes the usual way."""

    traffic: Traffic | None = None
    endings: list[Callable[[], None]] | None = None  # of a connection that lives on without the app's task
    _tail = b""

    def handle_connect(self, event: Request) -> None:
        """Offer ourselves to the app."""
        super().handle_connect(event)
        if hasattr(self, "scope"):
            extensions: Any = self.scope["extensions"]
            extensions[EXTENSION] = self

    def _refuse_handshake(self) -> None:
        """Answer a request that the library could not even read, say for its length; uvicorn would leave it open."""
        self.transport.write(self.conn.reject(400, "This handshake cannot be read.\n").serialize())
        self.transport.close()

    async def send(self, message: ASGISendEvent) -> None:
        """Send one ASGI event. A refusal is an answer too, which uvicorn would take for a fault of the app."""
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True

    # In

    def attach(self, traffic: Traffic) -> None:
        """From now on messages go straight to the app; those that were faster than it go first."""
        waiting: list[Any] = []
        while not self.queue.empty():
            waiting.append(self.queue.get_nowait())
        self.traffic, self.endings = traffic, []
        self._context = copy_context()  # log lines at the end have the id of the request
        ear: Any = Ear(self)
        self.queue, self.writable = ear, FLOWING
        self.request.headers.clear()  # the library's parser keeps the request for ever
        del self.request, self.response, self.scope
        if not self.disconnected:
            self.transport.set_write_buffer_limits(high=HIGH, low=LOW)
        for event in waiting:
            if event["type"] != "websocket.receive":
                self.hang_up()
            elif (text := event.get("text")) is not None:
                traffic.take(text.encode(), text=True)
            else:
                traffic.take(event.get("bytes") or b"", text=False)
        if self.disconnected:
            self._let_go()
            return
        self.read(True)

    def read(self, wanted: bool) -> None:
        """Read from the peer, or leave what it sends in its own buffers."""
        if wanted == self.read_paused and not self.transport.is_closing():
            self.read_paused = not wanted
            self.transport.resume_reading() if wanted else self.transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        """Parse whole, unfragmented data frames here; whatever else there is goes to the library's parser."""
        if self.traffic is None or self.close_sent:
            data, self._tail = self._tail + data, b""
            super().data_received(data)
            if not self.handshake_initiated and self.conn.handshake_exc is not None:
                self._refuse_handshake()
            return
        if self._tail:
            data, self._tail = self._tail + data, b""
        at, end, limit = 0, len(data), self.config.ws_max_size
        while end - at >= 2:
            first, second = data[at], data[at + 1]
            size, body = second & 127, at + 6
            if size == 126:
                size, body = int.from_bytes(data[at + 2 : at + 4], "big"), at + 8
            elif size == 127:
                size, body = int.from_bytes(data[at + 2 : at + 10], "big"), at + 14
            if second < 128 or (body <= end and size > limit):
                super().data_received(data[at:])  # unmasked or too large: it fails, whatever follows
                return
            if body + size > end:
                break
            if (first == 0x81 or first == 0x82) and self.conn.current_size is None:  # noqa: PLR1714
                self.traffic.take(apply_mask(data[body : body + size], data[body - 4 : body]), text=first == 0x81)
            else:
                super().data_received(data[at : body + size])
            at = body + size
            if self.close_sent or self.transport.is_closing():
                return
        self._tail = data[at:]

    def send_receive_event_to_app(self) -> None:
        """A message that came in pieces, or before the app was ready."""
        data = self.frames[0] if len(self.frames) == 1 else b"".join(self.frames)
        if self.traffic is not None:
            self.frames = []
            if not self.close_sent:
                self.traffic.take(bytes(data), text=self.curr_msg_data_type == "text")
            return
        if self.curr_msg_data_type == "text" and not _is_utf8(data):
            self.frames = [b"\0"]  # no frame in any codec, and so refused as one
        super().send_receive_event_to_app()

    # Out

    @property
    def buffered(self) -> int:
        """Bytes that the socket has not taken yet."""
        return self.transport.get_write_buffer_size()

    def write(self, frames: bytes) -> None:
        """Send ready-made frames."""
        if not self.close_sent and not self.transport.is_closing():
            self.transport.write(frames)

    def pause_writing(self) -> None:
        """The socket takes no more for now."""
        if self.traffic is not None:
            self.traffic.stuck()
        else:
            super().pause_writing()

    def resume_writing(self) -> None:
        """It does again."""
        if self.traffic is not None:
            self.traffic.flowing()
        else:
            super().resume_writing()

    def handle_ping(self) -> None:
        """Answer a ping, unless the peer sends them without reading our answers: those would pile up."""
        answers = b"".join(self.conn.data_to_send())
        if self.buffered < HIGH and not self.close_sent:
            self.transport.write(answers)

    # The end

    def eof_received(self) -> None:
        """The peer says no more, and so the transport closes: what is left in it is not waited for long."""
        self._hurry()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whom it concerns, and let go of what knows us: circles wait long for the garbage collector."""
        super().connection_lost(exc)
        self.conn.parser.close()
        if self.traffic is not None:
            self._let_go()

    def _let_go(self) -> None:
        self.traffic, self.queue = None, GONE

    async def run_asgi(self) -> None:
        """Run the app. Once it is done a peer that does not read is not waited for, unless the connection lives on."""
        try:
            await self.app(self.scope, self.receive, self.send)
        except ClientDisconnected:
            pass
        except BaseException:
            self.logger.exception("Exception in ASGI application\n")
            self.send_500_response()
        else:
            if not self.handshake_complete:
                self.logger.error("ASGI callable returned without completing handshake.")
                self.send_500_response()
        if self.traffic is not None:
            return
        if hasattr(self, "scope"):
            del self.scope  # it has us among its extensions
        if self.close_timer is None:
            self.transport.close()
        self._hurry()

    def _hurry(self) -> None:
        if self.buffered:
            self.loop.call_later(LAST_WORDS, self.transport.abort)

    def hang_up(self) -> None:
        """Tell the app, and whoever else wants to know, that the connection is over."""
        if self.endings is None or self.traffic is None:
            return
        self._hurry()
        endings, self.endings = self.endings, None
        for end in (self.traffic.over, *endings):
            self._context.run(end)

    def close(self, code: int, reason: str) -> None:
        """Say goodbye, and give the peer a while to say it too."""
        if self.close_sent or self.transport.is_closing():
            return
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.read(True)
        self.close_timer = self.loop.call_later(self.close_timeout, self.transport.abort)
        self.hang_up()

    def fail(self, code: int, reason: str) -> None:
        """End the connection without waiting for a peer that does not read."""
        if self.transport.is_closing():
            self.transport.abort()
            return
        if not self.close_sent:
            self.conn.fail(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
        if self.buffered:
            self.transport.abort()
        else:
            self.transport.close()

    def keepalive_timeout(self) -> None:
        """The peer does not answer pings."""
        self.pong_timer = None
        self.pending_ping_payload = None
        self.fail(STALLED, "no answer to pings")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
