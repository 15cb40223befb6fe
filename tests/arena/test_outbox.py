"""Events of a session reach everybody they concern: at once, or when the worker that should have told them died."""

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from arena import catalog
from arena.models import Millis, SessionId, Status
from arena.runtime import Arena, open_arena
from arena.settings import Settings
from arena.store import index, keys
from arena.store.sessions import Posted, QueuedJob
from tests.valkeys import connect


@pytest.fixture
async def house(store: str) -> AsyncIterator[Arena]:
    async with open_arena(Settings(), catalog.load(), store) as arena:
        arena.outbox.stale = 0
        yield arena


def posted(kind: Any, **fields: Any) -> Posted:
    basics: dict[str, Any] = {
        "kind": kind,
        "id": keys.new_session_id(),
        "type": "psi",
        "version": 1,
        "at": Millis(1),
        "created_at": Millis(1),
        "status": Status.OPEN,
        "private": False,
    }
    return Posted(**{**basics, **fields})


async def leave(house: Arena, event: Posted) -> str:
    """Put an event into its outbox, as a commit does whose worker then dies."""
    outbox = keys.of(event.id).outbox
    mark = await house.nodes.run(outbox, "XADD", outbox, "*", "e", event.to_json())
    return str(mark.decode())


async def waiting(house: Arena) -> int:
    names = [keys.outbox(shard) for shard in range(keys.SHARDS)]
    return sum(await house.nodes.run_all([(name, ("XLEN", name)) for name in names]))


async def listed(house: Arena) -> list[SessionId]:
    return (await house.index.page(index.name("psi"), 0, 1000)).ids


async def test_a_sweep_tells_what_was_left_and_takes_it_out(house: Arena) -> None:
    events = [posted("created") for _ in range(10)]
    for event in events:
        await leave(house, event)

    assert await house.outbox.sweep(range(keys.SHARDS)) == 10

    assert sorted(await listed(house)) == sorted(event.id for event in events)
    assert await waiting(house) == 0
    assert await house.outbox.sweep(range(keys.SHARDS)) == 0


async def test_a_sweep_leaves_alone_what_is_fresh_or_not_in_its_shards(house: Arena) -> None:
    event = posted("created")
    await leave(house, event)
    mine = keys.shard_of(event.id)

    assert await house.outbox.sweep([shard for shard in range(keys.SHARDS) if shard != mine]) == 0
    house.outbox.stale = 60_000
    assert await house.outbox.sweep([mine]) == 0
    assert await waiting(house) == 1


async def test_an_event_that_cannot_be_told_does_not_stop_the_others(
    house: Arena, caplog: pytest.LogCaptureFixture
) -> None:
    id_ = keys.new_session_id()
    bad = posted("ended", id=id_, status=Status.ENDED, result={"no": "result"})
    good = posted("created", id=SessionId(id_[:-2] + f"{int(id_[-2:], 16) ^ 0x80:02x}"))  # in the same shard
    await leave(house, bad)
    await leave(house, good)

    await house.outbox.sweep(range(keys.SHARDS))

    assert good.id in await listed(house)
    assert await waiting(house) == 0
    aside = keys.outbox(keys.shard_of(id_)) + ":bad"
    assert await house.nodes.run(aside, "XLEN", aside) == 1
    assert [r.levelname for r in caplog.records if "event failed" in r.message] == ["ERROR"]


async def test_an_event_in_the_outbox_of_another_shard_is_told_once_and_taken_out(house: Arena) -> None:
    event = posted("created")
    strange = keys.outbox((keys.shard_of(event.id) + 1) % keys.SHARDS)
    await house.nodes.run(strange, "XADD", strange, "*", "e", event.to_json())

    swept = [await house.outbox.sweep(range(keys.SHARDS)) for _ in range(2)]

    assert swept == [1, 0]
    assert await listed(house) == [event.id]


async def test_a_job_goes_to_the_stream_once_however_often_it_is_told(house: Arena, store: str) -> None:
    event = posted("job", job={"id": "j1", "kind": "judge", "payload": {"n": 1}})
    mark = await leave(house, event)

    for _ in range(3):
        await house.outbox.tell(event.id, [(mark, event)], 5)
    await house.outbox.tell(event.id, [(None, event)], 5)

    with connect(store) as redis:
        [(_, fields)] = redis.xrange(keys.JOBS)
    told = {"id": "j1", "kind": "judge", "payload": {"n": 1}, "session": event.id, "type": "psi"}
    assert orjson.loads(fields[b"job"]) == told
    assert await waiting(house) == 0


async def test_a_job_that_a_later_version_ordered_goes_to_the_stream(house: Arena, store: str) -> None:
    event = posted("job", job={"id": "j1", "kind": "judge", "payload": 2**70, "ofTomorrow": 1})
    await leave(house, event)

    await house.outbox.sweep(range(keys.SHARDS))

    with connect(store) as redis:
        [(_, fields)] = redis.xrange(keys.JOBS)
    assert QueuedJob.from_json(fields[b"job"]).payload == 2**70
