"""The door for Prometheus: who may read the metrics, and what the store adds to them."""

import asyncio

from prometheus_client import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import Metric
from redis.exceptions import RedisError
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from arena.auth import fits
from arena.errors import ArenaError
from arena.metrics import Metrics, gauge
from arena.models import Status
from arena.runtime import Arena
from arena.settings import Settings
from arena.store import index, keys
from arena.web.http import bearer_of
from arena.web.local import is_local

PATIENCE = 1.0  # seconds that the store may take


async def metrics(request: Request) -> Response:
    """All numbers of all workers of this server."""
    arena: Arena = request.app.state.arena
    held: Metrics = request.app.state.metrics
    settings = arena.settings
    if settings.metrics_token and settings.metrics != "off":
        if not fits(bearer_of(request.headers.raw), settings.metrics_token):
            return PlainTextResponse("401 Unauthorized", 401, {"www-authenticate": "Bearer"})
    elif not may_read(request, settings):
        return PlainTextResponse("404 Not Found", 404)
    found = await look_up(arena)
    held.publish()
    text = await asyncio.to_thread(held.text, found)
    return Response(text, headers={"content-type": CONTENT_TYPE_LATEST, "cache-control": "no-store"})


def may_read(request: Request, settings: Settings) -> bool:
    """Whether the metrics are shown without a token: if the settings say so, else to this machine alone."""
    return settings.metrics == "on" if settings.metrics is not None else is_local(request, settings)


async def look_up(arena: Arena) -> list[Metric]:
    """What the store knows of the whole arena; without it only that it is away."""
    found: list[Metric] = []
    try:
        async with asyncio.timeout(PATIENCE):
            found = [await sessions(arena), await scoring(arena), await queues(arena), *await waiting(arena)]
    except (ArenaError, RedisError, OSError):
        pass
    return [*found, gauge("arena_store_up", "Whether the store answers.", [({}, float(bool(found)))])]


async def sessions(arena: Arena) -> Metric:
    """How many sessions there are."""
    lists = {status: index.name(status=status) for status in Status}
    counts = await arena.nodes.run_all([(name, ("ZCARD", name)) for name in lists.values()])
    samples = [({"status": str(status)}, count) for status, count in zip(lists, counts, strict=True)]
    return gauge("arena_sessions", "Listed sessions by status.", samples)


async def scoring(arena: Arena) -> Metric:
    """How many games the slowest strategy of each challenge has not counted yet."""
    samples = []
    for type_ in arena.catalog.challenges:
        games = await arena.boards.games(type_)
        stands = [await arena.boards.stand(type_, strategy.name) for strategy in arena.scorer.online(type_)]
        behind = [games - stand.place.cursor for stand in stands if stand.frozen is None]  # a frozen board is to wait
        samples.append(({"challenge": type_}, max(behind, default=0)))
    return gauge("arena_scoring_backlog", "Games that a strategy has not counted yet.", samples)


async def queues(arena: Arena) -> Metric:
    """How many tickets wait for each challenge."""
    lengths = await arena.matchmaker.queues.lengths(list(arena.catalog.challenges))
    samples = [({"challenge": type_}, length) for type_, length in lengths.items()]
    return gauge("arena_queue_tickets", "Tickets that wait for company.", samples)


async def waiting(arena: Arena) -> list[Metric]:
    """What waits in the outboxes, and for a runner."""
    boxes = [keys.outbox(shard) for shard in range(keys.SHARDS)]
    *events, jobs = await arena.nodes.run_all([(name, ("XLEN", name)) for name in (*boxes, keys.JOBS)])
    return [
        gauge("arena_outbox_backlog", "Events that lists and boards have not been told yet.", [({}, sum(events))]),
        gauge("arena_jobs_backlog", "Jobs that are not done.", [({}, jobs)]),
    ]
