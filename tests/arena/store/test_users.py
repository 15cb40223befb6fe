"""Profiles in the store: a change keeps what it does not tell, and a signature is good for one change."""

from collections.abc import AsyncIterator

import pytest
from redis.crc import key_slot

from arena.errors import Unauthorized
from arena.models import Millis, UserId
from arena.store import keys
from arena.store.nodes import Nodes
from arena.store.users import Users

ADA, BEN = UserId("ad" * 32), UserId("be" * 32)
NOW = Millis(1_700_000_000_000)
WINDOW = 300_000


@pytest.fixture
async def users(store: str) -> AsyncIterator[Users]:
    nodes = Nodes(store, timeout=5, patience=3)
    await nodes.connect()
    yield Users(nodes)
    await nodes.close()


async def test_a_change_keeps_what_it_does_not_tell(users: Users) -> None:
    await users.update(ADA, {"username": "Ada"}, NOW)
    await users.mark(ADA, True, NOW)

    made = await users.update(ADA, {"model": "difference-1"}, NOW)

    assert made.wire() == {"userId": ADA, "username": "Ada", "model": "difference-1", "isBenchmark": True}


async def test_what_is_told_as_empty_is_forgotten(users: Users) -> None:
    await users.update(ADA, {"username": "Ada", "model": "difference-1"}, NOW)

    made = await users.update(ADA, {"username": ""}, NOW)

    assert made.wire() == {"userId": ADA, "model": "difference-1"}
    assert (await users.mark(ADA, False, NOW)).is_benchmark is None


async def test_users_are_listed_in_the_order_of_their_first_profile(users: Users) -> None:
    await users.update(BEN, {}, NOW)
    await users.update(ADA, {}, Millis(NOW + 1))
    await users.update(BEN, {"username": "Ben"}, Millis(NOW + 2))

    assert [profile.user_id for profile in await users.all()] == [BEN, ADA]


async def test_a_name_in_the_list_without_a_profile_is_left_out(users: Users) -> None:
    await users.nodes.run(keys.USERS, "ZADD", keys.USERS, NOW, "half-written")

    assert await users.all() == []


async def test_a_signature_is_good_for_one_change_however_often_that_is_sent(users: Users) -> None:
    first = [await users.update_signed(ADA, {"username": "Ada"}, NOW, NOW, WINDOW) for _ in range(3)]

    with pytest.raises(Unauthorized):
        await users.update_signed(ADA, {"username": "Eve"}, NOW, NOW, WINDOW)

    assert first == [first[0]] * 3
    assert await users.profiles([ADA]) == {ADA: first[0]}


async def test_two_users_may_sign_at_the_same_moment(users: Users) -> None:
    made = [await users.update_signed(user, {"username": user[:2]}, NOW, NOW, WINDOW) for user in (ADA, BEN)]

    assert [profile.username for profile in made] == ["ad", "be"]


async def test_signatures_are_remembered_as_long_as_they_hold_and_no_longer(users: Users) -> None:
    name = keys.signatures(ADA)
    for step in range(3):
        at = Millis(NOW + step * WINDOW)
        await users.update_signed(ADA, {"username": f"{step}"}, at, at, WINDOW)

    kept = [int(mark.split()[0]) for mark in await users.nodes.run(name, "ZRANGE", name, 0, -1)]
    left = await users.nodes.run(name, "PTTL", name)

    assert kept == [NOW + WINDOW, NOW + 2 * WINDOW]
    assert 0 < left <= 3 * WINDOW


def test_a_profile_and_its_signatures_lie_in_one_slot() -> None:
    assert key_slot(keys.profile(ADA).encode()) == key_slot(keys.signatures(ADA).encode())
