"""The clock: the store's time, and never back."""

import time

from arena.clock import Clock


def test_the_clock_tells_milliseconds_of_the_stores_time() -> None:
    clock = Clock()
    clock.offset = 3600.0

    before = int((time.time() + 3600) * 1000)
    now = clock.now()

    assert before <= now <= int((time.time() + 3600) * 1000)


def test_the_clock_stands_still_rather_than_run_backwards() -> None:
    clock = Clock()
    clock.offset = 3600.0
    ahead = clock.now()

    clock.offset = -3600.0  # the store's clock was set, or we had measured it badly

    assert [clock.now() for _ in range(3)] == [ahead] * 3


def test_the_clock_follows_the_store_forward_at_once() -> None:
    clock = Clock()
    before = clock.now()

    clock.offset = 60.0

    assert clock.now() >= before + 60_000
