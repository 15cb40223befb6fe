import asyncio
import os
import sys
import time

import pytest

from arena.packs.isolate import Isolate, Stopped, TooDeep


def spin() -> None:
    while True:
        pass


def die() -> None:
    os._exit(1)


def fill() -> int:
    return len([bytearray(1024**2) for _ in range(100_000)])


def divide(one: int, other: int) -> float:
    return one / other


def shout() -> str:
    sys.stdout.write("this must not end up in the answer")
    return "done"


def deep_answer() -> list[object]:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


async def test_a_call_is_answered_by_another_process() -> None:
    async with Isolate() as isolate:
        assert await isolate.run(os.getpid) != os.getpid()


async def test_what_a_call_raises_is_raised_here_and_the_worker_goes_on() -> None:
    async with Isolate(workers=1) as isolate:
        before = await isolate.run(os.getpid)

        with pytest.raises(ZeroDivisionError):
            await isolate.run(divide, 1, 0)

        assert await isolate.run(os.getpid) == before


async def test_endless_work_is_stopped_at_its_limit_and_the_next_call_gets_a_new_worker() -> None:
    async with Isolate(workers=1, seconds=0.5) as isolate:
        before = await isolate.run(os.getpid)
        started = time.monotonic()

        with pytest.raises(Stopped, match=r"after 0\.5 s"):
            await isolate.run(spin)

        assert time.monotonic() - started < 20
        assert await isolate.run(os.getpid) != before


async def test_the_event_loop_goes_on_while_a_worker_is_busy() -> None:
    async with Isolate(workers=1, seconds=1) as isolate:
        stopped = asyncio.create_task(isolate.run(spin))

        turns = 0
        while not stopped.done():
            await asyncio.sleep(0)
            turns += 1

        assert turns > 100
        assert isinstance(stopped.exception(), Stopped)


async def test_a_worker_that_dies_of_its_call_is_replaced() -> None:
    async with Isolate(workers=1) as isolate:
        with pytest.raises(Stopped, match="died"):
            await isolate.run(die)

        assert await isolate.run(divide, 6, 3) == 2


async def test_a_call_cannot_take_all_memory() -> None:
    async with Isolate(workers=1, seconds=60) as isolate:
        with pytest.raises(Stopped, match="memory"):
            await isolate.run(fill)

        assert await isolate.run(divide, 6, 3) == 2


async def test_what_is_nested_too_deeply_is_not_sent() -> None:
    async with Isolate(workers=1) as isolate:
        with pytest.raises(TooDeep):
            await isolate.run(len, deep_answer())

        assert await isolate.run(divide, 6, 3) == 2


async def test_what_a_call_prints_stays_out_of_its_answer() -> None:
    async with Isolate() as isolate:
        assert await isolate.run(shout) == "done"


async def test_an_answer_that_cannot_be_sent_is_told_as_such() -> None:
    async with Isolate(workers=1) as isolate:
        with pytest.raises(Stopped, match="cannot be sent"):
            await isolate.run(deep_answer)

        assert await isolate.run(divide, 6, 3) == 2


async def test_a_cancelled_call_leaves_no_busy_worker_behind() -> None:
    async with Isolate(workers=1, seconds=60) as isolate:
        busy = asyncio.create_task(isolate.run(spin))
        await asyncio.sleep(0)
        busy.cancel()
        with pytest.raises(asyncio.CancelledError):
            await busy

        assert await asyncio.wait_for(isolate.run(divide, 6, 3), 30) == 2


async def test_closing_ends_every_worker() -> None:
    async with Isolate(workers=1) as isolate:
        pid = await isolate.run(os.getpid)

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
