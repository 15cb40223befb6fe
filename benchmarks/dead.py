"""A dead reader: what one subscriber that never reads costs all the others, and the server's memory.

It comes and goes while one server serves one circle, so that both sides of the comparison share everything else: from
one process to the next the same server's rate differs by more than what is looked for.
"""

import asyncio
import re
import socket
import statistics
import time
import urllib.request
from array import array
from dataclasses import dataclass, field

import orjson

from benchmarks.circle import SIZE
from benchmarks.gauge import WARM_UP, Gauge, Reading, Row
from benchmarks.guest import create, guest
from benchmarks.peer import Peer
from benchmarks.relay import publishing
from benchmarks.servers import Server

PHASE = 2.0  # seconds with it, and then without it, or the other way round; less in a short run
NOISE, NOISES = "x" * 30_000, 200  # 6 MB of talk elsewhere, more than the kernel keeps for a socket
NOTICED = 10.0  # seconds until the server's metrics have to tell of it
BEHIND = re.compile(rb"^arena_readers_behind (\d+)", re.MULTILINE)


class DeadReader(Peer):
    """A peer that is let in, follows two sessions and never reads again."""

    async def open(self, port: int) -> None:
        """Connect with the smallest buffer that there is."""
        loop, own = asyncio.get_running_loop(), socket.socket()
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        own.setblocking(False)
        await loop.sock_connect(own, ("127.0.0.1", port))
        await loop.create_connection(lambda: self, sock=own)
        await self.opened
        self.transport.pause_reading()

    def watch(self, session: str) -> None:
        """Ask for what it will not read."""
        self.send(orjson.dumps({"type": "watch", "challengeId": session}))


class Noise:
    """A session elsewhere in which so much is said that who follows it and does not read is stuck."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def kill(self, session: str) -> DeadReader:
        """A dead reader of a session, whose socket takes nothing any more."""
        [made] = await create(self.port, 1)
        dead = DeadReader("/ws", self.port)
        await dead.open(self.port)
        for each in (made["id"], session):
            dead.watch(each)
        async with guest(self.port) as loud:
            await loud.ask("join", invite=made["invites"][0])
            for _ in range(NOISES):
                await loud.ask("chat", channel=made["id"], content=NOISE)
        return dead


@dataclass
class Side:
    """What was seen in all phases of one kind."""

    rates: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)  # CPU seconds per million
    server: list[float] = field(default_factory=list)
    generator: list[float] = field(default_factory=list)
    growth: list[float] = field(default_factory=list)  # KiB
    times: "array[float]" = field(default_factory=lambda: array("d"))

    async def look_on(self, gauge: Gauge, server: Server, rss: int, seconds: float) -> None:
        """Watch for a phase; memory is compared with what it was before somebody came."""
        gauge.measuring, gauge.times = True, self.times
        done, used, own, begun = gauge.done, server.usage, time.process_time(), time.monotonic()
        await asyncio.sleep(seconds)
        now, took, counted = server.usage, time.monotonic() - begun, gauge.done - done
        gauge.measuring = False
        self.rates.append(counted / took)
        self.costs.append((now.cpu - used.cpu) * 1e6 / max(counted, 1))
        self.server.append((now.cpu - used.cpu) / took)
        self.generator.append((time.process_time() - own) / took)
        self.growth.append((now.rss - rss) / 1024)

    def row(self, gauge: Gauge, name: str, what: str) -> Row:
        """The medians of all phases, and by how much memory grew at most."""
        gauge.times = self.times
        reading = Reading(*map(statistics.median, (self.rates, self.costs, self.server, self.generator)))
        return gauge.row("dead-reader", name, what, "deliveries", reading, 1, max(self.growth))


async def dead_reader(server: Server, seconds: float, subscribers: int, window: int) -> tuple[Row, Row]:
    """The others with a dead reader beside them, and without: as many seconds of each."""
    beside, alone, noise, phase = Side(), Side(), Noise(server.port), min(PHASE, seconds / 2)
    async with publishing(server, subscribers, window) as stage:
        session = stage.watch.rpartition("=")[2]
        (await noise.kill(session)).transport.abort()  # the memory that so much talk takes is not the dead reader's
        await asyncio.sleep(WARM_UP)
        for turn in range(round(seconds / phase)):
            for side in (beside, alone) if turn % 2 else (alone, beside):
                rss = server.usage.rss
                dead = await noise.kill(session) if side is beside else None
                await side.look_on(stage.gauge, server, rss, phase)
                if dead is not None:
                    dead.transport.abort()
        dead = await noise.kill(session)
        if not await _is_noticed(server.port):
            stage.gauge.fault("the dead reader was not behind")
        dead.transport.abort()
    what = f"1 publisher, {subscribers:,} spectators, {window} in flight, {SIZE} bytes"
    told = "one more that never reads, and by how much memory grew at most"
    return beside.row(stage.gauge, server.name, f"{what}; {told}"), alone.row(stage.gauge, "baseline", what)


async def _is_noticed(port: int) -> bool:
    """Whether the server says that somebody is behind."""
    until = time.monotonic() + NOTICED
    while time.monotonic() < until:
        await asyncio.sleep(0.5)
        with await asyncio.to_thread(urllib.request.urlopen, f"http://127.0.0.1:{port}/metrics") as page:
            found = BEHIND.search(page.read())
        if found and int(found[1]):
            return True
    return False
