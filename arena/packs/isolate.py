"""Pure work on hostile input, run in processes that can be stopped: the event loop never waits for it.

A worker is a Python of its own that takes one call at a time over its pipes. One that takes too long, or more memory
than it may have, is killed and replaced; the caller gets an error and everybody else goes on.
"""

import asyncio
import contextlib
import importlib
import os
import pickle
import signal
import struct
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import IO, Any, ParamSpec, Self, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_LENGTH = struct.Struct(">Q")
_MEMORY = 2 * 1024**3
_DEPTH = 20_000
_STACK = 256 * 1024**2
_BUFFER = 1024 * 1024
_START = 60.0  # seconds that a worker may take to start
_GRACE = 5.0  # seconds that a worker outlives a call of which nobody stopped it


class Stopped(Exception):
    """Work that was stopped: it took too long, or its worker died of it."""


class TooDeep(Stopped):
    """Work that never began: what it is about is nested too deeply to be sent."""


class _Worker:
    """One process and the pipes to it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(cls) -> "_Worker":
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from arena.packs.isolate import main; main()",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_BUFFER,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(_START):
                await worker.answer()
        except BaseException:
            await worker.kill()
            raise
        return worker

    async def call(self, request: bytes) -> Any:
        stdin = self.process.stdin
        assert stdin is not None
        stdin.write(_LENGTH.pack(len(request)) + request)
        await stdin.drain()
        return await self.answer()

    async def answer(self) -> Any:
        stdout = self.process.stdout
        assert stdout is not None
        (size,) = _LENGTH.unpack(await stdout.readexactly(_LENGTH.size))
        return pickle.loads(await stdout.readexactly(size))  # noqa: S301 - written by our own code, in our own process

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()


class Isolate:
    """A few workers, started when they are needed, and calls into them with a time limit."""

    def __init__(self, workers: int = 2, seconds: float = 10.0) -> None:
        self.seconds = seconds
        self._free = asyncio.Semaphore(workers)
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the workers; the next call starts new ones."""
        for worker in tuple(self._all):
            await self._drop(worker)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function of a module in a worker; what it raises is raised here."""
        try:
            request = pickle.dumps((self.seconds, pickle.dumps((function, args, kwargs))))
        except RecursionError:
            raise TooDeep("stopped, for its input is nested too deeply") from None
        async with self._worker() as worker:
            try:
                async with asyncio.timeout(self.seconds):
                    good, answer = await worker.call(request)
            except TimeoutError:
                raise Stopped(f"stopped after {self.seconds:g} s") from None
            except (asyncio.IncompleteReadError, ConnectionError):
                raise Stopped("stopped, for its worker died of it") from None
        if isinstance(answer, MemoryError):
            raise Stopped("stopped, for it took too much memory") from None
        if not good:
            raise answer
        result: T = answer
        return result

    @contextlib.asynccontextmanager
    async def _worker(self) -> AsyncIterator[_Worker]:
        """A worker for one call; after any failure of the call itself it is not used again."""
        async with self._free:
            worker = self._idle.pop() if self._idle else await self._start()
            try:
                yield worker
            except BaseException:
                await asyncio.shield(self._drop(worker))
                raise
            self._idle.append(worker)

    async def _start(self) -> _Worker:
        worker = await _Worker.start()
        self._all.add(worker)
        return worker

    async def _drop(self, worker: _Worker) -> None:
        self._all.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        await worker.kill()


def _serve() -> None:
    """Answer calls until the pipe closes."""
    _confine()
    calls, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    sys.stdout = sys.stderr  # nothing that is called may write into the answers
    _send(answers, pickle.dumps("ready"))
    while header := calls.read(_LENGTH.size):
        seconds, call = pickle.loads(calls.read(*_LENGTH.unpack(header)))  # noqa: S301 - from our parent alone
        with _last_moment(seconds):
            answer = _packed(_answer(call))
        _send(answers, answer)


def _send(answers: IO[bytes], answer: bytes) -> None:
    answers.write(_LENGTH.pack(len(answer)) + answer)
    answers.flush()


@contextlib.contextmanager
def _last_moment(seconds: float) -> Iterator[None]:
    """Die of the work if nobody is left to stop it."""
    signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


def _answer(call: bytes) -> tuple[bool, Any]:
    try:
        function, args, kwargs = pickle.loads(call)  # noqa: S301 - from our parent alone
        return True, function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001, RUF100 - it is raised again where the call came from
        return False, error


def _packed(answer: tuple[bool, Any]) -> bytes:
    try:
        return pickle.dumps(answer)
    except Exception as error:  # noqa: BLE001, RUF100 - an answer that cannot be sent is told like any other failure
        return pickle.dumps((False, Stopped(f"stopped, for its answer cannot be sent: {type(error).__name__}")))


def _confine() -> None:
    sys.setrecursionlimit(_DEPTH)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Serve in a thread whose stack has room for deep input, once everything is imported that calls are about."""
    importlib.import_module("arena.packs.evaluate")
    threading.stack_size(_STACK)
    server = threading.Thread(target=_serve)
    server.start()
    server.join()
