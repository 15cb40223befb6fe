"""Runtime: the parts of an arena put together in one worker, and the work it does by itself."""

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from arena import config
from arena.auth import Keyring
from arena.catalog import Catalog
from arena.clock import Clock
from arena.duties import Duty, again, attempt
from arena.engine import Engine
from arena.errors import CannotStart, trace
from arena.fits import Fits
from arena.hub import Hub
from arena.jobs import Runner
from arena.leaderboards import Leaderboards
from arena.llm.models import open_models
from arena.lobby import Lobby
from arena.matchmaker import Matchmaker
from arena.metrics import Metrics
from arena.models import Millis, SessionId
from arena.outbox import Outbox
from arena.packs.library import Library
from arena.packs.sandbox.choice import choose
from arena.packs.sandbox.workshop import Workshop
from arena.scorer import Scorer
from arena.settings import Settings
from arena.store import keys
from arena.store.boards import Boards
from arena.store.channels import Channels, Room
from arena.store.feeds import Feeds
from arena.store.index import Index
from arena.store.leases import Leases
from arena.store.nodes import Nodes
from arena.store.packs import Packs
from arena.store.queues import Queues
from arena.store.sessions import Sessions
from arena.store.signing import Signing
from arena.store.slots import Slots
from arena.store.tournaments import Tournaments
from arena.store.users import Users
from arena.tournament.office import Office
from arena.waiting import Waiting
from arena.workbench import Parts

logger = logging.getLogger(__name__)

DEADLINE_PAUSE = 0.1
SWEEP_PAUSE = 1.0
CATCH_UP_PAUSE = 5.0
KEEP_PAUSE = 600.0
PACKS_PAUSE = 1.0  # until a worker lists what another has published; whoever asks for it by name gets it at once
PUT_OFF = 60_000  # milliseconds after which a session that could not be woken is tried again
BEAT = 0.5  # seconds between signs of life of a worker
SILENT = 2_000  # milliseconds after which a worker's share goes to the others
CLOCK_PAUSE = 60.0
DAY = 86_400_000  # milliseconds
RATES = ("requests", "joins", "creates")  # of an address or identity, shared by all workers


class Arena:
    """One worker's arena. Everything it needs is handed down from here."""

    def __init__(
        self, settings: Settings, catalog: Catalog, nodes: Nodes, secret: bytes, workshop: Workshop | None = None
    ) -> None:
        self.settings = settings
        self.catalog = catalog
        self.nodes = nodes
        self.secret = secret
        keys_secret = (settings.auth_secret or "").encode() if settings.must_sign else secret
        self.ring = Keyring(keys_secret, settings.must_sign, settings.admin_token)
        self.clock = Clock()
        self.sessions = Sessions(nodes)
        self.users = Users(nodes)
        self.signing = Signing(nodes)
        room = Room(settings.limit_channel_messages, settings.limit_channel_bytes, settings.limit_channels)
        self.channels = Channels(nodes, room)
        self.index = Index(nodes)
        self.boards = Boards(nodes)
        fits = Fits(self.boards, self.clock, settings.load)
        self.scorer = Scorer(self.boards, self.sessions, catalog, catalog.scoring, self.clock, fits)
        self.leaderboards = Leaderboards(self.scorer)
        self.outbox = Outbox(nodes, self.index, self.scorer, self.clock)
        self.engine = Engine(self.sessions, self.index, self.outbox, catalog, self.clock, settings)
        self.outbox.unveil = self.engine.pairs.unveil
        self.feeds = Feeds(nodes, self._hear, self._confirm)
        self.hub = Hub(self.engine, self.sessions, self.feeds, settings.page_bytes)
        self.waiting = Waiting(self.hub)
        self.lobby = Lobby(self.engine, self.index, self.scorer, self.feeds, catalog)
        self.matchmaker = Matchmaker(self.engine, Queues(nodes), self.scorer, self.feeds, secret)
        self.matchmaker.is_ours = lambda name: keys.shard_of(name) in self._share
        models = open_models(config.read(settings.config).models, os.environ)
        self.parts = Parts(workshop, models, config.read_secrets(settings.secrets))
        self.engine.parts = self.parts
        packs = Packs(nodes, settings.limit_library_bytes)
        self.library = Library(packs, catalog, self.parts.isolate, self.clock, settings)
        self.runner = Runner(nodes, self.engine, catalog, self.hub.worker, parts=self.parts)
        self.tournaments = Office(self.engine, Tournaments(nodes), secret, self.hub.worker)
        rates = {rate: getattr(settings, f"limit_{rate}_per_second") for rate in RATES}
        self.leases = Leases(nodes, secret, rates, settings.workers)
        self.slots = Slots(nodes, secret, self.hub.worker, settings.limit_connections_per_address, settings.workers)
        self._share: list[int] = []
        self.engine.touched = self.lobby.touch
        self.hub.states.watched = self.lobby.watch
        nodes.renewed += [self.engine.forget, self.hub.suspect_all]

    def measure(self, metrics: Metrics) -> None:
        """Have everything that happens here counted."""
        self.nodes.timed = {script: timings.add for script, timings in metrics.commits.items()}
        self.nodes.failed = metrics.store_errors.inc
        self.engine.acted = metrics.actions.add
        self.engine.talked = metrics.chats.add
        self.engine.raced = metrics.conflicts.inc
        self.hub.delivered = metrics.deliveries.add
        self.leases.refused = self.slots.refused = metrics.refused

    def _hear(self, feed: str, payload: bytes) -> None:
        hears = self.lobby.hear if feed == keys.LOBBY_FEED or feed.startswith("{score:") else self.hub.hear
        hears = self.matchmaker.hear if feed.startswith("{q:") else hears
        hears(feed, payload)

    def _confirm(self, feed: str) -> None:
        confirm = self.lobby.confirm if feed == keys.LOBBY_FEED or feed.startswith("{score:") else self.hub.confirm
        if not feed.startswith("{q:"):  # tickets are looked at every few seconds anyway
            confirm(feed)

    async def run(self, *more: Duty) -> None:
        """What goes on without anybody asking, for as long as the server lives."""
        self.clock.offset = await self.nodes.clock_offset()
        async with asyncio.TaskGroup() as group:
            duties: dict[str, Duty] = {
                "hub": self.hub.run,
                "lobby": self.lobby.run,
                "jobs": self.runner.run,
                "queues": self.matchmaker.run,
                "workers": lambda: again("workers", BEAT, self._divide),
                "deadlines": lambda: again("deadlines", DEADLINE_PAUSE, self._wake),
                "sweeper": lambda: again("sweeper", SWEEP_PAUSE, self._sweep),
                "boards": lambda: again("boards", CATCH_UP_PAUSE, self._catch_up),
                "fits": lambda: again("fits", CATCH_UP_PAUSE, self.scorer.refit),
                "packs": lambda: again("packs", PACKS_PAUSE, self.library.refresh),
                "old sessions": lambda: again("old sessions", KEEP_PAUSE, self._remove_old),
                "tournaments": self.tournaments.run,
                "leases": self.leases.run,
                "slots": self.slots.run,
                "clock": lambda: again("clock", CLOCK_PAUSE, self._set_clock),
            }
            for name, work in duties.items():
                group.create_task(work(), name=name)
            for work in more:
                group.create_task(work(), name="duty")

    async def _divide(self) -> None:
        """Tell the other workers that we live, and take our share of the shards."""
        now = self.clock.now()
        key, me = keys.WORKERS, self.hub.worker
        *_, found = await self.nodes.run_all(
            [
                (key, ("ZADD", key, now, me)),
                (key, ("ZREMRANGEBYSCORE", key, "-inf", now - 10 * SILENT)),
                (key, ("ZRANGEBYSCORE", key, now - SILENT, "+inf")),
            ]
        )
        workers = sorted({me, *(worker.decode() for worker in found)})
        self._share = list(range(workers.index(me), keys.SHARDS, len(workers)))
        self.leases.crew = self.slots.crew = max(len(workers), self.settings.workers)

    async def _wake(self) -> None:
        ids = await self.sessions.due(self._share, self.clock.now())
        await asyncio.gather(*map(self._wake_one, ids))

    async def _wake_one(self, id_: SessionId) -> None:
        """Wake a session; one that cannot be woken, say because its challenge is not loaded, is left for a while."""
        if not await attempt("deadline", self.engine.wake(id_)):
            await self.sessions.put_off(id_, Millis(self.clock.now() + PUT_OFF))

    async def _remove_old(self) -> None:
        """Remove ended sessions that are older than they are to be kept, also those that ended without that limit."""
        days = self.settings.keep_days
        if days:
            for id_ in await self.index.ended_before(Millis(self.clock.now() - round(days * DAY))):
                await attempt("removal", self.engine.wake(id_))

    async def _sweep(self) -> None:
        await self.outbox.sweep(self._share)

    async def _catch_up(self) -> None:
        for type_ in self.catalog.challenges:
            await attempt(f"boards of {type_}", self.scorer.catch_up(type_))

    async def _set_clock(self) -> None:
        self.clock.offset = await self.nodes.clock_offset()


@asynccontextmanager
async def open_arena(settings: Settings, catalog: Catalog, store: str) -> AsyncIterator[Arena]:
    """An arena on a store that will do, without its own work: see `Arena.run`."""
    nodes = Nodes(store, timeout=settings.store_timeout_seconds, patience=settings.store_patience_seconds)
    try:
        await nodes.connect()
        arena = Arena(settings, catalog, nodes, await _claim(nodes), Workshop(await choose(settings)))
        await attempt("packs", arena.library.refresh())
        await attempt("signing key", arena.signing.current(arena.clock.now()))
        try:
            yield arena
        finally:
            await arena.outbox.close()
            await arena.scorer.close()
            await arena.feeds.close()
            await arena.parts.close()
    finally:
        await nodes.close()


async def _claim(nodes: Nodes) -> bytes:
    """Check that the store's data are of our kind, and get the secret that session keys are made with."""
    await nodes.run(keys.META, "HSETNX", keys.META, "schema", keys.SCHEMA)
    await nodes.run(keys.META, "HSETNX", keys.META, "secret", secrets.token_hex(32))
    schema, secret = await nodes.run(keys.META, "HMGET", keys.META, "schema", "secret")
    if schema.decode() != keys.SCHEMA:
        raise CannotStart(
            f"The store at {nodes.shown} has data of schema {schema.decode()}, this arena needs schema {keys.SCHEMA}."
        )
    return bytes.fromhex(secret.decode())


@asynccontextmanager
async def running(arena: Arena, *duties: Duty, failed: Callable[[], None]) -> AsyncIterator[None]:
    """Have an arena do its own work and more; `failed` is called if that ends by a fault of ours."""
    work = asyncio.create_task(arena.run(*duties), name="arena")

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.critical("the arena's own work failed %s", trace(error))
            failed()

    work.add_done_callback(ended)
    try:
        yield
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
