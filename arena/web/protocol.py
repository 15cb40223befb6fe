"""Our WebSocket protocol class for uvicorn: the way in and out that ASGI has no words for.

Routing, handshake and close stay with Starlette and uvicorn. What the app gets as an ASGI extension is the traffic in
between: whole frames as they arrive, without a queue and a task switch, and a way to write ready-made frames.
"""

from typing import Any, Protocol

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


class ArenaProtocol(WebSocketsSansIOProtocol):
    """Hands whole frames to the app and takes ready-made ones from it; everything unusual goes the usual way."""

    traffic: Traffic | None = None
    _tail = b""

    def handle_connect(self, event: Request) -> None:
        """Offer ourselves to the app."""
        super().handle_connect(event)
        if hasattr(self, "scope"):
            extensions: Any = self.scope["extensions"]
            extensions[EXTENSION] = self

    # In

    def attach(self, traffic: Traffic) -> None:
        """From now on messages go straight to the app; those that were faster than it go first."""
        self.traffic = traffic
        self.transport.set_write_buffer_limits(high=HIGH, low=LOW)
        waiting = []
        while not self.queue.empty():
            waiting.append(self.queue.get_nowait())
        for event in waiting:
            if event["type"] != "websocket.receive":
                self.queue.put_nowait(event)
            elif (text := event.get("text")) is not None:
                traffic.take(text.encode(), text=True)
            else:
                traffic.take(event.get("bytes") or b"", text=False)
        self.read(True)

    def read(self, wanted: bool) -> None:
        """Read from the peer, or leave what it sends in its own buffers."""
        if wanted == self.read_paused and not self.transport.is_closing():
            self.read_paused = not wanted
            self.transport.resume_reading() if wanted else self.transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        """Parse whole, unfragmented data frames here; whatever else there is goes to the library's parser."""
        if self.traffic is None or self.close_sent:
            super().data_received(data)
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
        super().pause_writing()
        if self.traffic is not None:
            self.traffic.stuck()

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        if self.traffic is not None:
            self.traffic.flowing()

    def handle_ping(self) -> None:
        """Answer a ping, unless the peer sends them without reading our answers: those would pile up."""
        answers = b"".join(self.conn.data_to_send())
        if self.buffered < HIGH:
            self.transport.write(answers)

    # The end

    async def run_asgi(self) -> None:
        """Once the app is done, a peer that does not read is not waited for."""
        await super().run_asgi()
        if self.buffered:
            self.loop.call_later(LAST_WORDS, self.transport.abort)

    def fail(self, code: int, reason: str) -> None:
        """End the connection without waiting for a peer that does not read."""
        if self.transport.is_closing():
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
