"""REST: actions, reads and whole games over plain HTTP; every connection has one request in flight."""

import asyncio
import time
from typing import Any, cast

import orjson

from benchmarks.gauge import Gauge, Row
from benchmarks.peer import PATIENCE
from benchmarks.servers import Server

REQUESTS = 5  # of a game: create, two joins, two guesses
HEAD = "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {size}\r\n\r\n"
MESSAGES = 4  # that a read brings


def request(method: str, path: str, body: Any = None) -> bytes:
    """A request as bytes."""
    data = b"" if body is None else orjson.dumps(body)
    return HEAD.format(method=method, path=path, size=len(data)).encode() + data


class Asker(asyncio.Protocol):
    """A raw connection that is kept; `ask` sends a request and waits for its answer."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._data = b""

    async def open(self, port: int) -> None:
        """Connect."""
        await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", port)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ready."""
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """A piece of an answer."""
        self._data += data
        head, found, body = self._data.partition(b"\r\n\r\n")
        if not found:
            return
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) >= size and self._answer is not None:
            self._data = b""
            self._answer.set_result((int(head[9:12]), body))

    def connection_lost(self, exc: Exception | None) -> None:
        """The server is gone, or we are."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError("lost"))

    async def ask(self, data: bytes) -> tuple[int, bytes]:
        """The status and body that a request gets."""
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        return await self._answer

    async def get(self, data: bytes) -> Any:
        """The JSON that a request gets, which has to go well."""
        async with asyncio.timeout(PATIENCE):
            status, body = await self.ask(data)
        if status != 200:
            raise RuntimeError(body.decode())
        return orjson.loads(body)


async def sit_down(asker: Asker, type: str, users: tuple[str, ...] = ()) -> dict[str, Any]:
    """A session whose seats are taken."""
    made = await asker.get(request("POST", f"/api/challenges/{type}"))
    for seat, invite in enumerate(made["invites"]):
        known = {"userId": users[seat]} if users else {}
        await asker.get(request("POST", "/api/arena/join", {"invite": invite, **known}))
    return cast(dict[str, Any], made)


class Player:
    """Does the same again and again, over a connection of its own."""

    def __init__(self, server: Server, gauge: Gauge, mode: str, number: int) -> None:
        self.server = server
        self.gauge = gauge
        self.mode = mode
        self.users = (f"ada-{number}", f"ben-{number}")
        self.asker = Asker()
        self.open = True

    async def play(self) -> None:
        """Until told to stop."""
        await self.asker.open(self.server.port)
        once = self.game if self.mode == "rest-games" and self.server.name == "arena" else await self.prepare()
        while self.open:
            begun = time.perf_counter()
            await once()
            self.gauge.done += 1
            if self.gauge.measuring:
                self.gauge.times.append(time.perf_counter() - begun)
        self.asker.transport.abort()

    async def game(self) -> None:
        """One game."""
        made = await sit_down(self.asker, "psi", self.users)
        for invite in made["invites"]:
            await self.asker.get(request("POST", "/api/arena/message", guess(made["id"], invite)))

    async def prepare(self) -> Any:
        """The one request that is to be sent again and again."""
        if self.server.name != "arena":
            move = request("POST", "/act", guess("0" * 36, "0" * 40))
            data = request("GET", "/sync?channel=x&index=1&from=y") if self.mode == "rest-sync" else move
        else:
            made = await sit_down(self.asker, "tally")
            id_, invite = made["id"], made["invites"][0]
            for number in range(MESSAGES):
                talk = {"channel": id_, "from": invite, "content": f"message {number}"}
                await self.asker.get(request("POST", "/api/chat/send", talk))
            move = request("POST", "/api/arena/message", {**guess(id_, invite), "messageType": "add"})
            read = request("GET", f"/api/chat/sync?channel={id_}&index=1&from={invite}")
            data = read if self.mode == "rest-sync" else move
        return lambda: self.again(data)

    async def again(self, data: bytes) -> None:
        """Send it once more."""
        status, body = await self.asker.ask(data)
        if status != 200:
            self.gauge.fault(f"heard {status} {body[:80]!r}")


def guess(session: str, invite: str) -> dict[str, str]:
    """A move."""
    return {"challengeId": session, "from": invite, "messageType": "guess", "content": "1"}


async def rest(server: Server, seconds: float, mode: str, connections: int) -> Row:
    """So many connections."""
    gauge = Gauge()
    players = [Player(server, gauge, mode, number) for number in range(connections)]
    before = server.usage.rss
    async with asyncio.TaskGroup() as group:
        for player in players:
            group.create_task(player.play(), name="player")
        each = REQUESTS if mode == "rest-games" and server.name != "arena" else 1
        reading = await gauge.run(server, seconds, each)
        kib = (server.usage.rss - before) / 1024 / connections
        for player in players:
            player.open = False
    unit = {"rest-games": "games", "rest-actions": "actions", "rest-sync": "reads"}[mode]
    return gauge.row(mode, server.name, f"{connections} connections, 1 in flight each", unit, reading, connections, kib)
