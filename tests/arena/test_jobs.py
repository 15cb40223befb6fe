"""The runner of jobs, as a task among others."""

import asyncio

from arena.jobs import Runner
from tests.servers import Served


async def ends_when_told(task: asyncio.Task[None], turns: int) -> bool:
    """Cancel a task after so many turns of the loop, once, and see whether that was enough."""
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task], timeout=60)
    ended = task.done()
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=0.1)
    return ended


async def test_a_runner_ends_when_told_whatever_it_is_doing(arena: Served) -> None:
    parts = arena.arena

    for turns in range(60):
        runner = Runner(parts.nodes, parts.engine, parts.catalog, f"worker-{turns}")
        assert await ends_when_told(asyncio.create_task(runner.run()), turns), turns
