"""Races over REST: requests that come at the same moment, to one worker or two, count once each."""

import asyncio
from typing import Any

import pytest

from tests.callers import Caller, Session, Told, calling
from tests.servers import served


async def at_once(callers: list[Caller], requests: list[tuple[str, dict[str, Any]]]) -> list[Told]:
    """Send requests at the same moment, to the servers in turn, over connections that stand."""
    await asyncio.gather(*(callers[number % len(callers)].get("/stats") for number in range(len(requests))))
    sent = [callers[number % len(callers)].ask("POST", path, json=body) for number, (path, body) in enumerate(requests)]
    return list(await asyncio.gather(*sent))


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
async def callers(request: pytest.FixtureRequest, store: str) -> Any:
    async with served(store) as one, served(store) as two, calling(one) as first, calling(two) as second:
        yield [first, second][: request.param]


async def test_moves_made_together_are_all_kept(callers: list[Caller]) -> None:
    for _ in range(10):
        session = await callers[0].sit_down("ada", "ben")

        told = await at_once(callers, [("/arena/message", session.move(seat, f"5{seat}")) for seat in (0, 1)])

        [shown] = (await callers[-1].get("/challenges", limit=1, status="ended"))["challenges"]
        assert [one.status for one in told] == [200, 200]
        assert shown["id"] == session.id
        assert shown["gameState"]["guesses"] == [[50], [51]]


async def test_players_who_join_together_have_a_seat_each(callers: list[Caller]) -> None:
    for _ in range(10):
        session = await callers[0].create()

        told = await at_once(callers, [("/arena/join", {"invite": invite}) for invite in session.invites])

        [shown] = (await callers[-1].get("/challenges", limit=1, status="active"))["challenges"]
        dealt = [m["to"] for m in await session.operator()]
        assert [one.status for one in told] == [200, 200]
        assert sorted(shown["state"]["players"]) == sorted(dealt) == sorted(session.invites)


async def test_an_invite_that_many_use_together_seats_one(callers: list[Caller]) -> None:
    session = await callers[0].create()
    joins = [("/arena/join", {"invite": session.invites[0], "userId": f"user {number}"}) for number in range(20)]

    told = await at_once(callers, joins)

    assert sorted(one.status for one in told) == [200] + [400] * 19
    assert {one.body["code"] for one in told if one.status == 400} == {"INVITE_ALREADY_USED"}
    assert len(await session.operator()) == 1


async def test_a_last_move_that_is_sent_many_times_together_ends_and_scores_one_game(callers: list[Caller]) -> None:
    session: Session = await callers[0].sit_down("ada", "ben")
    await session.act(0)

    told = await at_once(callers, [("/arena/message", session.move(1)) for _ in range(10)])

    assert {one.status for one in told} <= {200, 400}
    assert sum(m["content"].startswith("Game ended.") for m in await session.operator()) == 1
    assert [entry["gamesPlayed"] for entry in await callers[-1].get("/scoring")] == [1, 1]
    assert (await callers[0].get("/stats"))["global"]["gamesPlayed"] == 1


async def test_updates_of_a_profile_that_come_together_all_stay(callers: list[Caller]) -> None:
    fields = [{"username": "Ada"}, {"model": "difference-1"}] * 5

    await at_once(callers, [("/users", {"userId": "ada", **told}) for told in fields])

    assert await callers[0].get("/users") == [{"userId": "ada", "username": "Ada", "model": "difference-1"}]


async def test_messages_said_together_in_a_free_channel_all_have_a_place(callers: list[Caller]) -> None:
    bodies = [{"channel": "lobby", "from": "ada", "content": str(number)} for number in range(20)]

    told = await at_once(callers, [("/chat/send", body) for body in bodies])

    heard = (await callers[0].get("/chat/sync", channel="lobby"))["messages"]
    assert sorted(one.body["index"] for one in told) == list(range(1, 21))
    assert {m["index"]: m["content"] for m in heard} == {
        one.body["index"]: body["content"] for one, body in zip(told, bodies, strict=True)
    }
