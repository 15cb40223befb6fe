"""Server: a worker process on its socket, and the arrangement of store and workers around it."""

import asyncio
import fcntl
import logging
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn
from pydantic import ValidationError

from arena import catalog, supervisor
from arena.errors import CannotStart
from arena.runtime import open_arena
from arena.settings import Settings, is_loopback
from arena.store.embedded import Record, embedded
from arena.web.app import create_app
from arena.web.protocol import ArenaProtocol

logger = logging.getLogger(__name__)

STARTING_SECONDS = 5.0  # how long a server may take to write down where its store is
GRACE = 10  # seconds that connections get to close
HANDED_DOWN = "ARENA_WORKER"  # settings of a worker, as JSON


class Server(uvicorn.Server):
    """Uvicorn, but a signal that ended it is not raised again: we have a store to stop after it.

    And before it cuts connections off, the app takes leave of them.
    """

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


def set_up_logging(level: str) -> None:
    """One line per fact on standard error; uvicorn's own chatter would tell query strings."""
    logging.basicConfig(level=level.upper(), format="%(asctime)s %(levelname)-7s %(name)s %(message)s", force=True)
    for chatty in ("uvicorn.error", "uvicorn.access", "websockets"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def make_server(settings: Settings, store: str, protocol: type[asyncio.Protocol] = ArenaProtocol) -> Server:
    """A worker on a store."""
    silence = settings.ping_timeout_seconds
    config = uvicorn.Config(
        app=create_app(settings, catalog.load(settings.load), store, lambda: setattr(server, "should_exit", True)),
        loop="uvloop",
        http="httptools",
        ws=protocol,
        ws_max_size=settings.limit_frame_bytes or 2**40,
        ws_per_message_deflate=False,
        ws_ping_interval=settings.ping_seconds or None,
        ws_ping_timeout=max(silence - settings.ping_seconds, 1) if silence else None,
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    server = Server(config)
    return server


@contextmanager
def store_of(settings: Settings) -> Iterator[str]:
    """The store to use: the one that is configured, or our own."""
    if settings.store:
        yield settings.store
        return
    with embedded(settings.data, settings.fsync) as url:
        yield url


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
    if settings.auth == "required":
        raise CannotStart("--auth required is not available yet: authentication comes with a later version.")
    if settings.auth is None and not is_loopback(settings.host):
        raise CannotStart(
            f"{settings.host} can be reached by others, and in open mode a handle is a password; "
            "say --auth open if that is what you want."
        )


def address_of(listener: socket.socket) -> str:
    """The URL that a listener answers on."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def probe(settings: Settings, store: str) -> None:
    """Find out whether a store will do, before anybody connects."""
    async with open_arena(settings, catalog.Catalog(), store):
        pass


def serve(settings: Settings) -> int:
    """Run a server until it is told to stop; returns its exit code."""
    check(settings)
    listeners = supervisor.bind_all(settings.host, settings.port, settings.workers)
    with store_of(settings) as store:
        asyncio.run(probe(settings, store))
        logger.info("listening url=%s workers=%d", address_of(listeners[0]), settings.workers)
        if settings.workers == 1:
            server = make_server(settings, store)
            server.run(sockets=listeners)
            return 0 if server.started else 1
        handed = settings.model_copy(update={"store": store})
        command = [sys.executable, "-m", "arena.server"]
        return supervisor.run(command, listeners, env={HANDED_DOWN: handed.model_dump_json()}, grace_seconds=GRACE + 2)


def work() -> int:
    """One worker of several, as the supervisor starts it."""
    settings = Settings.model_validate_json(os.environ[HANDED_DOWN])
    post = supervisor.take_post(sys.argv[1:])
    set_up_logging(settings.log_level)
    # Without its supervisor a worker has no store; a graceful end would only keep the port.
    supervisor.watch_lifeline(post.lifeline, lambda: os._exit(1))
    server = make_server(settings, settings.store or "")
    server.run(sockets=[post.listener])
    return 0 if server.started else 1


if __name__ == "__main__":
    sys.exit(work())
