"""A Valkey of our own: started before the first worker, on a private socket, and gone when its owner is gone.

data/owner.lock      flock of the living owner, with its pid
data/store.json      pid and socket of the store that runs on this data
data/store.log       what the store has to say
data/appendonlydir/  the data
"""

import contextlib
import fcntl
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import redis
from pydantic import BaseModel, ValidationError
from redis.backoff import NoBackoff
from redis.retry import Retry

from arena.errors import CannotStart
from arena.store import watchdog
from arena.store.program import binary, spawn

logger = logging.getLogger(__name__)

PREFIX = "arena-"  # of runtime directories, so that we remove no other
ORPHAN_SECONDS = 3.0  # how long a store whose owner died may take to follow it
SILENCE_SECONDS = 120.0  # without any answer, after which a living store is given up
STOP_SECONDS = 10.0
YOUNG_SECONDS = 10.0  # a store that ends before this age never really started
DEATHS = 5  # in a row, after which it is given up


class Leash(StrEnum):
    """What ends the store when its owner is killed."""

    SIGNAL = "signal"  # from the kernel, Linux only
    PIPE = "pipe"  # a watchdog process reads from it until it breaks


class Record(BaseModel):
    """The store that runs on a data directory, as its owner wrote it down."""

    pid: int
    socket: Path

    @property
    def url(self) -> str:
        """The address to hand to workers."""
        return f"unix://{quote(str(self.socket))}"


class Store(Protocol):
    """A store that its owner looks after."""

    @property
    def record(self) -> Record:
        """Which process it is, and where it listens."""

    @property
    def is_gone(self) -> bool:
        """Whether that process has ended."""

    def tend(self) -> None:
        """Start it again, on the same socket, if it has ended although nobody told it to."""

    def release(self) -> None:
        """From now on it may outlive us."""


@contextmanager
def embedded(data: Path, fsync: str = "everysec", leash: Leash | None = None) -> Iterator[str]:
    """The URL of a store that keeps its data in `data` and ends with this block, or with this process."""
    with tended(data, fsync, leash) as store:
        yield store.record.url


@contextmanager
def tended(data: Path, fsync: str = "everysec", leash: Leash | None = None) -> Iterator[Store]:
    """The same store, for an owner that calls `tend` now and then, from the thread that has started it."""
    leash = leash or (Leash.SIGNAL if sys.platform == "linux" else Leash.PIPE)
    if leash is Leash.SIGNAL and threading.current_thread() is not threading.main_thread():
        raise RuntimeError("the kernel ties a store to the thread that starts it, so that must be the main thread")
    data = data.absolute()
    with _owning(data):
        left = _left_running(data)
        with _adopted(data, left, fsync) if left else _started(data, fsync, leash) as store:
            yield store


@contextmanager
def _owning(data: Path) -> Iterator[None]:
    """Hold the data directory for this process; a second owner is refused."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(data / "owner.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (FileExistsError, NotADirectoryError):
        raise CannotStart(f"The data directory {data} is not a directory.") from None
    except OSError as error:
        raise CannotStart(f"The data directory {data} cannot be written to: {error.strerror}.") from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(lock, 0)
            os.write(lock, f"{os.getpid()}\n".encode())
        except BlockingIOError:
            owner = os.read(lock, 20).decode().strip() or "unknown"
            raise CannotStart(
                f"The data directory {data} is in use by another arena server (pid {owner}). "
                "Stop that one, or give this one a directory of its own."
            ) from None
        except OSError as error:
            raise CannotStart(f"The data directory {data} cannot be locked: {error.strerror}.") from None
        yield
    finally:
        os.close(lock)


def _left_running(data: Path) -> Record | None:
    """The store that a former owner left here, once it is clear that it stays."""
    try:
        record = Record.model_validate_json((data / "store.json").read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
    begun = time.monotonic()
    while (waited := time.monotonic() - begun) < SILENCE_SECONDS:
        try:
            pid = _pid_behind(record)
        except redis.TimeoutError:
            logger.warning("a store left running does not answer yet pid=%d", record.pid)
            continue
        if pid is None:
            _sweep(data, record)
        if pid != record.pid:
            return None
        if waited > ORPHAN_SECONDS:
            return record
        time.sleep(0.02)
    raise CannotStart(f"A store (pid {record.pid}) still runs on {data} and does not answer. End it and start again.")


class _Adopted:
    """A store that somebody left running; nobody starts it again, since it is not our child."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self._watch = contextlib.ExitStack()
        self._watch.enter_context(_watched(record.pid))  # the kernel ties only children

    @property
    def is_gone(self) -> bool:
        """Whether somebody else, or nobody, listens there."""
        try:
            return _pid_behind(self.record) != self.record.pid
        except redis.TimeoutError:
            return False

    def tend(self) -> None:
        """Leave it alone."""

    def release(self) -> None:
        """Call the watchdog off."""
        self._watch.close()


@contextmanager
def _adopted(data: Path, record: Record, fsync: str) -> Iterator[Store]:
    """Treat a store that somebody left running as if it were ours."""
    store = _Adopted(record)
    with _kept(data, store, since=_log_size(data)):
        with _client(record) as client:
            client.config_set("appendfsync", fsync)
        logger.info("store adopted pid=%d data=%s", record.pid, data)
        yield store


class _Child:
    """A store of our own."""

    def __init__(self, data: Path, fsync: str, leash: Leash) -> None:
        self._program, self._data, self._fsync, self._leash = binary(), data, fsync, leash
        self._socket = _socket()
        self._watch = contextlib.ExitStack()
        self._deaths = 0
        try:
            self._start()
        except CannotStart:
            self._socket.parent.rmdir()
            raise

    def _start(self) -> None:
        self._since, self._born = _log_size(self._data), time.monotonic()
        try:
            tied = self._leash is Leash.SIGNAL
            self._process = spawn(self._program, self._data, self._socket, self._fsync, tied=tied)
        except (OSError, subprocess.SubprocessError) as error:
            raise CannotStart(f"The store {self._program} cannot be started: {error}.") from None
        if self._leash is Leash.PIPE:
            self._watch.enter_context(_watched(self._process.pid))
        logger.info("store started pid=%d data=%s fsync=%s", self._process.pid, self._data, self._fsync)

    @property
    def record(self) -> Record:
        """Our newest child."""
        return Record(pid=self._process.pid, socket=self._socket)

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def tend(self) -> None:
        """Start it again if it has ended; one that ends again and again is given up."""
        if not self.is_gone:
            return
        self._deaths = self._deaths + 1 if time.monotonic() - self._born < YOUNG_SECONDS else 1
        if self._deaths > DEATHS:
            raise CannotStart(_obituary(self._data, self._since))
        logger.error("store ended, starting it again pid=%d code=%d", self._process.pid, self._process.returncode)
        self._watch.close()
        self._start()
        _write(self._data / "store.json", self.record.model_dump_json())

    def release(self) -> None:
        """Call the watchdog off, if there is one."""
        self._watch.close()


@contextmanager
def _started(data: Path, fsync: str, leash: Leash) -> Iterator[Store]:
    """Run a store of our own on the data."""
    since = _log_size(data)
    store = _Child(data, fsync, leash)
    with _kept(data, store, since):
        yield store


@contextmanager
def _kept(data: Path, store: Store, since: int) -> Iterator[None]:
    """Write the store down and wait until it serves; stop it and clear up after it at the end of the block."""
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: _sweep(data, store.record))
        stack.callback(store.release)
        stack.callback(_stop, store)
        _write(data / "store.json", store.record.model_dump_json())
        _await_answer(data, store, since)
        yield


@contextmanager
def _watched(pid: int) -> Iterator[None]:
    """Have the store terminated when this process dies inside the block; leaving it calls the watch off."""
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-I", "-S", watchdog.__file__, str(pid)], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.communicate(b".", timeout=STOP_SECONDS)


def _await_answer(data: Path, store: Store, since: int) -> None:
    """Return when the store serves; loading may take its time, dying and silence may not."""
    silent_from = time.monotonic()
    with _client(store.record) as client:
        while time.monotonic() - silent_from < SILENCE_SECONDS:
            try:
                client.ping()
            except redis.exceptions.BusyLoadingError:
                silent_from = time.monotonic()
            except (redis.ConnectionError, redis.TimeoutError):
                if store.is_gone:
                    raise CannotStart(_obituary(data, since)) from None
            else:
                return
            time.sleep(0.01)
    raise CannotStart(f"The store on {data} has not answered for {SILENCE_SECONDS:.0f} s; see {data / 'store.log'}.")


def _obituary(data: Path, since: int) -> str:
    """Why the store ended, from what it logged since."""
    log = data / "store.log"
    lines = log.read_bytes()[since:].decode(errors="replace").splitlines() if log.exists() else []
    complaints = "\n".join(line for line in lines if " # " in line)
    if re.search("Can't handle RDB format version|unknown command", complaints):
        reason = f"The data in {data} was written by a newer server than the one that is installed."
    elif re.search("append only file|RDB base file|AOF", complaints):
        reason = f"The data in {data} is damaged. Restore a copy, or repair it with valkey-check-aof."
    else:
        reason = f"The store on {data} ended while it was starting."
    return "\n  ".join([f"{reason} The end of its log:", *lines[-3:]])


def _stop(store: Store) -> None:
    """Ask the store to end, then insist; every answered write is in the file either way."""
    for demand in (signal.SIGTERM, signal.SIGKILL):
        if store.is_gone:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(store.record.pid, demand)
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline and not store.is_gone:
            time.sleep(0.01)


def _pid_behind(record: Record) -> int | None:
    """The pid of the server behind a socket, None if nobody listens there; a silent one raises TimeoutError."""
    try:
        with _client(record) as client:
            return int(client.info("server")["process_id"])
    except redis.ConnectionError:
        return None


def _client(record: Record) -> redis.Redis:
    return redis.Redis(
        unix_socket_path=str(record.socket), socket_timeout=2, socket_connect_timeout=2, retry=Retry(NoBackoff(), 0)
    )


def _socket() -> Path:
    """A path in a new directory of our own, short enough for every system's limit."""
    base = tempfile.gettempdir()  # $XDG_RUNTIME_DIR is emptied at logout, which a server in tmux outlives
    try:
        return Path(tempfile.mkdtemp(prefix=PREFIX, dir=base if len(os.fsencode(base)) < 70 else "/tmp")) / "store.sock"  # noqa: S108
    except OSError as error:
        raise CannotStart(f"There is no room for the socket of the store: {error}.") from None


def _sweep(data: Path, record: Record) -> None:
    """Remove what a store that is gone has left: its record, its socket, and the directory if it is one of ours."""
    (data / "store.json").unlink(missing_ok=True)
    if record.socket.parent.name.startswith(PREFIX):
        record.socket.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            record.socket.parent.rmdir()


def _log_size(data: Path) -> int:
    log = data / "store.log"
    return log.stat().st_size if log.exists() else 0


def _write(path: Path, text: str) -> None:
    """Replace a file as a whole."""
    draft = path.with_suffix(".new")
    try:
        draft.write_text(text)
        draft.replace(path)
    except OSError as error:
        raise CannotStart(f"{path} cannot be written: {error.strerror}.") from None
