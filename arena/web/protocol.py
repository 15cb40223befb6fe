"""Our WebSocket protocol class for uvicorn: what ASGI has no words for."""

from collections.abc import Callable
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

EXTENSION = "arena.socket"
STALLED = 4408
MOST_UNTAKEN = 64 * 1024  # bytes in the socket above which pings are not answered
UNDECODABLE = b"\0"  # no frame in any codec, and so refused as one


class ArenaProtocol(WebSocketsSansIOProtocol):
    """Tells how much waits in the socket, closes with our codes, and leaves the end of a connection to the app."""

    on_shutdown: Callable[[], None] | None = None

    def handle_connect(self, event: Request) -> None:
        """Offer ourselves to the app."""
        super().handle_connect(event)
        if hasattr(self, "scope"):
            extensions: Any = self.scope["extensions"]
            extensions[EXTENSION] = self

    @property
    def buffered(self) -> int:
        """Bytes that the socket has not taken yet."""
        return self.transport.get_write_buffer_size()

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

    def handle_ping(self) -> None:
        """Answer a ping, unless the peer sends them without reading our answers: those would pile up."""
        answers = b"".join(self.conn.data_to_send())
        if self.buffered < MOST_UNTAKEN:
            self.transport.write(answers)

    def keepalive_timeout(self) -> None:
        """The peer does not answer pings."""
        self.pong_timer = None
        self.pending_ping_payload = None
        self.fail(STALLED, "no answer to pings")

    def shutdown(self) -> None:
        """The server is about to stop: let the app finish what it is doing and close with its own words."""
        if self.on_shutdown is None:
            super().shutdown()
        else:
            self.on_shutdown()

    def send_receive_event_to_app(self) -> None:
        """Hand a message on; text that is not UTF-8 is marked as such, for the app to complain about."""
        if self.curr_msg_data_type == "text" and not _is_utf8(b"".join(self.frames)):
            self.frames, self.curr_msg_data_type = [UNDECODABLE], "text"
        super().send_receive_event_to_app()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
