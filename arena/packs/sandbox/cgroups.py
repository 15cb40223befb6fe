"""Control groups, where this process may make them: the kernel then counts memory and processes of a whole sandbox."""

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PREFIX = "arena-sandbox-"
_ROOT = Path("/sys/fs/cgroup")


class Group(NamedTuple):
    """A group made for one sandbox: a directory per hierarchy."""

    memory: Path | None = None
    processes: Path | None = None

    @property
    def doors(self) -> list[str]:
        """The files through which a process enters."""
        return sorted({str(each / "cgroup.procs") for each in self if each is not None})

    @property
    def ran_out_of_memory(self) -> bool:
        """Whether the kernel had to kill something in it."""
        if self.memory is None:
            return False
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError):
                lines = (self.memory / name).read_text().splitlines()
                return any(line.startswith("oom_kill ") and not line.endswith(" 0") for line in lines)
        return False


class Cgroups(NamedTuple):
    """The groups below which ours may be made; none where we may not."""

    memory: Path | None = None
    processes: Path | None = None

    @contextlib.contextmanager
    def group(self, memory: int, processes: int) -> Iterator[Group]:
        """A group with these limits, removed when its sandbox is gone."""
        name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        made = Group(
            self.memory and _made(self.memory / name, memory, "memory.max", "memory.limit_in_bytes"),
            self.processes and _made(self.processes / name, processes, "pids.max"),
        )
        try:
            for swap in ("memory.swap.max", "memory.memsw.limit_in_bytes"):
                if made.memory is not None:
                    _set(made.memory / swap, 0 if swap == "memory.swap.max" else memory)
            yield made
        finally:
            for path in {each for each in made if each is not None}:
                _remove(path)

    def clear(self) -> None:
        """Remove what servers left behind that were killed."""
        for parent in {each for each in self if each is not None}:
            for path in parent.glob(f"{_PREFIX}*"):
                if not _is_alive(path.name.split("-")[2]):
                    _remove(path)


def find(root: Path = _ROOT, own: Path = Path("/proc/self/cgroup")) -> Cgroups:
    """Where groups of ours can be made, by trying; version 2 and version 1 of the hierarchy."""
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except OSError:
        return Cgroups()
    places = {kind: path.lstrip("/") for _, kinds, path in lines for kind in kinds.split(",")}
    if "memory" in places or "pids" in places:
        return Cgroups(
            _usable([root / "memory" / places.get("memory", "")], "memory.limit_in_bytes"),
            _usable([root / "pids" / places.get("pids", "")], "pids.max"),
        )
    here = root / places.get("", "")
    # A unit with its own subgroup for the server leaves the group above it to us.
    candidates = [here, here.parent] if here != root else [here]
    return Cgroups(_usable(candidates, "memory.max"), _usable(candidates, "pids.max"))


def _usable(candidates: list[Path], needed: str) -> Path | None:
    for parent in candidates:
        trial = parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        try:
            trial.mkdir()
        except OSError:
            continue
        try:
            if os.access(trial / needed, os.W_OK) and os.access(parent / "cgroup.procs", os.W_OK):
                return parent
        finally:
            _remove(trial)
    return None


def _made(path: Path, limit: int, *names: str) -> Path:
    path.mkdir(exist_ok=True)
    for name in names:
        if (path / name).exists():
            (path / name).write_text(str(limit))
    return path


def _set(path: Path, limit: int) -> None:
    with contextlib.suppress(OSError):
        if path.exists():
            path.write_text(str(limit))


def _remove(path: Path) -> None:
    for _ in range(50):
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)  # the last process is just leaving
        else:
            return


def _is_alive(pid: str) -> bool:
    return pid.isdigit() and Path("/proc", pid).exists()
