"""Our HTTP protocol class for uvicorn: a way out for answers that go on for hours, which ASGI has no words for.

Requests, headers and the end of an answer stay with Starlette and uvicorn. What the app gets as an ASGI extension is a
way to write ready-made chunks of a body that has begun, the same bytes for every connection, and word of when the
socket takes no more, takes more again, or is gone.
"""

from typing import Any, Protocol

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from arena.web.protocol import HIGH, LOW

EXTENSION = "arena.chunks"


class Outflow(Protocol):
    """The app's side of an answer that goes on."""

    def stuck(self) -> None:
        """The socket takes no more for now."""

    def flowing(self) -> None:
        """It does again."""

    def lost(self) -> None:
        """It is gone."""


def chunk(body: bytes) -> bytes:
    """A part of a chunked body, ready to be written and joined with others."""
    return b"%x\r\n%b\r\n" % (len(body), body)


class ChunkProtocol(HttpToolsProtocol):
    """Takes ready-made chunks from the app; everything else goes the usual way."""

    outflow: Outflow | None = None
    running: RequestResponseCycle | None = None  # what is being answered; uvicorn remembers only what came last

    def on_message_begin(self) -> None:
        """Offer ourselves to the app."""
        super().on_message_begin()
        scope: Any = self.scope
        scope["extensions"] = {EXTENSION: self}

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self.running = cycle
        super()._start_asgi_task(cycle, app)

    def attach(self, outflow: Outflow) -> bool:
        """From now on chunks may be written; False if the answer has not begun, or is not one of chunks."""
        if self.running is None or not self.running.response_started or not self.running.chunked_encoding:
            return False
        self.outflow = outflow
        self.transport.set_write_buffer_limits(high=HIGH, low=LOW)
        return True

    def detach(self) -> None:
        """The app writes no more chunks: the end of the answer goes the usual way."""
        self.outflow = None

    @property
    def buffered(self) -> int:
        """Bytes that the socket has not taken yet."""
        return self.transport.get_write_buffer_size()

    def pause_writing(self) -> None:
        """The socket takes no more for now."""
        super().pause_writing()
        if self.outflow is not None:
            self.outflow.stuck()

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        if self.outflow is not None:
            self.outflow.flowing()

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to our other protocol class, and keep nothing of it; not amid an answer."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()
            return
        super().handle_websocket_upgrade()
        self._let_go()
        del self.parser

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone, whatever request came after the one that is being answered."""
        super().connection_lost(exc)
        if self.running is not None and not self.running.response_complete:
            self.running.disconnected = True
            self.running.message_event.set()
        if self.outflow is not None:
            self.outflow.lost()
        self._let_go()

    def _let_go(self) -> None:
        """Forget what knows us: circles wait long for the garbage collector."""
        self._unset_keepalive_if_required()
        self.pipeline.clear()
        del self.scope, self.cycle
        self.running = self.outflow = None
