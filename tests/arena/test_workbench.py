"""The workbench of a job: what it may use, and what is left of it when a worker dies."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arena import catalog, config
from arena.errors import CannotStart, NotFound, TooLarge
from arena.jobs import Runner
from arena.models import Millis, SessionId
from arena.runtime import Arena, open_arena
from arena.session import Finish
from arena.settings import Settings
from arena.store import keys
from arena.store.benches import StoredBench, StoredBlobs
from arena.store.sessions import QueuedJob
from arena.testing import Table
from tests.plugins.smithy import Smithy


@pytest.fixture
async def house(store: str, tmp_path: Path) -> AsyncIterator[Arena]:
    (tmp_path / "secrets.json").write_text(json.dumps({"TOKEN": "s3cret"}))
    settings = Settings(blob_bytes=100, session_blob_bytes=150, secrets=tmp_path / "secrets.json")
    async with open_arena(settings, catalog.load(["tests.plugins.smithy"]), store) as arena:
        yield arena


async def begun(house: Arena, *moves: str) -> SessionId:
    session = await house.engine.create("smithy")
    await house.engine.join(session.header.invites[0])
    for content in moves:
        await house.engine.act(session.id, session.header.invites[0], "forge", content)
    return session.id


def bench(house: Arena, id_: SessionId, job_id: str = "job") -> StoredBench:
    return StoredBench(house.sessions, id_, job_id, house.parts, StoredBlobs(house.nodes, id_, 100, 150))


async def run_one(house: Arena, runner: Runner) -> QueuedJob:
    """Take a job and do it, as the runner does."""
    taken = None
    while taken is None:
        taken = await runner._take()
    await runner._free.acquire()
    await runner._do(*taken)
    return taken[1]


async def results(house: Arena, id_: SessionId) -> list[object]:
    return [i.result for i in await house.sessions.inputs(id_) if isinstance(i, Finish)]


async def test_a_job_reads_notes_and_keeps_bytes_and_knows_secrets_by_name(house: Arena) -> None:
    id_ = await begun(house, "a", "b")

    await run_one(house, house.runner)
    await run_one(house, house.runner)

    assert await results(house, id_) == [{"blade": "ab", "again": None, "secrets": ["TOKEN"]}] * 2


async def test_what_a_job_remembers_outlives_its_runner_and_goes_when_it_is_done(house: Arena) -> None:
    id_ = await begun(house, "x")
    [job_id] = (await house.engine.get(id_)).standing.jobs
    await bench(house, id_, job_id).remember("heated", [1, {"two": None}])

    assert await bench(house, id_, job_id).recall("heated") == [1, {"two": None}]
    assert await bench(house, id_, "another").recall("heated") is None
    done = await run_one(house, house.runner)

    assert done.id == job_id
    assert await results(house, id_) == [{"blade": "x", "again": [1, {"two": None}], "secrets": ["TOKEN"]}]
    key = keys.memory(job_id)
    assert await house.nodes.run(key, "EXISTS", key) == 0


async def test_bytes_have_limits_and_go_with_their_session(house: Arena) -> None:
    id_ = await begun(house)
    blobs = bench(house, id_).blobs
    await blobs.put("one", b"a" * 100)
    await blobs.put("one", b"b" * 100)  # in place of the first

    with pytest.raises(TooLarge, match="at most 100"):
        await blobs.put("two", b"c" * 101)
    with pytest.raises(TooLarge, match="at most 150"):
        await blobs.put("two", b"c" * 51)
    await blobs.drop("one")
    await blobs.drop("one")
    await blobs.put("two", b"c" * 100)

    assert (await blobs.get("one"), await blobs.get("two")) == (None, b"c" * 100)
    await house.sessions.remove(await house.engine.get(id_), Millis(1))
    assert await blobs.get("two") is None
    with pytest.raises(NotFound):
        await blobs.put("two", b"late")


async def test_a_table_does_jobs_in_memory() -> None:
    table = Table(Smithy())
    table.act(0, "forge", "x")

    await table.work()

    assert table.state.said == ["{'blade': 'x', 'again': None, 'secrets': []}"]


def test_a_file_of_secrets_that_is_none_is_told_without_its_content(tmp_path: Path) -> None:
    file = tmp_path / "secrets.toml"
    file.write_text('TOKEN = ["hush-hush"]')

    with pytest.raises(CannotStart) as refusal:
        config.read_secrets(file)

    assert "hush" not in str(refusal.value)
