"""Stores for tests: throw-away servers, a cluster of three, and a proxy that breaks connections at a chosen moment."""

import asyncio
import contextlib
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import hiredis
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from arena.store.program import binary, die_with

PATIENCE = 60.0  # seconds that anything here may take before it counts as broken


def eventually(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Return as soon as the condition holds, and fail by name if it does not."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(0.01)


def connect(url: str) -> redis.Redis:
    """A synchronous client that neither retries nor waits for long."""
    return redis.Redis.from_url(url, socket_timeout=30, retry=Retry(NoBackoff(), 0))


@dataclass(frozen=True)
class Mark:
    """A moment in the life of a store: how much it had written."""

    file: Path
    size: int


class Valkey:
    """A throw-away server with an append-only file; it can be stopped, killed, robbed of its tail, and started again.

    It listens on a private unix socket and, when asked, also on a TCP port of 127.0.0.1; both stay the same for life.
    """

    def __init__(self, port: int = 0, options: Mapping[str, str] | None = None) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="valkey-", dir="/tmp"))
        self.socket = self.home / "s"
        self.port = port
        self.options = dict(options or {})
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}" if self.port else f"unix://{self.socket}"

    @property
    def pid(self) -> int:
        assert self.process, "the store is stopped"
        return self.process.pid

    def start(self) -> Self:
        assert self.process is None, "the store runs already"
        options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "unixsocket": str(self.socket),
            "dir": str(self.home),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
            "auto-aof-rewrite-percentage": "0",
            **self.options,
        }
        # The kernel would end a child of another thread together with that thread.
        ties = sys.platform == "linux" and threading.current_thread() is threading.main_thread()
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [binary(), *(word for name, value in options.items() for word in (f"--{name}", value))],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with(os.getpid()) if ties else None,  # noqa: PLW1509
            )
        try:
            eventually(self.answers, "the store answers")
        except AssertionError:
            self.kill()
            raise
        return self

    def answers(self) -> bool:
        """Whether the store serves; one that has died says why."""
        if self.process and self.process.poll() is not None:
            raise AssertionError("the store died: " + (self.home / "log").read_text()[-500:])
        try:
            with connect(f"unix://{self.socket}") as client:
                return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False

    def stop(self) -> None:
        """End it in order, with SIGTERM; nothing happens if it is stopped."""
        if self.process:
            self.process.terminate()
            self._reap()

    def kill(self) -> None:
        """End it on the spot, with SIGKILL; nothing happens if it is stopped."""
        if self.process:
            self.process.kill()
            self._reap()

    def _reap(self) -> None:
        assert self.process
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(PATIENCE)
            raise
        finally:
            self.process = None

    def mark(self) -> Mark:
        """Remember this moment: all that was answered so far comes before it."""
        file = self._tail()
        return Mark(file, file.stat().st_size)

    def rewind(self, mark: Mark) -> None:
        """Lose whatever was written after the mark; only while the store is stopped."""
        assert self.process is None, "a running store would go on writing behind the hole"
        assert mark.file == self._tail(), "the file was rewritten since the mark"
        assert mark.size <= mark.file.stat().st_size, "the mark lies in a future that was lost before"
        os.truncate(mark.file, mark.size)

    def cut_tail(self, commands: int = 1) -> None:
        """Lose the last commands that were written (a transaction counts its MULTI and EXEC); only while stopped."""
        file = self._tail()
        ends = list(_ends_of_commands(file.read_bytes()))
        assert commands < len(ends), "the file holds fewer commands"
        self.rewind(Mark(file, ends[-1 - commands]))

    def _tail(self) -> Path:
        """The file that the store appends to."""
        directory = self.home / "appendonlydir"
        lines = (directory / "appendonly.aof.manifest").read_text().splitlines()
        return directory / next(line.split()[1] for line in reversed(lines) if line.endswith("type i"))

    def close(self) -> None:
        """Kill it and forget its data."""
        self.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()


def _ends_of_commands(log: bytes) -> Iterator[int]:
    """Where in an append-only file a command has just ended, beginning with 0."""
    position = 0
    while position < len(log):
        yield position
        line_end = log.index(b"\r\n", position)
        words, position = int(log[position + 1 : line_end]), line_end + 2
        for _ in range(words):
            line_end = log.index(b"\r\n", position)
            position = line_end + 2 + int(log[position + 1 : line_end]) + 2
    yield position


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on, below those that the kernel gives to outgoing connections."""
    with contextlib.ExitStack() as held:
        ports: list[int] = []
        while len(ports) < count:
            probe = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", random.randrange(20_000, 32_000)))
                ports.append(probe.getsockname()[1])
        return ports


class Cluster:
    """Three primaries on 127.0.0.1 that share the slots evenly; entering waits until all of them say it is up."""

    def __init__(self) -> None:
        self.nodes: list[Valkey] = []

    @property
    def url(self) -> str:
        return self.nodes[0].url

    def __enter__(self) -> Self:
        try:
            for attempt in range(5):
                try:
                    self._start_nodes()
                    break
                except AssertionError:  # somebody was quicker to take a port
                    self.close()
                    if attempt == 4:
                        raise
            self._join()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for node in self.nodes:
            node.close()
        self.nodes = []

    def _start_nodes(self) -> None:
        ports = free_ports(6)
        for port, bus in zip(ports[:3], ports[3:], strict=True):
            options = {
                "cluster-enabled": "yes",
                "cluster-port": str(bus),
                "cluster-announce-ip": "127.0.0.1",
                "cluster-config-file": "nodes.conf",
                "cluster-node-timeout": "5000",
                "appendfsync": "no",
            }
            self.nodes.append(Valkey(port, options))
            self.nodes[-1].start()

    def _join(self) -> None:
        bounds = [0, 5461, 10923, 16384]
        with contextlib.ExitStack() as stack:
            clients: list[Any] = [stack.enter_context(connect(node.url)) for node in self.nodes]
            for n, client in enumerate(clients):
                client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", n + 1)
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", bounds[n], bounds[n + 1] - 1)
            for node in self.nodes[1:]:
                clients[0].execute_command("CLUSTER", "MEET", "127.0.0.1", node.port, node.options["cluster-port"])
            eventually(lambda: all(map(_is_whole, clients)), "all nodes say that the cluster is up")


def _is_whole(client: Any) -> bool:
    """Whether a node sees all three, all slots, and no reason not to serve them."""
    lines: bytes = client.execute_command("CLUSTER", "INFO")
    return {b"cluster_state:ok", b"cluster_slots_ok:16384", b"cluster_size:3"} <= set(lines.split())


class Proxy:
    """Stands between clients and a store, on a unix socket, and breaks their connections when a test says so.

    `cuts` counts the connections cut by `cut_after_next`; while `refuse` is set, new connections are closed at once.
    """

    def __init__(self, store: str) -> None:
        self.store = urlsplit(store)
        self.home = Path(tempfile.mkdtemp(prefix="proxy-", dir="/tmp"))
        self.url = f"unix://{self.home / 's'}"
        self.cuts = 0
        self.refuse = False
        self._needle: bytes | None = None
        self._flows = asyncio.Event()
        self._flows.set()
        self._links: set[_Link] = set()

    def cut_after_next(self, needle: bytes) -> None:
        """Let the next command with these bytes be carried out, then drop its connection instead of its answer."""
        self._needle = needle

    def cut_all(self) -> None:
        """Drop all connections of this moment."""
        for link in list(self._links):
            link.drop()

    def freeze(self) -> None:
        """Accept bytes, and pass none on in either direction until `thaw`."""
        self._flows.clear()

    def thaw(self) -> None:
        """Pass on what was held back."""
        self._flows.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_unix_server(self._serve, self.home / "s")
        return self

    async def __aexit__(self, *_: object) -> None:
        self.refuse = True
        self._server.close()
        async with asyncio.timeout(PATIENCE):
            while self._links:
                self.cut_all()
                await asyncio.sleep(0.01)
            await self._server.wait_closed()
        shutil.rmtree(self.home, ignore_errors=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = _Link(self, reader, writer)
        self._links.add(link)
        try:
            if not self.refuse:
                await link.run()
        finally:
            link.drop()
            self._links.discard(link)

    async def dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with asyncio.timeout(PATIENCE):
            if self.store.scheme == "unix":
                return await asyncio.open_unix_connection(self.store.path)
            return await asyncio.open_connection(self.store.hostname, self.store.port)

    async def may_pass(self) -> None:
        """Wait while the proxy is frozen; a test that forgets to thaw it loses the connection in the end."""
        async with asyncio.timeout(PATIENCE):
            await self._flows.wait()

    def claims(self, command: list[bytes]) -> bool:
        """Whether this is the command to cut after; says so once."""
        if self._needle is None or self._needle not in b" ".join(command):
            return False
        self._needle = None
        return True


class _Link:
    """One client, its connection to the store, and whether it is about to be cut."""

    def __init__(self, proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.proxy = proxy
        self.from_client, self.to_client = reader, writer
        self.to_store: asyncio.StreamWriter | None = None
        self.is_doomed = False
        self.last_word = uuid.uuid4().hex.encode()

    def drop(self) -> None:
        for writer in (self.to_client, self.to_store):
            if writer:
                writer.transport.abort()

    async def run(self) -> None:
        with contextlib.suppress(OSError):  # a connection that broke, on either side
            self.from_store, self.to_store = await self.proxy.dial()
            tasks = [asyncio.create_task(self.forward(), name="forward"), asyncio.create_task(self.back(), name="back")]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                self.drop()
                for task in tasks:
                    task.cancel()
                results = await asyncio.gather(*tasks, return_exceptions=True)
            for result in results:
                if isinstance(result, Exception):
                    raise result

    async def forward(self) -> None:
        """Client to store. A claimed command is followed by a word of our own, whose echo proves it was carried out."""
        assert self.to_store
        commands, in_transaction = hiredis.Reader(), False
        while chunk := await self.from_client.read(65536):
            await self.proxy.may_pass()
            commands.feed(chunk)
            while (command := commands.gets()) is not False:
                name = command[0].upper()
                in_transaction = name == b"MULTI" or (in_transaction and name not in {b"EXEC", b"DISCARD"})
                self.is_doomed = self.is_doomed or self.proxy.claims(command)
            self.to_store.write(chunk)
            if self.is_doomed and not commands.has_data() and not in_transaction:
                self.to_store.write(b"*2\r\n$4\r\nECHO\r\n$%d\r\n%b\r\n" % (len(self.last_word), self.last_word))
                async with asyncio.timeout(PATIENCE):
                    await asyncio.Future()  # `back` ends the link
            await self.to_store.drain()

    async def back(self) -> None:
        """Store to client; once the link is doomed nothing passes, and the echo of our word completes the cut."""
        withheld = b""
        while chunk := await self.from_store.read(65536):
            await self.proxy.may_pass()
            if not self.is_doomed:
                self.to_client.write(chunk)
                await self.to_client.drain()
                continue
            withheld += chunk
            if self.last_word in withheld:
                self.proxy.cuts += 1
                return
