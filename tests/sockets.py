"""Raw sockets for tests: a WebSocket client that reads only when told to, answers no pings and may break any rule."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from arena.wire import JSON, Codec
from tests.guests import PATIENCE
from tests.guests import Frame as Message

USUAL = 256 * 1024
SMALLEST = 4096  # bytes that the kernel is asked to hold for a client that does not read


def hurry(connection: socket.socket) -> None:
    """From now on take as much at a time as others: the smallest window is filled five times a second at worst."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, USUAL)


class RawGuest:
    """A connection by hand."""

    def __init__(self, connection: socket.socket, codec: Codec) -> None:
        self.socket = connection
        self.codec = codec
        self.frames: list[Message] = []
        self.pings = 0
        self.status = 0
        self.is_over = False

    async def open(self, url: str) -> None:
        """Connect, and wait until the handshake is done."""
        address = urlsplit(url)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(self.socket, (address.hostname, address.port))
        self.protocol = ClientProtocol(parse_uri(url), subprotocols=[Subprotocol(self.codec.protocol)], max_size=None)
        self.protocol.send_request(self.protocol.connect())
        await self._flush()
        while not self.status:
            await self.read()

    async def _flush(self) -> None:
        for data in self.protocol.data_to_send():
            await self.send(data)

    async def send(self, data: bytes) -> None:
        """Put bytes on the wire."""
        async with asyncio.timeout(PATIENCE):
            await asyncio.get_running_loop().sock_sendall(self.socket, data)

    async def write(self, data: bytes, opcode: Opcode | None = None, *, fin: bool = True) -> None:
        """Send one frame of the WebSocket protocol, by default a message of our kind."""
        await self.send(self.framed(data, opcode, fin=fin))

    def framed(self, data: bytes, opcode: Opcode | None = None, *, fin: bool = True) -> bytes:
        """One frame of the WebSocket protocol as bytes."""
        own = Opcode.TEXT if self.codec.text else Opcode.BINARY
        return Frame(own if opcode is None else opcode, data, fin=fin).serialize(mask=True, extensions=[])

    async def read(self) -> bool:
        """Take what is there, waiting for some; False when there will be no more."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(PATIENCE):
            try:
                data = await loop.sock_recv(self.socket, 65536)
            except ConnectionError:
                data = b""
        if data:
            self.protocol.receive_data(data)
        else:
            self.is_over = True
            self.protocol.receive_eof()
        for event in self.protocol.events_received():
            if isinstance(event, Response):
                self.status = event.status_code
            elif isinstance(event, Frame):
                self._take(event)
        self.protocol.data_to_send()  # pongs and the like stay unsent
        return not self.is_over

    def _take(self, frame: Frame) -> None:
        if frame.opcode is Opcode.PING:
            self.pings += 1
        elif frame.opcode in {Opcode.TEXT, Opcode.BINARY}:
            self.frames.append(self.codec.load(bytes(frame.data)))

    async def hear(self, type: str, count: int = 1) -> Message:
        """Read until so many frames of this type are there; the last of them."""
        while len(found := [frame for frame in self.frames if frame["type"] == type]) < count:
            assert await self.read(), f"closed with {self.close_code} before {type}"
        return found[count - 1]

    async def ask(self, type: str, **fields: object) -> Message:
        """Send a frame and read until its answer."""
        id_ = f"raw-{len(self.frames)}"
        await self.write(self.codec.encode({"type": type, "id": id_, **fields}))
        while not (found := [frame for frame in self.frames if frame.get("id") == id_]):
            assert await self.read(), f"closed with {self.close_code} before the answer to {type}"
        return found[0]

    def hurry(self) -> None:
        """Read as fast as others from now on."""
        hurry(self.socket)

    async def closed(self) -> int | None:
        """Read to the end; the close code."""
        self.hurry()
        while await self.read():
            pass
        return self.close_code

    @property
    def close_code(self) -> int | None:
        """What the server said at the end."""
        return self.protocol.close_rcvd.code if self.protocol.close_rcvd else None


@asynccontextmanager
async def raw_guest(url: str, codec: Codec = JSON, receive_buffer: int | None = None) -> AsyncIterator[RawGuest]:
    """Connect by hand; with a receive buffer, the kernel holds about so much for it."""
    with socket.socket() as connection:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what is sent in pieces arrives in pieces
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        guest = RawGuest(connection, codec)
        await guest.open(url)
        yield guest
