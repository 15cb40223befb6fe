"""Gauge: counts and times while a server works, and what comes of it as a row."""

import asyncio
import time
from array import array
from dataclasses import dataclass, field

from benchmarks.servers import Server

WARM_UP = 1.0  # seconds of load before anything is counted


@dataclass
class Row:
    """One measurement of one server."""

    mode: str
    server: str
    what: str
    unit: str
    per_second: float
    p50_ms: float
    p99_ms: float
    p999_ms: float
    cpu_seconds_per_million: float
    kib_per_connection: float
    connections: int
    server_cpu: float  # of one core; well under 1 means that something else was the limit
    generator_cpu: float
    valid: bool
    faults: list[str]
    ratio: float | None = None  # of the rate, to the baseline
    cpu_ratio: float | None = None


@dataclass
class Gauge:
    """What a generator writes down while it runs."""

    done: int = 0
    measuring: bool = False
    times: "array[float]" = field(default_factory=lambda: array("d"))
    faults: list[str] = field(default_factory=list)

    def fault(self, what: str) -> None:
        """Something was lost, doubled, changed or out of order."""
        if len(self.faults) < 10:
            self.faults.append(what)

    async def run(self, server: Server, seconds: float, each: int = 1) -> "Reading":
        """Watch for so long, after a warm-up; so many `done` are one of what is counted."""
        await asyncio.sleep(WARM_UP)
        self.measuring = True
        done, used, own, begun = self.done, server.usage, time.process_time(), time.monotonic()
        await asyncio.sleep(seconds)
        took, counted = time.monotonic() - begun, (self.done - done) / each
        cpu, own = server.usage.cpu - used.cpu, time.process_time() - own
        self.measuring = False
        return Reading(counted / took, cpu * 1e6 / max(counted, 1), cpu / took, own / took)

    def quantile_ms(self, share: float) -> float:
        """The time that this share of all took at most."""
        ordered = sorted(self.times)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] * 1e3 if ordered else 0.0

    def row(
        self, mode: str, server: str, what: str, unit: str, reading: "Reading", connections: int, kib: float
    ) -> Row:
        """Sum up."""
        if not reading.per_second:
            self.fault("nothing was counted")
        return Row(
            mode=mode,
            server=server,
            what=what,
            unit=unit,
            per_second=reading.per_second,
            p50_ms=self.quantile_ms(0.5),
            p99_ms=self.quantile_ms(0.99),
            p999_ms=self.quantile_ms(0.999),
            cpu_seconds_per_million=reading.cpu_seconds_per_million,
            kib_per_connection=kib,
            connections=connections,
            server_cpu=reading.server_cpu,
            generator_cpu=reading.generator_cpu,
            valid=not self.faults,
            faults=self.faults,
        )


@dataclass
class Reading:
    """What a gauge shows."""

    per_second: float
    cpu_seconds_per_million: float
    server_cpu: float
    generator_cpu: float
