"""Rates that workers share: what they let through together, and what the store gets to see of it."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from arena.store import leases as leases_module
from arena.store.leases import Leases
from arena.store.nodes import Nodes
from tests.valkeys import Valkey, connect

SECRET = b"s" * 32
ADDRESS = "203.0.113.7"


@asynccontextmanager
async def crew_of(store: str, count: int, rate: float) -> AsyncIterator[list[Leases]]:
    nodes = Nodes(store, timeout=5, patience=0.1)
    await nodes.connect()
    try:
        yield [Leases(nodes, SECRET, {"requests": rate}, count) for _ in range(count)]
    finally:
        await nodes.close()


def spend_all(worker: Leases, address: str = ADDRESS) -> int:
    """Take until there is nothing left, and say how much there was."""
    taken = 0
    while not worker.take("requests", address):
        taken += 1
    return taken


def pass_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the workers' clocks, not the store's."""
    moved = 0.0

    def move(seconds: float) -> None:
        nonlocal moved
        moved += seconds

    real = time.monotonic
    monkeypatch.setattr("arena.store.leases.time.monotonic", lambda: real() + moved)
    return move


async def test_a_worker_begins_with_its_share_without_asking_the_store(store: str) -> None:
    async with crew_of(store, 4, rate=40) as (ada, *_):
        taken = spend_all(ada)

    assert taken == 10
    with connect(store) as redis:
        assert not redis.keys("lim:*")


async def test_one_worker_may_spend_what_the_others_leave(store: str) -> None:
    async with crew_of(store, 4, rate=40) as (ada, *_):
        taken = spend_all(ada)
        for _ in range(3):
            await ada.renew()
            taken += spend_all(ada)

    assert 40 <= taken <= 80


async def test_all_workers_together_let_through_no_more_than_twice_the_rate_at_once(store: str) -> None:
    begun = time.monotonic()
    async with crew_of(store, 3, rate=30) as workers:
        taken = sum(map(spend_all, workers))
        for _ in range(5):
            for worker in workers:
                await worker.renew()
                taken += spend_all(worker)

    assert 55 <= taken <= 60 + 30 * (time.monotonic() - begun)


async def test_an_address_that_goes_on_gets_its_rate_and_no_more(store: str) -> None:
    async with crew_of(store, 2, rate=100) as workers:
        for _ in range(3):
            for worker in workers:
                spend_all(worker)
                await worker.renew()
        for worker in workers:
            spend_all(worker)
        begun, taken = time.monotonic(), 0

        while (elapsed := time.monotonic() - begun) < 0.5:
            for worker in workers:
                await worker.renew()
                taken += spend_all(worker)

    assert 0.6 * 100 * elapsed <= taken <= 100 * elapsed + 2


def spend_quietly(worker: Leases) -> int:
    """Take all there is, but never so much as to be refused."""
    taken = 0
    while (lease := worker._held.get(("requests", ADDRESS))) is None or lease.left >= 1:
        assert not worker.take("requests", ADDRESS)
        taken += 1
    return taken


async def test_pauses_do_not_give_anybody_a_fresh_share(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = pass_time(monkeypatch)
    async with crew_of(store, 2, rate=50) as (ada, ben):
        for _ in range(3):
            for worker in (ada, ben):
                spend_all(worker)
                await worker.renew()
        begun, taken = time.time(), 0

        for _ in range(10):
            taken += spend_quietly(ada)
            wait(leases_module.LEASE)
            await ada.renew()

        assert taken <= 50 * (time.time() - begun) + 5  # by the store's clock hardly any time has passed


async def test_what_is_not_needed_goes_back_to_the_others(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = pass_time(monkeypatch)
    async with crew_of(store, 4, rate=40) as (ada, ben, *_):
        for _ in range(2):
            spend_quietly(ada)
            await ada.renew()  # the second time it gets all that is left
        for _ in range(2):  # ada's guest does nothing any more
            wait(leases_module.LEASE)
            await ada.renew()

        taken = spend_all(ben)
        await ben.renew()
        taken += spend_all(ben)

        assert taken >= 20
        assert not ada._held


async def test_who_asks_little_is_never_counted_in_the_store(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = pass_time(monkeypatch)
    async with crew_of(store, 2, rate=100) as (ada, _):
        for _ in range(20):
            ada.take("requests", ADDRESS)
            wait(leases_module.LEASE)
            await ada.renew()

    with connect(store) as redis:
        assert not redis.keys("lim:*")


async def test_the_store_knows_no_address_and_forgets_soon(store: str) -> None:
    async with crew_of(store, 1, rate=10) as (ada,):
        spend_all(ada)
        await ada.renew()

    with connect(store) as redis:
        [key] = redis.keys("lim:*")
        assert ADDRESS not in str(key)
        assert 0 < redis.pttl(key) < 10_000


async def test_many_addresses_cost_bounded_memory_and_share_what_is_left(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases_module, "MOST", 10)
    async with crew_of(store, 1, rate=5) as (ada,):
        taken = [not ada.take("requests", f"10.0.0.{number}") for number in range(100)]

        assert len(ada._held) == 11
        assert sum(taken) == 10 + 5


async def test_without_the_store_each_worker_goes_on_with_its_share() -> None:
    with Valkey() as valkey:
        async with crew_of(valkey.url, 2, rate=100) as (ada, _):
            first = spend_all(ada)
            valkey.kill()
            begun, taken = time.monotonic(), 0

            while taken < 20:
                await ada.renew()
                taken += spend_all(ada)

            assert first == 50
            assert taken <= 50 * (time.monotonic() - begun) + 1


async def test_a_rate_of_zero_is_no_limit(store: str) -> None:
    async with crew_of(store, 1, rate=0) as (ada,):
        assert not any(ada.take("requests", ADDRESS) for _ in range(1000))
