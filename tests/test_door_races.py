"""Races between doors: what comes in by different ones at the same moment counts once each, and only once."""

import asyncio

import pytest

from arena.store.nodes import DIGESTS
from tests.callers import Caller, calling
from tests.doors.tables import Cast, alike, mixed, table_for
from tests.doors.visitor import FINE
from tests.guests import comes_true
from tests.servers import served
from tests.valkeys import Proxy

ALL = ("rest", "sse", "agent", "endpoints")  # where in open mode the invite is the identity
neighbours = pytest.mark.parametrize("cast", [cast._replace(audience=()) for cast in mixed()], ids=str)


@neighbours
async def test_players_who_join_and_move_by_different_doors_at_once_are_all_heard(store: str, cast: Cast) -> None:
    async with table_for(store, cast) as table:
        pairs = list(zip(table.players, table.invites, strict=True))

        joined = await asyncio.gather(*(player.join(invite) for player, invite in pairs))
        moved = await asyncio.gather(*(player.act("guess", f"{seat + 1}") for seat, (player, _) in enumerate(pairs)))

        [ada, _] = table.players
        standing, sets = await ada.standing(), await table.sets()
        dealt = [each for each in await ada.read("operator") if each.content.startswith("Your private set")]
        guesses = {name: sets.guesses[seat] for seat, name in enumerate(standing.players)}
        assert {*joined, *moved} == {FINE}
        assert (standing.status, {*standing.players}) == ("ended", {*table.invites})
        assert {each.to for each in dealt} == {*table.invites}
        assert len({each.content for each in dealt}) == 2
        assert guesses == {invite: [seat + 1] for seat, invite in enumerate(table.invites)}
        assert [games for games, _ in (await ada.board("psi")).values()] == [1, 1]


async def test_an_invite_that_is_used_at_all_doors_at_once_seats_one(store: str) -> None:
    async with table_for(store, alike()[0]) as table:
        rivals = [await table.another(door) for door in ("socket", "msgpack", *ALL) for _ in range(2)]

        told = await asyncio.gather(*(rival.join(table.invites[0]) for rival in rivals))

        seated = [rival for rival, answer in zip(rivals, told, strict=True) if answer == FINE]
        assert sorted(answer.code or "" for answer in told) == ["", *["INVITE_ALREADY_USED"] * (len(rivals) - 1)]
        assert (await seated[0].standing()).players == (table.invites[0],)
        assert len(await seated[0].read("operator")) == 1


async def test_a_last_move_that_comes_in_by_all_doors_at_once_ends_and_scores_one_game(store: str) -> None:
    async with table_for(store, alike()[0]) as table:
        ada, ben = (await table.sit_down()).players
        twins = [await table.another(door) for door in ALL]
        for twin in twins:
            twin.sat(table.id, ben.name)
        assert await ada.act("guess", "1") == FINE

        told = await asyncio.gather(*(each.act("guess", "2") for each in (ben, *twins)))

        said = await ada.read("operator")
        assert {answer.code for answer in told} <= {None, "GAME_NOT_RUNNING"}
        assert sum(each.content.startswith("Game ended.") for each in said) == 1
        assert sum(each.content == f"Player {ben.name} sent a guess" for each in said) == 1
        assert (await table.sets()).guesses == [[1], [2]]
        assert [games for games, _ in (await ada.board("psi")).values()] == [1, 1]


async def count(caller: Caller) -> list[int]:
    """How many games the players of the board have played."""
    return [entry["gamesPlayed"] for entry in await caller.get("/scoring")]


@pytest.mark.parametrize("key", [{}, {"key": "my last move"}], ids=["without a key", "with a key"])
async def test_a_last_move_that_the_store_could_not_take_is_sent_again_and_counts_once(
    store: str, key: dict[str, str]
) -> None:
    async with (
        Proxy(store) as proxy,
        served(proxy.url, store_patience_seconds=0.3) as arena,
        calling(arena) as caller,
    ):
        session = await caller.sit_down("ada", "ben")
        await session.act(0)

        proxy.refuse = True
        proxy.cut_all()
        lost = await session.act(1, **key)
        proxy.refuse = False
        again = await session.act(1, **key)

        assert (lost.status, lost.body["code"]) == (503, "STORE_UNAVAILABLE")
        assert again.status == 200
        assert await count(caller) == [1, 1]


async def test_a_last_move_that_the_store_took_without_a_word_is_sent_again_and_counts_once(store: str) -> None:
    async with (
        Proxy(store) as proxy,
        served(proxy.url, store_patience_seconds=0.3) as arena,
        served(store) as other,
        calling(arena) as caller,
        calling(other) as witness,
    ):
        session = await caller.sit_down("ada", "ben")
        await session.act(0)

        proxy.cut_after_next(DIGESTS["commit"].encode())
        proxy.refuse = True  # whoever comes anew
        lost = await session.act(1, key="my last move")
        proxy.refuse = False
        again = [await session.act(1, key="my last move"), await session.act(1)]

        assert (lost.status, lost.body["code"], proxy.cuts) == (503, "STORE_UNAVAILABLE", 1)
        assert [answer.status for answer in again] == [200, 200]
        await comes_true(lambda: count(witness), "the game is counted")
        assert await count(witness) == await count(caller) == [1, 1]
        assert sum(m["content"].startswith("Game ended.") for m in await session.operator()) == 1
