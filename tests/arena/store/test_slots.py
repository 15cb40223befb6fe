"""Connections of an address, counted over all workers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from arena.store.nodes import Nodes
from arena.store.slots import Slots
from tests.valkeys import Valkey, connect

SECRET = b"s" * 32
ADDRESS = "203.0.113.7"


@asynccontextmanager
async def crew_of(store: str, count: int, most: int) -> AsyncIterator[list[Slots]]:
    nodes = Nodes(store, timeout=5, patience=0.1)
    await nodes.connect()
    try:
        yield [Slots(nodes, SECRET, f"w{number}", most, count) for number in range(count)]
    finally:
        await nodes.close()


async def enter_all(*workers: Slots) -> int:
    """Take turns to enter until nobody is let in any more, and say how many were."""
    entered, before = 0, -1
    while entered != before:
        before = entered
        for worker in workers:
            entered += worker.enter(ADDRESS)
            await worker.report()
    return entered


async def test_one_worker_may_give_away_all_slots(store: str) -> None:
    async with crew_of(store, 4, most=100) as (ada, *_):
        assert await enter_all(ada) == 100


async def test_all_workers_together_give_away_no_more_than_there_are(store: str) -> None:
    async with crew_of(store, 3, most=100) as workers:
        assert 100 <= await enter_all(*workers) <= 103


async def test_a_worker_that_has_not_heard_of_the_others_gives_its_share_until_it_has(store: str) -> None:
    async with crew_of(store, 2, most=100) as (ada, ben):
        await enter_all(ada)

        at_once = sum(ben.enter(ADDRESS) for _ in range(100))
        await ben.report()

        assert at_once == 50
        assert await enter_all(ben) == 0


async def test_slots_that_one_worker_gives_back_are_free_for_another(store: str) -> None:
    async with crew_of(store, 2, most=20) as (ada, ben):
        await enter_all(ada)
        full = await enter_all(ben)

        for _ in range(10):
            ada.leave(ADDRESS)
        await ada.report()
        ben._places[ADDRESS].at -= 10  # it looks again by itself after a while
        await ben.report()

        assert full <= 1
        assert 9 <= await enter_all(ben) <= 10


async def test_slots_of_a_dead_worker_are_free_again(store: str) -> None:
    async with crew_of(store, 2, most=20) as (ada, ben):
        await enter_all(ada)
        with connect(store) as redis:
            [key] = redis.keys("lim:*")
            assert 0 < redis.pttl(key) <= 15_000
            redis.hset(key, "w0", "20:1")  # heard of for the last time long ago

        assert await enter_all(ben) == 20


async def test_the_store_hears_nothing_of_few_connections_and_never_an_address(store: str) -> None:
    async with crew_of(store, 2, most=1000) as (ada, _):
        for _ in range(10):
            ada.enter(ADDRESS)
        await ada.report()
        with connect(store) as redis:
            few = redis.keys("lim:*")
            for _ in range(30):
                ada.enter(ADDRESS)
            await ada.report()
            [key] = redis.keys("lim:*")

    assert not few
    assert ADDRESS not in str(key)


async def test_nothing_is_kept_of_an_address_that_is_gone(store: str) -> None:
    async with crew_of(store, 1, most=10) as (ada,):
        for _ in range(10):
            ada.enter(ADDRESS)
        await ada.report()
        for _ in range(10):
            ada.leave(ADDRESS)
        await ada.report()

        assert not ada._places
    with connect(store) as redis:
        assert not redis.keys("lim:*")


async def test_without_the_store_each_worker_keeps_to_its_share() -> None:
    with Valkey() as valkey:
        async with crew_of(valkey.url, 2, most=20) as (ada, _):
            valkey.kill()

            assert await enter_all(ada) == 10
