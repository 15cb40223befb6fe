"""Several workers on one port: started together, restarted one by one, ended with their supervisor.

Each worker gets a listening socket and the read end of a pipe, its life-line. Only the supervisor holds the write end,
so the pipe closes in whatever way the supervisor dies, `kill -9` included.
"""

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import NamedTuple

from arena.errors import CannotStart

logger = logging.getLogger(__name__)

BACKLOG = 2048  # connections that wait while a worker starts
LETTING_GO_SECONDS = 1.0  # how long workers of a server that was just killed may still hold the port
YOUNG_SECONDS = 3.0  # a worker that fails before this age never really started
ATTEMPTS = 5  # failed starts in a row before we give up
TEND_SECONDS = 0.1  # between two looks at what the workers need
FIRST_DELAY_SECONDS = 0.1  # before a restart; doubled with each failed start

# Elsewhere SO_REUSEPORT is missing, or gives all connections to one of the sockets.
BALANCES = sys.platform.startswith("linux")


def bind(host: str, port: int, *, reuse_port: bool = False) -> socket.socket:
    """Listen on a port (0: any free one), or say why that cannot be."""
    patient_until = time.monotonic() + LETTING_GO_SECONDS
    while True:
        try:
            return _listen(host, port, reuse_port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > patient_until:
                raise CannotStart(_explain(error, host, port)) from error
        time.sleep(0.02)


def bind_all(host: str, port: int, workers: int, *, balanced: bool = BALANCES) -> list[socket.socket]:
    """One listening socket per worker, all on the same port; where the kernel cannot balance, they share one."""
    if workers == 1 or not balanced:
        return [bind(host, port)] * workers
    if port:
        bind(host, port).close()  # SO_REUSEPORT alone would let us in beside another arena
    first = bind(host, port, reuse_port=True)
    number = first.getsockname()[1]
    return [first, *(bind(host, number, reuse_port=True) for _ in range(workers - 1))]


def _listen(host: str, port: int, reuse_port: bool) -> socket.socket:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    # `localhost` is both; clients that try only one of them try IPv4.
    family = min((entry[0] for entry in found), key=lambda family: family != socket.AF_INET)
    everywhere = host == "::" and socket.has_dualstack_ipv6()
    listener = socket.create_server(
        (host, port), family=family, backlog=BACKLOG, reuse_port=reuse_port, dualstack_ipv6=everywhere
    )
    # Connections inherit it. uvloop would set it anyway; asyncio does not for sockets that it has not made itself.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _explain(error: OSError, host: str, port: int) -> str:
    if isinstance(error, socket.gaierror):
        return f"The host {host} is not known; choose another with --host"
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} on {host} is in use; choose another with --port"
        case errno.EACCES | errno.EPERM:
            return f"Port {port} on {host} is not allowed for this user; choose one above 1023 with --port"
        case errno.EADDRNOTAVAIL:
            return f"This machine has no address {host}; choose another with --host"
        case _:
            return f"Cannot listen on port {port} of {host}: {error.strerror}"


class Post(NamedTuple):
    """What the supervisor hands to a worker."""

    number: int  # from 0
    listener: socket.socket
    lifeline: int


def take_post(arguments: Sequence[str]) -> Post:
    """Read on the worker's side what the supervisor appended to its command, and keep it from the worker's children."""
    number, listener, lifeline = map(int, arguments)
    os.set_inheritable(listener, False)
    os.set_inheritable(lifeline, False)
    return Post(number, socket.socket(fileno=listener), lifeline)


def watch_lifeline(lifeline: int, on_close: Callable[[], None]) -> None:
    """Call `on_close` when the supervisor is gone, from a thread of its own: a busy event loop must not delay it."""

    def watch() -> None:
        while os.read(lifeline, 1):
            pass
        on_close()

    Thread(target=watch, name="lifeline", daemon=True).start()


def run(
    command: Sequence[str],
    listeners: Sequence[socket.socket],
    *,
    env: Mapping[str, str],
    grace_seconds: float = 10,
    tend: Callable[[], None] | None = None,
) -> int:
    """Keep one worker per listener running until a signal says stop; the exit code is 0 if all of them ended in peace.

    A worker is started as `command NUMBER LISTENER LIFELINE` (see `take_post`), with `env` on top of our environment.
    SIGTERM, SIGHUP and Ctrl-C reach the workers as SIGTERM; a second Ctrl-C ends them at once. Closes the listeners.
    Meanwhile `tend` looks after what the workers need; when it raises, they are ended and that is raised here.
    """
    return asyncio.run(_supervise(command, listeners, {**os.environ, **env}, grace_seconds, tend))


async def _supervise(
    command: Sequence[str],
    listeners: Sequence[socket.socket],
    env: Mapping[str, str],
    grace_seconds: float,
    tend: Callable[[], None] | None,
) -> int:
    lifeline, held = os.pipe()
    crew = _Crew(command, env, lifeline, tend)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, crew.interrupt)
    loop.add_signal_handler(signal.SIGTERM, crew.stopping.set)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup means that we outlive the terminal
        loop.add_signal_handler(signal.SIGHUP, crew.stopping.set)
    try:
        return await crew.work(listeners, grace_seconds)
    finally:
        os.close(held)
        os.close(lifeline)


@dataclass
class _Crew:
    """The workers of one run, by number."""

    command: Sequence[str]
    env: Mapping[str, str]
    lifeline: int
    tend: Callable[[], None] | None = None
    fault: CannotStart | None = None  # why we stop although nobody told us to
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    processes: dict[int, asyncio.subprocess.Process] = field(default_factory=dict)

    async def work(self, listeners: Sequence[socket.socket], grace_seconds: float) -> int:
        async with asyncio.TaskGroup() as group:
            keepers = [
                group.create_task(self.keep(number, listener), name=f"worker {number}")
                for number, listener in enumerate(listeners)
            ]
            await self.look_after()
            for listener in listeners:
                listener.close()
            self.send(signal.SIGTERM)
            _, late = await asyncio.wait(keepers, timeout=grace_seconds)
            if late:
                logger.warning("workers killed, not done in time count=%d seconds=%g", len(late), grace_seconds)
                self.send(signal.SIGKILL)
        if self.fault is not None:
            raise self.fault
        return max(keeper.result() for keeper in keepers)

    async def look_after(self) -> None:
        """Look after what the workers need until we stop."""
        while not self.stopping.is_set():
            try:
                if self.tend is not None:
                    self.tend()
            except CannotStart as fault:
                self.fault = fault
                self.stopping.set()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), TEND_SECONDS)

    async def keep(self, number: int, listener: socket.socket) -> int:
        """Run one worker again and again until we stop; what it adds to our exit code."""
        failures = 0
        while not self.stopping.is_set():
            born = time.monotonic()
            code = await self.live(number, listener)
            if self.stopping.is_set():
                return int(code not in (0, -signal.SIGTERM))
            # SIGKILL is somebody's doing, or the kernel's, and says nothing about the worker.
            failed = time.monotonic() - born < YOUNG_SECONDS and code != -signal.SIGKILL
            failures = failures + 1 if failed else 0
            if failures == ATTEMPTS:
                logger.error("worker %d ended at once %d times, last with code %d; giving up", number, failures, code)
                self.stopping.set()
                return 128 - code if code < 0 else code or 1
            logger.warning("worker ended, starting it again number=%d code=%d", number, code)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), FIRST_DELAY_SECONDS * 2 ** max(failures - 1, 0))
        return 0

    async def live(self, number: int, listener: socket.socket) -> int:
        """Start a worker and wait for its end."""
        # In a session of its own a Ctrl-C in the terminal reaches us alone, and we pass it on.
        process = await asyncio.create_subprocess_exec(
            *self.command, str(number), str(listener.fileno()), str(self.lifeline),
            stdin=asyncio.subprocess.DEVNULL,
            env=self.env,
            pass_fds=(listener.fileno(), self.lifeline),
            start_new_session=True,
        )  # fmt: skip
        self.processes[number] = process
        logger.info("worker started number=%d pid=%d", number, process.pid)
        if self.stopping.is_set():
            process.terminate()  # it was not there yet when the others were told
        return await process.wait()

    def send(self, number: signal.Signals) -> None:
        for process in self.processes.values():
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.send_signal(number)

    def interrupt(self) -> None:
        if self.stopping.is_set():
            self.send(signal.SIGKILL)
        self.stopping.set()
