"""A dead reader: what one subscriber that never reads costs all the others, and the server's memory.

It comes and goes while one server serves one circle, so that both sides of the comparison share everything else: from
one process to the next the same server's rate differs by more than what is looked for.
"""

import asyncio
import socket
import statistics
import time
from array import array
from dataclasses import dataclass, field

from benchmarks.circle import SIZE
from benchmarks.gauge import WARM_UP, Gauge, Reading, Row
from benchmarks.peer import Peer
from benchmarks.relay import publishing
from benchmarks.servers import Server

PHASE = 1.0  # seconds with it, and then without it, or the other way round
SETTLING = 0.3  # seconds until its socket is full, or it is forgotten


class DeadReader(Peer):
    """A peer that is let in and never reads again."""

    async def open(self, port: int) -> None:
        """Connect with the smallest buffer that there is."""
        loop, own = asyncio.get_running_loop(), socket.socket()
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        own.setblocking(False)
        await loop.sock_connect(own, ("127.0.0.1", port))
        await loop.create_connection(lambda: self, sock=own)
        await self.opened
        self.transport.pause_reading()


@dataclass
class Side:
    """What was seen in all phases of one kind."""

    rates: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)  # CPU seconds per million
    server: list[float] = field(default_factory=list)
    generator: list[float] = field(default_factory=list)
    growth: list[float] = field(default_factory=list)  # KiB
    times: "array[float]" = field(default_factory=lambda: array("d"))

    async def watch(self, gauge: Gauge, server: Server, seconds: float, rss: int) -> None:
        """Look on for a while; memory is compared with what it was."""
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
        """The medians of all phases, and the most that memory grew."""
        gauge.times = self.times
        reading = Reading(*map(statistics.median, (self.rates, self.costs, self.server, self.generator)))
        return gauge.row("dead-reader", name, what, "deliveries", reading, 1, max(self.growth))


async def dead_reader(server: Server, seconds: float, subscribers: int, window: int) -> tuple[Row, Row]:
    """The others with a dead reader beside them, and without: as many seconds of each."""
    beside, alone = Side(), Side()
    async with publishing(server, subscribers, window) as (gauge, watch, _):
        await asyncio.sleep(WARM_UP)
        for turn in range(max(2, round(seconds / PHASE))):
            for side in (beside, alone) if turn % 2 else (alone, beside):
                rss, dead = server.usage.rss, DeadReader(watch, server.port)
                if side is beside:
                    await dead.open(server.port)
                await asyncio.sleep(SETTLING)
                await side.watch(gauge, server, PHASE, rss)
                if side is beside:
                    dead.transport.abort()
    what = f"1 publisher, {subscribers:,} spectators, {window} in flight, {SIZE} bytes"
    told = "one more that never reads; memory is what the server grew by, at most"
    return beside.row(gauge, server.name, f"{what}; {told}"), alone.row(gauge, "baseline", f"{what}; nobody else")
