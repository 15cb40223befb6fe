"""Real servers for tests: one in this process to look into, or processes of their own to kill."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

import httpx
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from arena import server, supervisor
from arena.client import Client, client
from arena.runtime import Arena
from arena.settings import Settings
from arena.web.chunks import ChunkProtocol
from arena.web.protocol import ArenaProtocol
from arena.wire import JSON, Codec

# `pytest --plain` has servers in this process do without our extensions
PROTOCOL: type[ArenaProtocol] = ArenaProtocol
HTTP: type[HttpToolsProtocol] = ChunkProtocol


class PlainProtocol(ArenaProtocol):
    """Our protocol class without what it offers to the app, which then knows nothing but ASGI."""

    def handle_connect(self, event: Request) -> None:
        """Begin a connection as uvicorn would."""
        WebSocketsSansIOProtocol.handle_connect(self, event)


RATES = ("frames", "requests", "joins", "creates")
QUIET: dict[str, Any] = {f"limit_{rate}_per_second": 0 for rate in RATES} | {"limit_open_sessions_per_address": 0}


@dataclass
class Served:
    """A server in this process, on a real socket."""

    url: str
    arena: Arena
    uvicorn: server.Server
    guests: AsyncExitStack

    @property
    def app(self) -> Starlette:
        """What it serves."""
        return cast(Starlette, self.uvicorn.config.app)

    @property
    def ws(self) -> str:
        """Its WebSocket address."""
        return self.url.replace("http", "ws", 1) + "/ws"

    async def connect(self, codec: Codec = JSON, query: str = "") -> Client:
        """A client that is closed with the server."""
        return await self.guests.enter_async_context(client(self.ws + query, codec))


@asynccontextmanager
async def served(store: str, **settings: Any) -> AsyncIterator[Served]:
    """Run a server in this event loop for the length of a test; rate limits are off unless asked for."""
    chosen = Settings(**{**QUIET, **settings})
    running = server.make_server(chosen, store, PROTOCOL, HTTP)
    running.main_loop = partial(_until_told, running)  # type: ignore[method-assign]
    listener = supervisor.bind("127.0.0.1", 0)
    task = asyncio.create_task(running.serve(sockets=[listener]))
    while not running.started:
        if task.done():
            raise RuntimeError("the server did not start") from task.exception()
        await asyncio.sleep(0.005)
    app = cast(Starlette, running.config.app)
    address = server.address_of(listener)
    try:
        async with AsyncExitStack() as guests:
            yield Served(address, app.state.arena, running, guests)
    finally:
        running.should_exit = True
        await task


async def _until_told(running: server.Server) -> None:
    """What uvicorn does until it ends, at ten times its pace: a short test would mostly wait for the last tick."""
    ticks = 0
    while not await running.on_tick(ticks):
        ticks += 1
        await asyncio.sleep(0.01)


def _command(pid: str) -> bytes:
    """What a process was started with; nothing if it has ended since."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


class Process:
    """`arena serve` as a user would start it, on its own data or on a store; can be killed and started again."""

    def __init__(self, *, store: str | None = None, data: Path | None = None, workers: int = 1, **env: str) -> None:
        self._home = tempfile.TemporaryDirectory()
        self.data = data or Path(self._home.name) / "data"
        self.store = store
        self.workers = workers
        self.env = {**os.environ, **{f"ARENA_LIMIT_{rate.upper()}_PER_SECOND": "0" for rate in RATES}, **env}
        self.log = Path(self._home.name) / "log"
        self.url = ""
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, port: int = 0) -> Self:
        """Start it and wait until it is ready; the same port again if it had one."""
        port = port or int(self.url.rpartition(":")[2] or 0)
        command = [sys.executable, "-m", "arena", "serve", "--port", str(port), "--workers", str(self.workers)]
        command += ["--store", self.store] if self.store else ["--data", str(self.data)]
        seen = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=self.env, start_new_session=True)
        until = time.monotonic() + 120
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended: {self.log.read_text()[-2000:]}")
            found = re.search(r"listening url=(\S+)", self.log.read_text()[seen:])
            if found and self._is_ready(found[1]):
                self.url = found[1]
                return self
            time.sleep(0.02)
        raise TimeoutError("the server was never ready")

    def _is_ready(self, url: str) -> bool:
        try:
            return httpx.get(url + "/ready", timeout=10).status_code == 200
        except httpx.HTTPError:
            return False

    @property
    def ws(self) -> str:
        """Its WebSocket address."""
        return self.url.replace("http", "ws", 1) + "/ws"

    @property
    def pid(self) -> int:
        """The process that the user started."""
        assert self.process is not None
        return self.process.pid

    def worker_pids(self) -> list[int]:
        """The workers that a supervisor has started."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [int(pid) for pid in children if b"arena.server" in _command(pid)]

    def kill(self) -> None:
        """Kill -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """SIGTERM, and wait for the end."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.stop()
        self._home.cleanup()
