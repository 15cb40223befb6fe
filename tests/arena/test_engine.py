"""Engine: what a worker remembers of a session may be old, and what a client sends may have been answered long ago."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from random import Random

import pytest
from pydantic import BaseModel

from arena import Effects, Operator, Seat, action, say
from arena.catalog import Catalog
from arena.errors import Internal
from arena.models import SessionId
from arena.runtime import Arena, open_arena
from arena.session import Session
from arena.settings import Settings
from tests.valkeys import connect


class Steps(BaseModel):
    made: int = 0


class Stairs(Operator[Steps]):
    """Falls over whoever takes another step than the next one."""

    def deal(self, rng: Random) -> Steps:
        return Steps()

    @action
    def step(self, steps: Steps, seat: Seat, number: int) -> Effects:
        """Take the next step."""
        if number != steps.made:
            raise ValueError("there is no such step")
        steps.made += 1
        yield say(f"step {number}")


@pytest.fixture
async def workers(store: str) -> AsyncIterator[list[Arena]]:
    known = Catalog()
    known.add("stairs", Stairs)
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(open_arena(Settings(), known, store)) for _ in range(2)]


async def seated(workers: list[Arena]) -> Session:
    """A running game that both workers remember as it stands."""
    session = await workers[0].engine.create("stairs")
    for invite in session.header.invites:
        await workers[0].engine.join(invite)
    one, _ = [await worker.engine.get(session.id) for worker in workers]
    return one


async def step(worker: Arena, session: Session, number: int, key: str | None = None) -> None:
    await worker.engine.act(session.id, session.header.invites[0], "step", str(number), key)


async def said(worker: Arena, id_: SessionId) -> int:
    return (await worker.engine.get(id_)).standing.messages


async def test_a_move_that_fails_on_an_old_version_is_tried_on_the_new_one(workers: list[Arena]) -> None:
    one, two = workers
    session = await seated(workers)

    await step(one, session, 0)
    await step(two, session, 1)
    await step(one, session, 2)

    assert await said(two, session.id) == 6


async def test_a_move_that_fails_on_the_present_version_fails_and_is_logged_once(
    workers: list[Arena], caplog: pytest.LogCaptureFixture
) -> None:
    session = await seated(workers)

    for worker in workers:
        with pytest.raises(Internal):
            await step(worker, session, 5)

    assert len([r for r in caplog.records if "challenge failed type=stairs" in r.message]) == 2
    assert await said(workers[0], session.id) == 0


async def test_a_move_that_was_answered_is_answered_again_although_it_would_fail_now(workers: list[Arena]) -> None:
    session = await seated(workers)
    await step(workers[0], session, 0, "k")
    await step(workers[0], session, 1)

    for worker in workers:
        await step(worker, session, 0, "k")

    assert await said(workers[1], session.id) == 4


async def test_a_worker_remembers_so_many_sessions_and_plays_the_others_all_the_same(store: str) -> None:
    known = Catalog()
    known.add("stairs", Stairs)
    async with open_arena(Settings(hot_sessions=3), known, store) as worker:
        remembered = []

        games = [await seated([worker, worker]) for _ in range(6)]
        for number in range(3):
            for session in games:
                await step(worker, session, number)
                remembered.append(len(worker.engine._hot))

        assert max(remembered) == 3
        assert [await said(worker, session.id) for session in games] == [6] * 6


async def test_a_move_in_a_session_that_is_known_is_one_command(workers: list[Arena], store: str) -> None:
    session = await seated(workers)

    with connect(store) as redis:
        redis.config_resetstat()
        for number in range(10):
            await step(workers[0], session, number)
        done = redis.info("commandstats")

    inside = {"hget", "hset", "rpush", "llen", "lindex", "zrem", "zadd", "spublish"}  # of the script that commits
    asked = {name.removeprefix("cmdstat_"): told["calls"] for name, told in done.items() if "|" not in name}
    assert {name: calls for name, calls in asked.items() if name not in inside} == {"evalsha": 10}
