"""The servers under test, each in a process of its own on cores of its own, and what they use."""

import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from arena import supervisor
from arena.store.embedded import embedded

ROOT = Path(__file__).resolve().parent.parent
STARTING = 30.0  # seconds a server may take
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")

OFF = {
    "ARENA_LIMIT_FRAMES_PER_SECOND": "0",
    "ARENA_LIMIT_REQUESTS_PER_SECOND": "0",
    "ARENA_LIMIT_JOINS_PER_SECOND": "0",
    "ARENA_LIMIT_CREATES_PER_SECOND": "0",
    "ARENA_LIMIT_CONNECTIONS_PER_ADDRESS": "0",
    "ARENA_LIMIT_OPEN_SESSIONS_PER_ADDRESS": "0",
    "ARENA_LIMIT_CHANNEL_MESSAGES": "0",
    "ARENA_LIMIT_CHANNEL_BYTES": "0",
    "ARENA_LOG_LEVEL": "warning",
}


class Cores(NamedTuple):
    """Who runs where; empty sets where the system does not say."""

    server: frozenset[int]
    generator: frozenset[int]

    @property
    def told(self) -> str:
        """In words."""
        if not self.server:
            return "Processes cannot be pinned here: server, store and generator share all cores."
        if self.server == self.generator:
            return "There is only one core: server, store and generator share it, so rates are too low."
        server, generator = (" ".join(map(str, sorted(cores))) for cores in self)
        return f"Server on core {server}; generator and store on core {generator}."


def share_out(workers: int) -> Cores:
    """A core for each worker while one is left for the generator and the store."""
    if not hasattr(os, "sched_getaffinity"):
        return Cores(frozenset(), frozenset())
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) == 1:
        return Cores(frozenset(cores), frozenset(cores))
    most = min(workers, len(cores) - 1)
    return Cores(frozenset(cores[:most]), frozenset(cores[most:]))


class Usage(NamedTuple):
    """What processes have used so far."""

    cpu: float  # seconds
    rss: int  # bytes; 0 where there is no /proc


class Server:
    """A server under test."""

    def __init__(self, name: str, port: int, process: "subprocess.Popen[bytes]") -> None:
        self.name = name
        self.port = port
        self.process = process

    @property
    def usage(self) -> Usage:
        """Of the server and its workers, without the store."""
        used = [_usage(pid) for pid in _tree(self.process.pid)]
        return Usage(sum(one.cpu for one in used), sum(one.rss for one in used))


def _tree(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    below = children.read_text().split() if children.exists() else []
    return [pid, *(each for child in below for each in _tree(int(child)))]


def _usage(pid: int) -> Usage:
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return Usage(0, 0)
    fields = stat.read_text().rpartition(")")[2].split()
    return Usage((int(fields[11]) + int(fields[12])) / TICK, int(fields[21]) * PAGE)


@contextmanager
def running(name: str, command: list[str], port: int, probe: str, cores: Cores, **more: str) -> Iterator[Server]:
    """Start a server and wait until it answers."""
    env = {**os.environ, **OFF, "PYTHONPATH": str(ROOT), **more}
    process = subprocess.Popen([sys.executable, *command], env=env, cwd=ROOT)
    if cores.server:
        os.sched_setaffinity(process.pid, cores.server)
    try:
        _await_answer(f"http://127.0.0.1:{port}{probe}", process)
        yield Server(name, port, process)
    finally:
        process.terminate()
        process.wait(STARTING)


def _await_answer(url: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + STARTING
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.HTTPError as error:
            if error.code == 404:  # the baselines have no pages
                return
        except OSError:
            pass
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"no answer from {url}")
        time.sleep(0.05)


def free_port() -> int:
    """A port that nobody listens on."""
    with supervisor.bind("127.0.0.1", 0) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def arena(cores: Cores, workers: int = 1) -> Iterator[Server]:
    """`arena serve` on an empty store of its own."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder, embedded(Path(folder) / "data") as store:
        serve = ["-m", "arena", "serve", "--port", str(port), "--store", store, "--workers", str(workers)]
        with running("arena", [*serve, "--load", "benchmarks.tally"], port, "/ready", cores) as server:
            yield server


@contextmanager
def baseline(cores: Cores) -> Iterator[Server]:
    """The naive apps on uvicorn, with a store for those who ask one."""
    port = free_port()
    options = {
        "port": str(port),
        "loop": "uvloop",
        "http": "httptools",
        "ws": "websockets-sansio",
        "ws-per-message-deflate": "false",
        "log-level": "warning",
        "backlog": "4096",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    command = ["-m", "uvicorn", *words, "benchmarks.baseline:app"]
    with (
        tempfile.TemporaryDirectory(prefix="arena-bench-") as folder,
        embedded(Path(folder) / "data") as store,
        running("baseline", command, port, "/", cores, BASELINE_STORE=store) as server,
    ):
        yield server
