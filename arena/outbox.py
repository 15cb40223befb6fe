"""Outbox: what a session has to tell the rest of the arena, told by the worker that committed it or by a sweeper.

The same event may be told twice and in any order; every consumer takes that. What is posted in one turn of the event
loop is told together: a consumer takes many events for little more than one.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from arena.clock import Clock
from arena.errors import ArenaError, trace
from arena.models import GameResult, SessionId
from arena.scorer import Scorer
from arena.store import keys
from arena.store.index import Index
from arena.store.nodes import Nodes
from arena.store.sessions import Posted, QueuedJob

logger = logging.getLogger(__name__)

STALE = 5_000  # milliseconds after which an event's own worker counts as dead
SWEPT = 100  # events taken from a shard, and told, in one go


class Letter(NamedTuple):
    """An event on its way."""

    outbox: str
    mark: str | None  # its place there, if that is known
    event: Posted


class Outbox:
    """The outboxes of all shards."""

    def __init__(self, nodes: Nodes, index: Index, scorer: Scorer, clock: Clock, stale: int = STALE) -> None:
        self.nodes = nodes
        self.index = index
        self.scorer = scorer
        self.clock = clock
        self.stale = stale
        self.unveil: Callable[[Iterable[SessionId]], Awaitable[None]] = _nothing  # told of pairs that may be over
        self._letters: list[Letter] = []  # of this turn of the loop
        self._waiting: list[asyncio.Future[None]] = []  # those who wait for them
        self._telling: set[asyncio.Task[None]] = set()

    async def tell(self, session: SessionId, events: Iterable[tuple[str | None, Posted]], wait: float) -> None:
        """Tell events now; the caller is kept for a while, and the telling goes on after that."""
        outbox = keys.of(session).outbox
        if not self._letters:
            task = asyncio.create_task(self._tell_together(), name="outbox")
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)
        self._letters += [Letter(outbox, mark, event) for mark, event in events]
        if wait:
            loop = asyncio.get_running_loop()
            told = loop.create_future()
            self._waiting.append(told)
            late = loop.call_later(wait, _release, told)
            await told
            late.cancel()

    async def _tell_together(self) -> None:
        letters, self._letters = self._letters, []
        waiting, self._waiting = self._waiting, []
        try:
            await self._tell(letters)
        finally:
            for told in waiting:
                _release(told)

    async def _tell(self, letters: Sequence[Letter]) -> None:
        try:
            await self._deliver([letter.event for letter in letters])
        except ArenaError as error:
            for _, _, event in letters:
                logger.warning("event left for the sweeper kind=%s code=%s", event.kind, error.code)
        except Exception as error:  # one bad event must not stop the others: whichever it was, it fails again
            if len(letters) > 1:
                for letter in letters:
                    await self._tell([letter])
                return
            [(outbox, mark, event)] = letters
            logger.error("event failed, kept aside kind=%s type=%s %s", event.kind, event.type, trace(error))
            if mark is not None:
                await self._set_aside(outbox, mark.encode(), event.to_json())
        else:
            for outbox, mark, _ in letters:
                if mark is not None:
                    self.nodes.tell(outbox, "XDEL", outbox, mark)  # one that stays is told again, which does no harm

    async def _deliver(self, events: Sequence[Posted]) -> None:
        jobs = [_job(event) for event in events if event.kind == "job"]
        moves = [event for event in events if event.kind != "job"]
        ended = [event.result for event in moves if event.kind == "ended" and event.result is not None]
        results = [GameResult.model_validate(result, extra="ignore") for result in ended]
        if jobs:
            await asyncio.gather(*(self._enqueue(job) for job in jobs))
        if moves:
            await self.index.take(*moves)
        if results:
            await self.scorer.count(*results)
        for event in moves:
            if event.twins and event.kind in {"ended", "removed"}:
                await self.unveil([event.id, *event.twins])

    async def _enqueue(self, job: QueuedJob) -> None:
        await self.nodes.script("job", [keys.JOBS, keys.JOB_IDS], job.id, job.to_json())

    async def sweep(self, shards: Iterable[int]) -> int:
        """Tell what workers left untold; returns how much that was."""
        names = [keys.outbox(shard) for shard in shards]
        until = self.clock.now() - self.stale
        found = await self.nodes.run_all([(name, ("XRANGE", name, "-", until, "COUNT", SWEPT)) for name in names])
        left = [(name, mark, fields[1]) for name, entries in zip(names, found, strict=True) for mark, fields in entries]
        letters = []
        for name, mark, data in left:
            try:
                letters.append(Letter(name, mark.decode(), Posted.from_json(data)))
            except ValidationError as error:
                await self._set_aside(name, mark, data)
                logger.error("event not understood, kept in %s:bad %s", name, trace(error))
        for at in range(0, len(letters), SWEPT):
            await self._tell(letters[at : at + SWEPT])
        return len(left)

    async def _set_aside(self, outbox: str, mark: bytes, data: bytes) -> None:
        """Put an event that nobody can tell where it does not stand in the way of others."""
        await self.nodes.run(outbox, "XADD", f"{outbox}:bad", "*", "e", data)
        await self.nodes.run(outbox, "XDEL", outbox, mark)

    async def close(self) -> None:
        """Wait for what is being told."""
        await asyncio.gather(*self._telling, return_exceptions=True)


def _job(event: Posted) -> QueuedJob:
    named = {**(event.job or {}), "session": event.id, "type": event.type}
    return QueuedJob.model_validate(named, extra="ignore")


def _release(told: "asyncio.Future[None]") -> None:
    if not told.done():
        told.set_result(None)


async def _nothing(sessions: Iterable[SessionId]) -> None:
    """What is done about pairs where nobody looks after them."""
