"""Duties: a fault is one line of log, never the end of the work."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from arena import duties
from arena.errors import StoreUnavailable
from tests.guests import comes_true

SECRET = "what a player said"


async def work(error: BaseException | None = None) -> str:
    if error is not None:
        raise error
    return "done"


@asynccontextmanager
async def kept_up(task: asyncio.Task[None]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_what_went_well_is_not_worth_a_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    assert await duties.attempt("sums", work())

    assert not [record for record in caplog.records if record.name == "arena.duties"]


@pytest.mark.parametrize(
    ("error", "level", "words"),
    [
        (StoreUnavailable(SECRET), "WARNING", "put off work=sums code=STORE_UNAVAILABLE"),
        (ValueError(SECRET), "ERROR", "failed work=sums error=ValueError at=test_duties.py"),
        (ExceptionGroup(SECRET, [KeyError(SECRET)]), "ERROR", "failed work=sums error=ExceptionGroup"),
    ],
)
async def test_a_fault_is_told_in_one_line_that_quotes_nobody(
    caplog: pytest.LogCaptureFixture, error: Exception, level: str, words: str
) -> None:
    fine = await duties.attempt("sums", work(error))

    assert not fine
    [record] = caplog.records
    assert record.levelname == level
    assert record.getMessage().startswith(words)
    assert SECRET not in caplog.text


async def test_whoever_is_told_to_stop_stops() -> None:
    with pytest.raises(asyncio.CancelledError):
        await duties.attempt("sums", work(asyncio.CancelledError()))


async def test_a_duty_stops_though_its_work_took_the_order_for_a_fault_of_the_store() -> None:
    begun = asyncio.Event()

    async def deaf() -> None:
        if begun.is_set():
            return
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise StoreUnavailable("") from None

    task = asyncio.create_task(duties.again("sums", 0, deaf))
    await begun.wait()
    task.cancel()

    await comes_true(task.done, "it stopped")
    assert task.cancelled()


async def test_a_duty_goes_on_whatever_happens_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duties, "AFTER_FAULT", 0.001)
    errors: list[Exception | None] = [ValueError(), StoreUnavailable(""), None, RuntimeError(), None]
    done = 0

    async def duty() -> None:
        nonlocal done
        done += 1
        if error := errors[done % len(errors)]:
            raise error

    task = asyncio.create_task(duties.again("sums", 0, duty))
    async with kept_up(task):
        await comes_true(lambda: done > 20, "it was done many times")
        assert not task.done()

    assert task.cancelled()


async def test_a_duty_without_a_pause_takes_one_after_a_fault() -> None:
    times: list[float] = []

    async def duty() -> None:
        times.append(asyncio.get_running_loop().time())
        raise ValueError

    async with kept_up(asyncio.create_task(duties.again("sums", 0, duty))):
        await comes_true(lambda: len(times) == 2, "it was tried again")

    assert times[1] - times[0] >= duties.AFTER_FAULT * 0.9
