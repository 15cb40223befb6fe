"""Server: a worker process on its socket, and the arrangement of store and workers around it."""

import asyncio
import fcntl
import logging
import os
import re
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn
from pydantic import ValidationError

from arena import catalog, config, garbage, metrics, supervisor
from arena.errors import CannotStart
from arena.logs import set_up_logging
from arena.runtime import open_arena
from arena.settings import Settings, is_loopback
from arena.store.embedded import Record, tended
from arena.web.app import create_app
from arena.web.chunks import ChunkProtocol
from arena.web.protocol import ArenaProtocol

logger = logging.getLogger(__name__)

STARTING_SECONDS = 5.0  # how long a server may take to write down where its store is
GRACE = 10  # seconds that connections get to close
ADMIN_TOKEN = re.compile(r"[\x21-\x7e]{32,}")  # what a header can carry and nobody guesses
HANDED_DOWN = "ARENA_WORKER"  # settings of a worker, as JSON


class Server(uvicorn.Server):
    """Uvicorn, but a signal that ended it is not raised again: we have a store to stop after it.

    And before it cuts connections off, the app takes leave of them.
    """

    tend: Callable[[], None] | None = None  # looks after the store, ten times a second
    fault: CannotStart | None = None  # why we ended although nobody told us to

    async def on_tick(self, counter: int) -> bool:
        """Whether it is time to end."""
        try:
            if self.tend is not None:
                self.tend()
        except CannotStart as fault:
            self.fault = fault
            return True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, let connections finish what they are doing, then end."""
        for listening in self.servers:
            listening.close()
        connections = getattr(getattr(self.config.app, "state", None), "connections", None)
        if connections is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await connections.close_all()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take SIGINT and SIGTERM as wishes to end."""
        with super().capture_signals():
            try:
                yield
            finally:
                self._captured_signals.clear()


def make_server(
    settings: Settings,
    store: str,
    protocol: type[asyncio.Protocol] = ArenaProtocol,
    http: type[asyncio.Protocol] = ChunkProtocol,
) -> Server:
    """A worker on a store."""
    silence = settings.ping_timeout_seconds
    config = uvicorn.Config(
        app=create_app(
            settings, catalog.load(settings.load, settings.config), store, lambda: setattr(server, "should_exit", True)
        ),
        loop="uvloop",
        http=http,
        ws=protocol,
        ws_max_size=settings.limit_frame_bytes or 2**40,
        ws_per_message_deflate=False,
        ws_ping_interval=settings.ping_seconds or None,
        ws_ping_timeout=max(silence - settings.ping_seconds, 1) if silence else None,
        lifespan="on",
        access_log=False,
        proxy_headers=False,  # whom to believe is in our own settings
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    server = Server(config)
    return server


@contextmanager
def store_of(settings: Settings) -> Iterator[str]:
    """The store to use: the one that is configured, or our own."""
    with tended_store_of(settings) as (url, _):
        yield url


@contextmanager
def tended_store_of(settings: Settings) -> Iterator[tuple[str, Callable[[], None] | None]]:
    """The same, with what the main thread has to do now and then to keep our own alive."""
    if settings.store:
        yield settings.store, None
        return
    with tended(settings.data, settings.fsync) as own:
        yield own.record.url, own.tend


@contextmanager
def shared_store_of(settings: Settings) -> Iterator[str]:
    """The store to use beside a server that may be running: the one it has, or else the same as `store_of`."""
    running = None if settings.store else running_store(settings.data)
    if running is not None:
        yield running.url
        return
    with store_of(settings) as url:
        yield url


def running_store(data: Path) -> Record | None:
    """The store that a living server runs on a data directory, once it has written down where."""
    until = time.monotonic() + STARTING_SECONDS
    while owner_of(data) is not None:
        with suppress(FileNotFoundError, ValidationError):
            return Record.model_validate_json((data / "store.json").read_bytes())
        if time.monotonic() > until:
            raise CannotStart(f"A server holds {data} but has no store there yet; try again when it is up.")
        time.sleep(0.05)
    return None


def owner_of(data: Path) -> str | None:
    """The pid of the server that holds a data directory, if one does."""
    try:
        with (data / "owner.lock").open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return lock.read(20).strip() or "unknown"
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise CannotStart(f"The data directory {data} cannot be read: {error.strerror}.") from None
    return None


def check(settings: Settings) -> None:
    """Refuse settings that would not do what they say."""
    if settings.must_sign and not settings.auth_secret:
        raise CannotStart("--auth required needs AUTH_SECRET, a long random text that session keys are made with.")
    if settings.admin_token is not None and not ADMIN_TOKEN.fullmatch(settings.admin_token):
        raise CannotStart("ARENA_ADMIN_TOKEN needs at least 32 letters, digits and signs, without spaces.")
    if settings.auth is None and not is_loopback(settings.host):
        raise CannotStart(
            f"{settings.host} can be reached by others, and in open mode a handle is a password; "
            "say --auth open if that is what you want."
        )
    if settings.config is not None:
        config.read(settings.config)
        if settings.workers > 1:  # each of them would find out for itself
            catalog.load(settings.load, settings.config)


def warn(settings: Settings) -> None:
    """Tell of settings that may not do what is wanted."""
    if settings.trusted_proxies and not settings.origins and is_loopback(settings.host):
        logger.warning("proxies without origins: pages will be refused, tell the proxy's address in ARENA_ORIGINS")


def address_of(listener: socket.socket) -> str:
    """The URL that a listener answers on."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def probe(settings: Settings, store: str) -> None:
    """Find out whether a store will do, before anybody connects."""
    async with open_arena(settings, catalog.Catalog(), store):
        pass


def run(server: Server, listeners: list[socket.socket]) -> int:
    """Have this process be a worker until it is told to stop; returns its exit code."""
    # Connections and sessions live long, and searching them for garbage again and again took a third of the time.
    garbage.settle()
    server.run(sockets=listeners)
    if server.fault is not None:
        raise server.fault
    return 0 if server.started else 1


def serve(settings: Settings) -> int:
    """Run a server until it is told to stop; returns its exit code."""
    check(settings)
    warn(settings)
    listeners = supervisor.bind_all(settings.host, settings.port, settings.workers)
    with tended_store_of(settings) as (store, tend):
        asyncio.run(probe(settings, store))
        logger.info("listening url=%s workers=%d", address_of(listeners[0]), settings.workers)
        if settings.workers == 1:
            server = make_server(settings, store)
            server.tend = tend
            return run(server, listeners)
        handed = settings.model_copy(update={"store": store})
        command = [sys.executable, "-m", "arena.server"]
        with tempfile.TemporaryDirectory(prefix="arena-metrics-") as shared:
            env = {HANDED_DOWN: handed.model_dump_json(), metrics.DIRECTORY: shared}
            return supervisor.run(command, listeners, env=env, grace_seconds=GRACE + 2, tend=tend)


def work() -> int:
    """One worker of several, as the supervisor starts it."""
    settings = Settings.model_validate_json(os.environ[HANDED_DOWN])
    post = supervisor.take_post(sys.argv[1:])
    set_up_logging(settings.log_level, settings.log_format)
    metrics.share(os.environ[metrics.DIRECTORY], post.number)
    # Without its supervisor a worker has no store; a graceful end would only keep the port.
    supervisor.watch_lifeline(post.lifeline, lambda: os._exit(1))
    return run(make_server(settings, settings.store or ""), [post.listener])


if __name__ == "__main__":
    sys.exit(work())
