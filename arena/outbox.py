"""Outbox: what a session has to tell the rest of the arena, told by the worker that committed it or by a sweeper.

The same event may be told twice and in any order; every consumer takes that.
"""

import asyncio
import logging
from collections.abc import Iterable

import orjson
from pydantic import ValidationError

from arena.clock import Clock
from arena.errors import ArenaError, trace
from arena.models import GameResult, SessionId
from arena.scorer import Scorer
from arena.store import keys
from arena.store.index import Index
from arena.store.nodes import Nodes
from arena.store.sessions import Posted

logger = logging.getLogger(__name__)

STALE = 5_000  # milliseconds after which an event's own worker counts as dead
SWEPT = 100  # events taken from a shard in one go


class Outbox:
    """The outboxes of all shards."""

    def __init__(self, nodes: Nodes, index: Index, scorer: Scorer, clock: Clock, stale: int = STALE) -> None:
        self.nodes = nodes
        self.index = index
        self.scorer = scorer
        self.clock = clock
        self.stale = stale
        self._telling: set[asyncio.Task[None]] = set()

    async def tell(self, session: SessionId, events: Iterable[tuple[str | None, Posted]], wait: float) -> None:
        """Tell events now; the caller is kept for a while, and the telling goes on after that."""
        tasks = {asyncio.create_task(self._tell(session, mark, event), name="outbox") for mark, event in events}
        self._telling |= tasks
        for task in tasks:
            task.add_done_callback(self._telling.discard)
        if tasks:
            await asyncio.wait(tasks, timeout=wait)

    async def _tell(self, session: SessionId, mark: str | None, event: Posted) -> None:
        try:
            await self._deliver(event)
            outbox = keys.of(session).outbox
            if mark is not None:
                await self.nodes.run(outbox, "XDEL", outbox, mark)
        except ArenaError as error:
            logger.warning("event left for the sweeper kind=%s code=%s", event.kind, error.code)
        except Exception as error:  # one bad event must not stop the others
            logger.error("event failed, kept aside kind=%s type=%s %s", event.kind, event.type, trace(error))
            if mark is not None:
                await self._set_aside(keys.of(session).outbox, mark.encode(), event.to_json())

    async def _deliver(self, event: Posted) -> None:
        if event.kind == "job":
            job = event.job or {}
            body = orjson.dumps({**job, "session": event.id, "type": event.type})
            await self.nodes.script("job", [keys.JOBS, keys.JOB_IDS], job["id"], body)
            return
        await self.index.take(event)
        if event.kind == "ended" and event.result is not None:
            await self.scorer.count(GameResult.model_validate_json(orjson.dumps(event.result)))

    async def sweep(self, shards: Iterable[int]) -> int:
        """Tell what workers left untold; returns how much that was."""
        names = [keys.outbox(shard) for shard in shards]
        until = self.clock.now() - self.stale
        found = await self.nodes.run_all([(name, ("XRANGE", name, "-", until, "COUNT", SWEPT)) for name in names])
        left = [(name, mark, fields[1]) for name, entries in zip(names, found, strict=True) for mark, fields in entries]
        for name, mark, data in left:
            try:
                event = Posted.from_json(data)
            except ValidationError as error:
                await self._set_aside(name, mark, data)
                logger.error("event not understood, kept in %s:bad %s", name, trace(error))
            else:
                await self._tell(event.id, mark.decode(), event)
        return len(left)

    async def _set_aside(self, outbox: str, mark: bytes, data: bytes) -> None:
        """Put an event that nobody can tell where it does not stand in the way of others."""
        await self.nodes.run(outbox, "XADD", f"{outbox}:bad", "*", "e", data)
        await self.nodes.run(outbox, "XDEL", outbox, mark)

    async def close(self) -> None:
        """Wait for what is being told."""
        await asyncio.gather(*self._telling, return_exceptions=True)
