"""The queues of an arena, tended by hand: what two workers do to one store, and what a dead one leaves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from arena import catalog, matchmaker
from arena.clock import Clock
from arena.errors import ArenaError, RateLimited, Refused, Taken
from arena.matchmaker import House
from arena.models import Invite, Millis, UserId
from arena.queueing import QueueState
from arena.runtime import Arena, open_arena
from arena.settings import Settings
from arena.store import index
from arena.ticketing import Wish
from tests.results import game


class Hand(Clock):
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead = 0

    def now(self) -> Millis:
        return Millis(super().now() + self.ahead)


@asynccontextmanager
async def worker(store: str, **settings: Any) -> AsyncIterator[Arena]:
    """A worker that does nothing by itself."""
    chosen = Settings.model_validate({"limit_open_sessions_per_address": 0, **settings})
    async with open_arena(chosen, catalog.load((), chosen.config), store) as arena:
        yield arena


@pytest.fixture
async def one(store: str) -> AsyncIterator[Arena]:
    async with worker(store) as arena:
        yield arena


@pytest.fixture
async def other(one: Arena, store: str) -> AsyncIterator[Arena]:
    async with worker(store) as arena:
        yield arena


def wish(name: str = "", type: str = "psi", **more: Any) -> Wish:
    return Wish(type, user=UserId(name) if name else None, origin="here")._replace(**more)


async def standing(arena: Arena, *states: QueueState) -> list[QueueState]:
    return [await arena.matchmaker.state(state.challenge_type, state.ticket) for state in states]


async def test_two_workers_seat_two_hundred_at_once_and_nobody_twice(one: Arena, other: Arena) -> None:
    makers = [one.matchmaker, other.matchmaker]
    tickets = await asyncio.gather(*(makers[n % 2].enter(wish(f"u{n}", origin=f"address {n % 5}")) for n in range(200)))
    assert len({ticket.ticket for ticket in tickets}) == 200

    await asyncio.gather(*(maker.tend("psi") for maker in makers * 3))

    seated = await standing(one, *tickets)
    assert {state.status for state in seated} == {"matched"}
    assert len({state.invite for state in seated}) == 200
    sessions = {state.challenge_id for state in seated}
    assert len(sessions) == 100
    assert (await one.index.page(index.name("psi"), 0, 1)).total == 100  # nobody was paired into another one before
    assert await one.matchmaker.overview("psi") == {"ranked": 0, "practice": 0}
    for id_ in sessions:
        held = (await one.engine.get(str(id_))).header.held
        assert len(set(held.values())) == 2


async def test_a_worker_that_dies_after_pairing_leaves_nobody_behind(
    one: Arena, other: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, ben = [await one.matchmaker.enter(wish(name)) for name in ("ada", "ben")]
    [match] = await one.matchmaker.pair("psi")  # and it does no more

    await other.matchmaker.tend("psi")
    assert {state.status for state in await standing(other, ada, ben)} == {"waiting"}  # it may still be alive
    monkeypatch.setattr(matchmaker, "STALE", -1)
    await asyncio.gather(other.matchmaker.tend("psi"), other.matchmaker.tend("psi"))

    seated = await standing(other, ada, ben)
    assert {state.challenge_id for state in seated} == {match.session}
    assert len({state.invite for state in seated}) == 2
    await one.matchmaker.carry_out(match)  # it was not dead after all
    assert await standing(other, ada, ben) == seated
    assert await other.matchmaker.queues.abandoned("psi", other.clock.now()) == []


async def test_a_worker_that_dies_before_it_tells_leaves_the_same_seats(
    one: Arena, other: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, ben = [await one.matchmaker.enter(wish(name)) for name in ("ada", "ben")]
    [match] = await one.matchmaker.pair("psi")
    opened = await one.matchmaker._open(match)

    monkeypatch.setattr(matchmaker, "STALE", -1)
    await other.matchmaker.tend("psi")

    invites = {state.invite for state in await standing(other, ada, ben)}
    assert invites == set(opened.header.invites)


async def test_a_match_that_nobody_could_make_in_time_is_called_off(one: Arena, other: Arena) -> None:
    ada, ben = [await one.matchmaker.enter(wish(name)) for name in ("ada", "ben")]
    [match] = await one.matchmaker.pair("psi")
    other.matchmaker.clock = clock = Hand()
    clock.ahead = 1_000_000

    await other.matchmaker.carry_out(match)

    assert {state.code for state in await standing(other, ada, ben)} == {"MATCH_LAPSED"}
    assert (await one.matchmaker.enter(wish("ada"))).status == "waiting"


class Bystander(House):
    """A house whose bots never play, as those of a worker that died."""

    def has_bots(self, type: str) -> list[str]:
        return ["honest"]


async def test_a_match_whose_game_is_gone_leaves_its_bots_nothing_to_do(store: str) -> None:
    async with worker(store, queue_backfill_seconds=0.001) as arena:
        maker = arena.matchmaker
        maker.house = Bystander()
        ada = await maker.enter(wish("ada"))
        maker.clock = clock = Hand()
        clock.ahead = 1_000
        await maker.tend("psi")
        [seated] = await standing(arena, ada)
        session = await arena.engine.get(str(seated.challenge_id))
        assert sorted(session.header.held.values()) == ["ada", "house/psi/honest"]
        [(match, _)] = await maker.queues.abandoned("psi", maker.clock.now())
        assert match.settled
        await arena.sessions.remove(session, arena.clock.now())
        arena.engine.forget()

        await maker.carry_out(match)

        assert await maker.queues.abandoned("psi", maker.clock.now()) == []
        assert await standing(arena, ada) == [seated]


async def test_one_user_has_one_ticket_and_gets_it_again_by_key_or_signature(one: Arena) -> None:
    maker = one.matchmaker
    first = await maker.enter(wish("ada", key="k1"))

    assert (await maker.enter(wish("ada", key="k1"))).ticket == first.ticket
    assert (await maker.enter(wish("ada", proven=True))).ticket == first.ticket
    with pytest.raises(Taken, match="of this name"):
        await maker.enter(wish("ada"))
    with pytest.raises(Taken, match="of this name"):
        await maker.enter(wish("ada", key="k1", ranked=False))
    assert (await maker.enter(wish("ada", type="millionaire"))).ticket != first.ticket
    assert (await maker.enter(wish(key="k1"))).ticket != first.ticket


async def test_who_has_a_seat_may_queue_again_once_it_is_taken(one: Arena) -> None:
    maker = one.matchmaker
    tickets = [await maker.enter(wish(name, key=name)) for name in ("ada", "ben")]
    await maker.tend("psi")
    ada, ben = await standing(one, *tickets)

    with pytest.raises(Taken, match="of this name"):
        await maker.enter(wish("ada"))
    assert (await maker.enter(wish("ada", key="ada"))).invite == ada.invite
    with pytest.raises(Refused, match="somebody else"):
        await one.engine.join(Invite(str(ada.invite)), UserId("eve"))
    await one.engine.join(Invite(str(ada.invite)))  # whose it is, it knows by itself
    await one.engine.join(Invite(str(ben.invite)), UserId("ben"))
    again = await maker.enter(wish("ada"))

    assert again.status == "waiting"
    session = await one.engine.get(str(ada.challenge_id))
    assert sorted(session.standing.player_identities.values()) == ["ada", "ben"]
    assert session.header.ranked


async def test_practice_games_do_not_count_and_do_not_meet_those_that_do(one: Arena) -> None:
    maker = one.matchmaker
    waiting = [
        await maker.enter(wish("ada")),
        await maker.enter(wish("ben", ranked=False)),
        await maker.enter(wish("cat", ranked=False, options={"setSize": 5})),
    ]
    await maker.tend("psi")
    assert {state.status for state in await standing(one, *waiting)} == {"waiting"}
    assert await maker.overview("psi") == {"ranked": 1, "practice": 2}

    dan = await maker.enter(wish("dan", ranked=False, options={"setSize": 10}))  # which is what it is anyway
    await maker.tend("psi")

    ben, dan = await standing(one, waiting[1], dan)
    assert ben.challenge_id == dan.challenge_id is not None
    assert not (await one.engine.get(dan.challenge_id)).header.ranked


async def test_a_ticket_whose_owner_is_gone_is_dropped_and_one_that_asks_stays(one: Arena) -> None:
    maker = one.matchmaker
    maker.clock = clock = Hand()
    ada, ben = [await maker.enter(wish(name)) for name in ("ada", "ben")]
    await maker.leave("psi", ben.ticket)
    clock.ahead = 29_000
    assert (await maker.state("psi", ada.ticket)).status == "waiting"

    clock.ahead = 58_000
    eve = await maker.enter(wish("eve"))
    clock.ahead = 59_500
    await maker.tend("psi")

    assert [state.status for state in await standing(one, ada, ben, eve)] == ["gone", "gone", "waiting"]
    assert (await maker.enter(wish("ada"))).status == "waiting"


async def test_the_rating_of_a_board_decides_who_meets_whom(store: str, tmp_path: Path) -> None:
    config = tmp_path / "arena.json"
    config.write_text('{"scoring": {"default": ["average", "elo"]}}')
    async with worker(store, config=config) as arena:
        wins = [game(["ben", "eve"], [(1, 1), (1, 0)], gameId=f"g{n}") for n in range(60)]
        await arena.scorer.count(*wins)
        maker = arena.matchmaker
        maker.clock = clock = Hand()
        ben, ada = [await maker.enter(wish(name)) for name in ("ben", "ada")]
        await maker.tend("psi")
        assert {state.status for state in await standing(arena, ada, ben)} == {"waiting"}

        cat = await maker.enter(wish("cat"))
        await maker.tend("psi")
        assert [state.status for state in await standing(arena, ada, ben, cat)] == ["matched", "waiting", "matched"]
        dan = await maker.enter(wish("dan"))
        for clock.ahead in (25_000, 50_000):
            await standing(arena, ben, dan)
        await maker.tend("psi")

        assert {state.status for state in await standing(arena, ben, dan)} == {"matched"}


async def test_nobody_floods_a_queue(store: str) -> None:
    async with worker(store, limit_queue_tickets=3, limit_queue_tickets_per_address=2) as arena:
        maker = arena.matchmaker
        first = await maker.enter(wish("a", origin="x"))
        await maker.enter(wish("b", origin="x"))
        with pytest.raises(RateLimited, match="of your tickets"):
            await maker.enter(wish("c", origin="x"))
        await maker.enter(wish("c", origin="y"))
        with pytest.raises(RateLimited, match="full"):
            await maker.enter(wish("d", origin="z"))

        await maker.leave("psi", first.ticket)
        assert (await maker.enter(wish("d", origin="x"))).status == "waiting"


async def test_what_cannot_be_queued_for_is_refused(one: Arena) -> None:
    for type_, options, code in (
        ("chess", None, "UNKNOWN_CHALLENGE_TYPE"),
        ("psi", {"setSize": "many"}, "VALIDATION"),
    ):
        with pytest.raises(ArenaError) as refusal:
            await one.matchmaker.enter(wish("ada", type=type_, options=options))
        assert refusal.value.code == code
