import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from arena.lanes import Lanes


@asynccontextmanager
async def on(lanes: Lanes, name: str) -> AsyncIterator[None]:
    await lanes.enter(name)
    try:
        yield
    finally:
        lanes.leave(name)


async def test_one_at_a_time_per_name_in_the_order_of_coming() -> None:
    lanes, seen = Lanes(), list[str]()

    async def pass_through(name: str, who: str) -> None:
        async with on(lanes, name):
            seen.append(f"{who} in")
            await asyncio.sleep(0)
            seen.append(f"{who} out")

    await asyncio.gather(*(pass_through("a", who) for who in "123"))

    assert seen == ["1 in", "1 out", "2 in", "2 out", "3 in", "3 out"]


async def test_lanes_of_other_names_are_free() -> None:
    lanes = Lanes()

    async with on(lanes, "a"), asyncio.timeout(60), on(lanes, "b"):
        assert set(lanes._lines) == {"a", "b"}


async def test_whoever_gives_up_waiting_does_not_hold_the_others_up() -> None:
    lanes, seen = Lanes(), list[str]()

    async def pass_through(who: str) -> None:
        async with on(lanes, "a"):
            seen.append(who)

    async with on(lanes, "a"):
        waiting = [asyncio.create_task(pass_through(who)) for who in "123"]
        await asyncio.sleep(0)
        waiting[0].cancel()
    waiting[1].cancel()  # its turn comes at this very moment
    await asyncio.gather(*waiting, return_exceptions=True)

    assert seen == ["3"]
    assert not lanes._lines


async def test_a_free_lane_leaves_nothing_behind_although_its_user_failed() -> None:
    lanes = Lanes()

    try:
        async with on(lanes, "a"):
            raise ValueError
    except ValueError:
        pass

    assert not lanes._lines
