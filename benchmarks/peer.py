"""Peer: one raw WebSocket client. No library on the way, so that the generator costs less than what it measures."""

import asyncio
from collections.abc import Callable
from typing import cast

PATIENCE = 60.0  # seconds that connecting may take
AT_ONCE = 100  # handshakes under way

UPGRADE = (
    "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
PONG = 0x8A
TEXT = 0x81


def frame(payload: bytes, first: int = TEXT) -> bytes:
    """A client frame. Its mask is zero, so the payload goes out as it is."""
    size = len(payload)
    if size < 126:
        return bytes((first, 128 | size, 0, 0, 0, 0)) + payload
    return bytes((first, 254)) + size.to_bytes(2, "big") + b"\0\0\0\0" + payload


def walk(data: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    """The whole frames at the beginning of some bytes, and the rest."""
    found = []
    at, end = 0, len(data)
    while end - at >= 2:
        size, body = data[at + 1], at + 2
        if size == 126:
            size, body = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
        elif size == 127:
            size, body = int.from_bytes(data[at + 2 : at + 10], "big"), at + 10
        if body + size > end:
            break
        found.append((data[at], data[body : body + size]))
        at = body + size
    return found, data[at:]


class Peer(asyncio.Protocol):
    """A connection; what it hears goes to `hear`, one text at a time."""

    transport: asyncio.Transport
    hello = UPGRADE
    accepted = b" 101 "
    walk = staticmethod(walk)

    def __init__(self, path: str, port: int) -> None:
        self.opened = asyncio.get_running_loop().create_future()
        self.lost = False
        self.hear: Callable[[bytes], None] = lambda _: None
        self._hello = self.hello.format(path=path, port=port).encode()
        self._tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the upgrade."""
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by name
        self.transport.write(self._hello)

    def connection_lost(self, exc: Exception | None) -> None:
        """The server is gone, or we are."""
        self.lost = True
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("refused the handshake"))

    def data_received(self, data: bytes) -> None:
        """The answer to the handshake, then frames."""
        data = self._tail + data
        if not self.opened.done():
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self._tail = head
                return
            if self.accepted not in head[:20]:
                self.transport.close()
                return
            self.opened.set_result(None)
        self.take(data)

    def take(self, data: bytes) -> None:
        """Frames, the last of which may be incomplete."""
        frames, self._tail = self.walk(data)
        for first, payload in frames:
            if first == TEXT:
                self.hear(payload)
            elif first == 0x89:
                self.transport.write(frame(payload, PONG))

    def send(self, payload: bytes) -> None:
        """Say something."""
        self.transport.write(frame(payload))

    async def open(self, port: int) -> None:
        """Connect."""
        await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", port)
        async with asyncio.timeout(PATIENCE):
            await self.opened


async def open_all(peers: list[Peer], port: int) -> None:
    """Connect, not all at the same time."""
    for at in range(0, len(peers), AT_ONCE):
        await asyncio.gather(*(peer.open(port) for peer in peers[at : at + AT_ONCE]))


async def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether something comes true in time."""
    until = asyncio.get_running_loop().time() + seconds
    while not condition():
        if asyncio.get_running_loop().time() > until:
            return False
        await asyncio.sleep(0.01)
    return True
