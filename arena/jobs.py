"""Jobs: slow work on a stream, taken by any worker, and taken over when a worker dies.

A job's result is an input of its session, accepted once; so running a job twice costs time, never correctness.
"""

import asyncio
import logging
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json
from redis.exceptions import RedisError, ResponseError

from arena.catalog import Catalog
from arena.engine import Engine
from arena.errors import ArenaError, trace
from arena.models import strict_json
from arena.operator import JobFailed
from arena.store import keys
from arena.store.benches import StoredBench, StoredBlobs
from arena.store.nodes import Nodes, heed_cancellation
from arena.store.sessions import QueuedJob
from arena.workbench import Parts

logger = logging.getLogger(__name__)

GROUP = "arena"
RENEW = 5.0  # seconds between signs of life of a job's runner
DEAD = 20_000  # milliseconds of silence after which a job is taken over
DEATHS = 3  # runners that may die of a job before it counts as failed
AT_ONCE = 4


class Runner:
    """Takes jobs from the stream, for as long as the server lives."""

    def __init__(
        self,
        nodes: Nodes,
        engine: Engine,
        catalog: Catalog,
        worker: str,
        dead: int = DEAD,
        parts: Parts | None = None,
    ) -> None:
        self.nodes = nodes
        self.engine = engine
        self.catalog = catalog
        self.worker = worker
        self.dead = dead
        self.parts = parts or Parts()
        self._free = asyncio.Semaphore(AT_ONCE)

    async def run(self) -> None:
        """Take jobs one after the other, several at once."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._free.acquire()
                try:
                    taken = await self._take()
                except (RedisError, OSError, ArenaError) as error:
                    logger.warning("no jobs taken reason=%s", type(error).__name__)
                    await asyncio.sleep(1)
                    taken = None
                heed_cancellation()
                if taken is None:
                    self._free.release()
                    continue
                group.create_task(self._do(*taken), name="job")

    async def _take(self) -> tuple[str, QueuedJob, int] | None:
        """The next job: one whose runner died, or a new one."""
        client: Any = self.nodes.of(keys.JOBS).client
        try:
            _, left, *_ = await client.xautoclaim(keys.JOBS, GROUP, self.worker, self.dead, count=1)
            found = left or await self._new(client)
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
            await self._make_group(client)
            return None
        if not found:
            return None
        mark, fields = found[0]
        [pending] = await client.xpending_range(keys.JOBS, GROUP, mark, mark, 1) or [{"times_delivered": 1}]
        try:
            return mark.decode(), QueuedJob.from_json(fields[b"job"]), pending["times_delivered"]
        except (KeyError, ValidationError) as error:
            logger.error("job not understood, dropped %s", trace(error))
            await self._finish(client, mark)
            return None

    async def _new(self, client: Any) -> list[Any]:
        reply = await client.xreadgroup(GROUP, self.worker, {keys.JOBS: ">"}, count=1, block=500)
        return reply[0][1] if reply else []

    async def _make_group(self, client: Any) -> None:
        try:
            await client.xgroup_create(keys.JOBS, GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise

    async def _do(self, mark: str, job: QueuedJob, deliveries: int) -> None:
        alive = asyncio.create_task(self._stay_alive(mark), name="job claim")
        try:
            bench = self._bench(job)
            result, failed = await self._work(job, deliveries, bench)
            await self.engine.finish(job.session, job.id, result, failed)
            await bench.forget()
            await self._finish(self.nodes.of(keys.JOBS).client, mark)
        except Exception as error:  # what goes wrong here concerns this job alone
            logger.warning("job left for another runner id=%s %s", job.id, trace(error))
        finally:
            alive.cancel()
            self._free.release()

    async def _finish(self, client: Any, mark: str | bytes) -> None:
        await client.xack(keys.JOBS, GROUP, mark)
        await client.xdel(keys.JOBS, mark)

    def _bench(self, job: QueuedJob) -> StoredBench:
        sessions, settings = self.engine.sessions, self.engine.settings
        blobs = StoredBlobs(self.nodes, job.session, settings.blob_bytes, settings.session_blob_bytes)
        return StoredBench(sessions, job.session, job.id, self.parts, blobs)

    async def _work(self, job: QueuedJob, deliveries: int, bench: StoredBench) -> tuple[Any, str | None]:
        if deliveries > DEATHS:
            return None, f"The job died {DEATHS} times."
        try:
            session = await self.engine.get(job.session)
            await self.catalog.fetch(job.type, session.header.version)
            operator = self.catalog.challenge(job.type).operator(session.header.options)
            result = await operator.labour(job.kind, job.payload, bench)
            return from_json(strict_json(result)), None
        except JobFailed as error:
            return None, str(error).encode(errors="replace").decode()
        except ArenaError:
            raise
        except Exception as error:  # a challenge's work may raise anything
            logger.error("job failed type=%s id=%s %s", job.type, job.id, trace(error))
            return None, f"The job raised {type(error).__name__}."

    async def _stay_alive(self, mark: str) -> None:
        client: Any = self.nodes.of(keys.JOBS).client
        while True:
            heed_cancellation()
            await asyncio.sleep(RENEW)
            try:
                await client.xclaim(keys.JOBS, GROUP, self.worker, 0, [mark], justid=True)
            except (RedisError, OSError) as error:
                logger.warning("job claim not renewed reason=%s", type(error).__name__)
