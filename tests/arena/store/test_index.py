"""Lists of sessions: whatever order their news come in, and however often, the lists end up the same."""

from collections.abc import AsyncIterator
from itertools import permutations
from typing import Any

import pytest

from arena.models import Millis, SessionId, Status, UserId
from arena.store import index, keys
from arena.store.index import Index
from arena.store.nodes import Nodes
from arena.store.sessions import Posted
from tests.valkeys import connect

LISTS = [index.name(type_, status) for type_ in (None, "psi") for status in (None, *Status)]
LISTS += [index.of_user(UserId("ada")), index.of_origin("here")]


@pytest.fixture
async def lists(store: str) -> AsyncIterator[Index]:
    nodes = Nodes(store, timeout=5, patience=3)
    await nodes.connect()
    yield Index(nodes)
    await nodes.close()


def news(id_: SessionId, kind: Any, version: int, status: Status, *, private: bool = False) -> Posted:
    return Posted(
        kind=kind,
        id=id_,
        type="psi",
        version=version,
        at=Millis(10**12 + version),
        created_at=Millis(10**12),
        status=status,
        private=private,
        origin="here",
        users=[UserId("ada")] if version else [],
    )


def life(id_: SessionId, *, private: bool = False) -> tuple[Posted, Posted, Posted, Posted]:
    """All that is ever told of a session."""
    return (
        news(id_, "created", 0, Status.OPEN, private=private),
        news(id_, "started", 2, Status.ACTIVE, private=private),
        news(id_, "ended", 4, Status.ENDED, private=private),
        news(id_, "removed", 4, Status.ENDED, private=private),
    )


async def where(lists: Index, id_: SessionId) -> set[str]:
    """The lists that a session is in."""
    scores = await lists.nodes.run_all([(name, ("ZSCORE", name, id_)) for name in LISTS])
    return {name for name, score in zip(LISTS, scores, strict=True) if score is not None}


@pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
async def test_news_in_any_order_and_twice_put_a_session_where_it_belongs(lists: Index, private: bool) -> None:
    expected = {
        1: set() if private else {index.name(), index.name("psi"), *_both(Status.OPEN)},
        2: set() if private else {index.name(), index.name("psi"), *_both(Status.ACTIVE)},
        3: set() if private else {index.name(), index.name("psi"), *_both(Status.ENDED), index.of_user(UserId("ada"))},
        4: set[str](),
    }
    expected[1] |= {index.of_origin("here")}
    for told in (1, 2, 3, 4):
        orders = set(permutations([*range(told), *range(min(told, 2))]))
        for order in orders:
            id_ = keys.new_session_id()
            events = life(id_, private=private)

            for number in order:
                await lists.take(events[number])

            assert await where(lists, id_) == expected[told], order


def _both(status: Status) -> set[str]:
    return {index.name(status=status), index.name("psi", status)}


async def test_a_list_is_newest_first_in_pages_and_counts_all(lists: Index) -> None:
    ids = [keys.new_session_id() for _ in range(5)]
    for age, id_ in enumerate(ids):
        event = news(id_, "created", 0, Status.OPEN)
        await lists.take(event.model_copy(update={"created_at": Millis(10**12 + age)}))

    assert await lists.page(index.name("psi"), 1, 2) == ([ids[3], ids[2]], 5)
    assert await lists.page(index.name("psi", Status.ENDED), 0, 10) == ([], 0)
    assert await lists.open_of("here") == 5


async def test_a_tombstone_lasts_a_day_and_goes_with_the_next_one(lists: Index, store: str) -> None:
    old, new = keys.new_session_id(), keys.new_session_id()
    await lists.take(life(old)[3])
    late = life(new)[3]

    await lists.take(late.model_copy(update={"at": Millis(late.at + 86_400_001)}))

    with connect(store) as redis:
        assert redis.zrange(index.TOMBSTONES, 0, -1) == [new.encode()]
        assert redis.hlen(index.VERSIONS) == 0
