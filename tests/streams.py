"""Readers of event streams for tests: by hand, so that they read only when told to."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import httptools
import orjson

from tests.guests import PATIENCE, Frame
from tests.servers import Served
from tests.sockets import hurry


class Event(NamedTuple):
    """One event: what stood in its lines, and what the data say."""

    id: str | None
    data: bytes
    frame: Frame


class Reader:
    """A stream. Everything that was read is kept in the order in which it came."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.headers: list[tuple[str, str]] = []
        self.events: list[Event] = []
        self.pings = 0
        self.is_over = False  # nothing more can be read
        self.is_complete = False  # and the answer came to its end
        self.body = b""
        self._heard = 0
        self._begun = False
        self._parser = httptools.HttpResponseParser(self)

    @property
    def status(self) -> int:
        """Of the answer."""
        return int(self._parser.get_status_code())

    async def open(self, url: str, headers: dict[str, str], method: str) -> None:
        """Ask, and wait for the headers of the answer."""
        where = urlsplit(url)
        await asyncio.get_running_loop().sock_connect(self.socket, (where.hostname, where.port))
        lines = [f"{method} {where.path}?{where.query} HTTP/1.1", f"host: {where.netloc}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join([*lines, "", ""]).encode())
        while not self._begun:
            assert await self.read()

    async def send(self, data: bytes) -> None:
        """Put bytes on the wire."""
        await asyncio.get_running_loop().sock_sendall(self.socket, data)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.decode().lower(), value.decode()))

    def on_headers_complete(self) -> None:
        self._begun = True

    def on_body(self, data: bytes) -> None:
        self.body += data
        *whole, self.body = self.body.split(b"\n\n")
        for block in whole:
            self._take(block)

    def on_message_complete(self) -> None:
        self.is_complete = True

    def _take(self, block: bytes) -> None:
        if block == b": ping":
            self.pings += 1
            return
        *ids, line = block.split(b"\n")
        assert line.startswith(b"data: "), block
        assert [each[:4] for each in ids] in ([], [b"id: "]), block
        data = line.removeprefix(b"data: ")
        id_ = ids[0].removeprefix(b"id: ").decode() if ids else None
        self.events.append(Event(id_, data, orjson.loads(data)))

    async def read(self, most: int = 65536) -> bool:
        """Take what is there, waiting for some; False when there will be no more."""
        async with asyncio.timeout(PATIENCE):
            try:
                data = await asyncio.get_running_loop().sock_recv(self.socket, most)
            except ConnectionError:
                data = b""
        if data:
            self._parser.feed_data(data)
        self.is_over = not data
        return not self.is_over and not self.is_complete

    async def hear(self, type: str, count: int = 1) -> Event:
        """The next event of this type, or the so-manieth from here."""
        while True:
            while self._heard < len(self.events):
                event = self.events[self._heard]
                self._heard += 1
                if event.frame["type"] == type:
                    count -= 1
                    if not count:
                        return event
            assert await self.read(), f"over before {type}; last: {self.events[-3:]}"

    @property
    def frames(self) -> list[Frame]:
        """What the events said."""
        return [event.frame for event in self.events]

    @property
    def messages(self) -> list[Frame]:
        """The messages so far, by `initial` and `new_message`."""
        found: list[Frame] = []
        for frame in self.frames:
            if frame["type"] == "initial":
                found += frame["messages"]
            elif frame["type"] == "new_message":
                found.append(frame["message"])
        return found

    async def hear_messages(self, count: int) -> list[Frame]:
        """Read until there are so many messages."""
        while len(self.messages) < count:
            assert await self.read(), f"over after {len(self.messages)} of {count} messages"
        return self.messages

    def hurry(self) -> None:
        """Read as fast as others from now on."""
        hurry(self.socket)

    async def closed(self) -> bool:
        """Read to the end; whether the answer was completed."""
        self.hurry()
        while await self.read():
            pass
        return self.is_complete


@asynccontextmanager
async def reading(
    url: str, headers: dict[str, str] | None = None, *, method: str = "GET", receive_buffer: int | None = None
) -> AsyncIterator[Reader]:
    """Ask for a stream; with a receive buffer, the kernel holds about so much for it."""
    with socket.socket() as connection:
        connection.setblocking(False)
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        reader = Reader(connection)
        await reader.open(url, headers or {}, method)
        yield reader


def stream_of(arena: Served, channel: str, base: str = "/api", **query: str) -> str:
    """The address of a channel's stream."""
    return f"{arena.url}{base}/chat/ws/{quote(channel, safe='')}?" + "&".join(f"{k}={v}" for k, v in query.items())


async def read(arena: Served, channel: str, last: str | None = None, **query: str) -> Reader:
    """A reader that is closed with its server."""
    headers = {} if last is None else {"last-event-id": last}
    return await arena.guests.enter_async_context(reading(stream_of(arena, channel, **query), headers))
