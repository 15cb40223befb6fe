"""Metrics: the numbers of a server for Prometheus. Labels are bounded and our own words: no ids, no text of a client.

Several workers of one server share a directory in which each keeps its numbers in files of its own, so any of them can
tell the sum. A worker that is started again goes on where the one before it ended.
"""

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest, values
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from arena.version import __version__

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"  # the variable in which the library looks for it
DOORS = ("ws", "sse")
LIMITS = ("requests", "joins", "creates", "connections", "frames")
COMMITS = ("commit", "chat")  # scripts of the store that a player waits for
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)  # seconds


def share(directory: str, worker: int) -> None:
    """Have this process keep its numbers where the other workers find them; before any are made."""
    os.environ[DIRECTORY] = directory
    values.ValueClass = values.MultiProcessValue(lambda: worker)  # type: ignore[no-untyped-call]
    written = Path(directory) / f"{worker}.new"
    written.write_text(str(os.getpid()))
    written.replace(written.with_suffix(".pid"))


class Tally:
    """A number that grows with every message: added up here, and told to its counter now and then."""

    __slots__ = ("_counter", "_new")

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._new = 0

    def add(self, count: int = 1) -> None:
        """Count."""
        self._new += count

    def tell(self) -> None:
        """Tell what was added since the last time."""
        new, self._new = self._new, 0
        self._counter.inc(new)


class Timings:
    """Durations of what happens with every message, added up like a tally."""

    __slots__ = ("_counts", "_histogram", "_sum")

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram
        self._counts = [0] * (len(BUCKETS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Count."""
        self._counts[bisect_left(BUCKETS, seconds)] += 1
        self._sum += seconds

    def tell(self) -> None:
        """Tell what was added since the last time; the library itself takes only one at a time."""
        counts, self._counts = self._counts, [0] * len(self._counts)
        for bucket, count in zip(self._histogram._buckets, counts, strict=True):
            bucket.inc(count)
        self._histogram._sum.inc(self._sum)
        self._sum = 0.0


class Metrics:
    """The instruments of one worker. Whoever has something to count holds the one it needs."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._connections = self._gauge("arena_connections", "Open connections by door.", "door")
        self.behind = self._gauge("arena_readers_behind", "Readers that are served from the log, by channel.")
        self.actions = Tally(self._counter("arena_actions", "Moves that were carried out or refused by a challenge."))
        self.chats = Tally(self._counter("arena_chat_messages", "Messages that players sent."))
        self.deliveries = Tally(self._counter("arena_deliveries", "Messages that went out to readers."))
        self.conflicts = self._counter("arena_commit_conflicts", "Commits that lost a race and were tried again.")
        self.store_errors = self._counter("arena_store_errors", "Attempts to reach the store that failed.")
        self._refusals = self._counter("arena_refusals", "What was refused for haste or number, by limit.", "limit")
        self._answers = self._counter("arena_http_requests", "HTTP requests by route and status.", "route", "status")
        seconds = Histogram(
            "arena_commit_seconds", "Time of a commit, by script.", ["script"], buckets=BUCKETS, registry=self.registry
        )
        self.commits = {script: Timings(seconds.labels(script)) for script in COMMITS}
        self._doors = {door: self._connections.labels(door) for door in DOORS}
        self._limits = {limit: self._refusals.labels(limit) for limit in LIMITS}
        self._routes: dict[tuple[str, int], Tally] = {}
        for gauge in (self.behind, *self._doors.values()):
            gauge.set(0)  # nobody is here yet, whatever a worker before us has left

    def _counter(self, name: str, help: str, *labels: str) -> Counter:
        return Counter(name, help, labels, registry=self.registry)

    def _gauge(self, name: str, help: str, *labels: str) -> Gauge:
        return Gauge(name, help, labels, registry=self.registry, multiprocess_mode="sum")

    def enter(self, door: str) -> Callable[[], None]:
        """Count a connection, until what comes back is called."""
        gauge = self._doors[door]
        gauge.inc()
        return gauge.dec

    def refused(self, limit: str) -> None:
        """Count a refusal."""
        self._limits[limit].inc()

    def answered(self, route: str, status: int) -> None:
        """Count a request; status 0 is one that went away before it was answered."""
        key = (route, status // 100)
        if key not in self._routes:
            self._routes[key] = Tally(self._answers.labels(route, f"{key[1]}xx" if status else "none"))
        self._routes[key].add()

    def publish(self) -> None:
        """Tell the other workers what was counted since the last time."""
        added: list[Tally | Timings] = [self.actions, self.chats, self.deliveries]
        for each in (*added, *self.commits.values(), *self._routes.values()):
            each.tell()

    def text(self, more: Iterable[Metric] = ()) -> bytes:
        """All numbers of all workers, and more that somebody has looked up, as Prometheus reads them."""
        registry, directory = CollectorRegistry(), os.environ.get(DIRECTORY)
        if directory:
            MultiProcessCollector(registry, directory)  # type: ignore[no-untyped-call]
        else:
            registry.register(_Found(self.registry.collect))
        registry.register(_Found(lambda: [*processes(directory), *more, version()]))
        return generate_latest(registry)


class _Found(Collector):
    """Numbers that were found elsewhere."""

    def __init__(self, find: Callable[[], Iterable[Metric]]) -> None:
        self._find = find

    def collect(self) -> Iterable[Metric]:
        return self._find()

    def describe(self) -> Iterable[Metric]:
        return []


def processes(directory: str | None) -> Iterator[Metric]:
    """Memory, processor time and files of every worker."""
    pids = {"0": os.getpid()}
    if directory:
        pids = {file.stem: int(file.read_text()) for file in sorted(Path(directory).glob("*.pid"))}
    told: dict[str, Metric] = {}
    for worker, pid in pids.items():
        for family in ProcessCollector(pid=lambda pid=pid: pid, registry=None).collect():  # type: ignore[misc]
            metric = told.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            for sample in family.samples:
                metric.add_sample(sample.name, {"worker": worker}, sample.value)
    yield from told.values()


def version() -> Metric:
    """Which arena this is."""
    metric = Metric("arena_info", "The version of the arena.", "gauge")
    metric.add_sample("arena_info", {"version": __version__}, 1)
    return metric


def gauge(name: str, help: str, samples: Iterable[tuple[dict[str, str], float]]) -> Metric:
    """A gauge that was looked up."""
    metric = Metric(name, help, "gauge")
    for labels, value in samples:
        metric.add_sample(name, labels, value)
    return metric
