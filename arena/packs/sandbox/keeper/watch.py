"""Watching a sandbox from outside until nothing in it lives any more."""

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_PIECE = 64 * 1024
_BEAT = 0.05
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Kept:
    """What is kept of an output: its beginning and its end, and how long it was."""

    def __init__(self, limit: int) -> None:
        self.size = 0
        self._first, self._last, self._limit = bytearray(), bytearray(), limit

    def add(self, piece: bytes) -> None:
        """Take the next piece, and forget from the middle."""
        self.size += len(piece)
        room = (self._limit + 1) // 2 - len(self._first)
        if room > 0:
            self._first += piece[:room]
            piece = piece[room:]
        self._last += piece
        spare = len(self._last) - self._limit // 2
        if spare > 0:
            del self._last[:spare]

    @property
    def parts(self) -> tuple[bytes, bytes]:
        """The beginning and the end; between them something is missing if the output was longer than both."""
        return bytes(self._first), bytes(self._last)


class Watch:
    """Feeds and drains a command, and stops it at its limits."""

    def __init__(self, pidfd: int, pid: int, *, seconds: float, output: int) -> None:
        self.stopped = ""
        self.out, self.err = Kept(output), Kept(output)
        self._pidfd, self._pid = pidfd, pid
        self._until = time.monotonic() + seconds
        self._selector = selectors.DefaultSelector()
        self._input = memoryview(b"")

    def run(
        self, pipes: tuple[IO[bytes], IO[bytes], IO[bytes]], leader: int, data: bytes, memory: int, processes: int
    ) -> None:
        """Return when the whole process namespace is gone; 0 for memory or processes means that others count them."""
        stdin, stdout, stderr = pipes
        self._input = memoryview(data)
        for stream, kept in ((stdout, self.out), (stderr, self.err)):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, kept)
        os.set_blocking(stdin.fileno(), False)
        self._selector.register(stdin, selectors.EVENT_WRITE)
        self._selector.register(leader, selectors.EVENT_READ, "leader")
        self._selector.register(self._pidfd, selectors.EVENT_READ, "namespace")
        while self._turn():
            self._look(memory, processes)
        for stream, kept in ((stdout, self.out), (stderr, self.err)):
            while self._drain(stream, kept):
                pass

    def _turn(self) -> bool:
        """One round of reading and writing; false when the namespace is gone."""
        for key, _ in self._selector.select(_BEAT):
            if key.data == "namespace":
                return False
            if key.data == "leader":
                self._selector.unregister(key.fileobj)
                self.kill("")  # whatever the command left running in the background ends with it
            elif isinstance(key.data, Kept):
                if not self._drain(key.fileobj, key.data):
                    self._selector.unregister(key.fileobj)
            else:
                self._feed(key.fileobj)
        return True

    def _drain(self, stream: object, kept: Kept) -> bool:
        try:
            piece = os.read(stream.fileno(), _PIECE)  # type: ignore[attr-defined]
        except BlockingIOError:
            return False
        kept.add(piece)
        return bool(piece)

    def _feed(self, stream: object) -> None:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            self._input = self._input[os.write(stream.fileno(), self._input[:_PIECE]) :]  # type: ignore[attr-defined]
            if self._input:
                return
        self._selector.unregister(stream)  # type: ignore[arg-type]
        stream.close()  # type: ignore[attr-defined]

    def _look(self, memory: int, processes: int) -> None:
        if time.monotonic() > self._until:
            self.kill("time")
        elif memory or processes:
            found = list(family(self._pid))
            if memory and sum(map(resident, found)) > memory:
                self.kill("memory")
            elif processes and len(found) > processes:
                self.kill("processes")

    def kill(self, reason: str) -> None:
        """End everything in the namespace: it cannot outlive its first process."""
        self.stopped = self.stopped or reason
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)


def family(pid: int) -> Iterator[int]:
    """A process and everything below it; in a namespace orphans go to its first process, so nobody is missed."""
    yield pid
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        children = " ".join((task / "children").read_text() for task in tasks)
    except OSError:
        return
    for child in children.split():
        yield from family(int(child))


def resident(pid: int) -> int:
    """Bytes of memory that a process holds."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0
