"""Hosting: where a tournament is played: a server that is running, or one of our own on a folder beside the file."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena import remote, server, supervisor
from arena.errors import CannotStart
from arena.runtime import open_arena
from arena.settings import Settings
from arena.store.embedded import embedded
from arena.tournament.entry import Entry

ADDRESS = "address"  # a file in the folder, with the URL of the server that plays there now


@dataclass(frozen=True)
class Host:
    """A server that can be asked."""

    url: str
    token: str | None = None

    async def ask(self, method: str, *path: str, body: Any = None, **query: object) -> Any:
        """JSON from a route; what is refused is raised."""
        raw = None if body is None else json.dumps(body).encode()
        answer = await asyncio.to_thread(remote.ask, method, self.url, path, query, raw, token=self.token)
        if not answer.ok:
            told = answer.json
            raise CannotStart(f"{told.get('error', told)}" + (f" ({told['code']})" if "code" in told else ""))
        return answer.json

    async def must_sign(self) -> bool:
        """Whether players have to show who they are."""
        answer = await asyncio.to_thread(remote.fetch, self.url, "openapi.json")
        return bool(answer.json.get("info", {}).get("x-auth-mode") == "required")


@contextmanager
def own_store(settings: Settings, folder: Path) -> Iterator[str]:
    """A store in a folder."""
    with embedded(folder, settings.fsync) as store:
        yield store


@asynccontextmanager
async def own_server(settings: Settings, store: str, folder: Path) -> AsyncIterator[Host]:
    """A server for this machine alone, in this event loop; its address stands in the folder meanwhile."""
    limits = dict.fromkeys(("limit_requests_per_second", "limit_joins_per_second", "limit_creates_per_second"), 0)
    settings = settings.model_copy(update={"host": "127.0.0.1", **limits, "workers": 1, "auth": "open"})
    listener = supervisor.bind(settings.host, settings.port)
    await server.probe(settings, store)
    running = server.make_server(settings, store)
    serving = asyncio.create_task(running.serve(sockets=[listener]), name="server")
    while not running.started and not serving.done():
        await asyncio.wait([serving], timeout=0.01)
    if not running.started:
        raise CannotStart("The server did not start.")
    _stop_at_signals()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    address = folder / ADDRESS
    address.write_text(url)
    try:
        yield Host(url)
    finally:
        address.unlink(missing_ok=True)
        running.should_exit = True
        await serving


def _stop_at_signals() -> None:
    """Have a signal end what this task does, and not the server under it; uvicorn has just taken them."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    if task is not None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, task.cancel)


def playing_host(folder: Path) -> Host | None:
    """The server that plays in a folder now, if there is one."""
    with suppress(OSError, CannotStart):
        url = (folder / ADDRESS).read_text().strip()
        if remote.fetch(url, "health").ok:
            return Host(url)
    return None


async def stored(settings: Settings, store: str, key: str) -> Entry:
    """A tournament of a store as it lies there, without a server and without playing on."""
    from arena import catalog

    async with open_arena(settings, catalog.load(settings.load), store) as arena:
        id_ = await arena.tournaments.store.find(key)
        if id_ is None:
            raise CannotStart("This tournament was never begun here; `arena tournament run` begins it.")
        return await arena.tournaments.load(id_)
