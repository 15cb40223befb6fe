"""The protocol's MCP tools: they answer what REST answers, and batches are carried out one after the other."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from tests.agents import Sender, agent_at, sender_at, waits
from tests.callers import Body, Caller, calling
from tests.guests import comes_true
from tests.servers import Served, served


@pytest.fixture
async def player(arena: Served) -> AsyncIterator[Sender]:
    async with sender_at(arena, "/api/arena/mcp") as someone:
        yield someone


@pytest.fixture
async def talker(arena: Served) -> AsyncIterator[Sender]:
    async with sender_at(arena, "/api/chat/mcp") as someone:
        yield someone


def join(invite: str, user: str) -> tuple[str, Body]:
    return "challenge_join", {"invite": invite, "userId": user}


def guess(id_: str, invite: str, content: str = "1") -> tuple[str, Body]:
    return "challenge_message", {"challengeId": id_, "from": invite, "messageType": "guess", "content": content}


def reading(channel: str, player: str, index: int = 0, **more: float) -> Body:
    return {"channel": channel, "from": player, "index": index, **more}


async def test_a_game_over_mcp_and_one_over_rest_look_the_same(player: Sender, caller: Caller) -> None:
    one, other = await caller.create(), await caller.create()
    for seat, user in enumerate(("ada", "ben")):
        [joined] = await player.call(join(one.invites[seat], user))
        assert {**joined, "ChallengeID": other.id} == await other.join(seat, user)

    for seat in (0, 1):
        [moved] = await player.call(guess(one.id, one.invites[seat]))
        assert moved == (await other.act(seat)).body == {"ok": "Message sent"}

    [heard] = await player.call(("challenge_sync", reading(one.id, one.invites[0])))
    assert heard == await caller.get("/arena/sync", channel=one.id, **{"from": one.invites[0]})
    assert len(heard["messages"]) == len(await other.operator(0))


async def test_what_is_wrong_with_a_call_is_told_as_over_rest(player: Sender, talker: Sender, caller: Caller) -> None:
    session = await caller.sit_down()
    unknown = "00000000-0000-4000-8000-000000000000"
    bodies = [session.move(0, type="dance"), session.move(0, "none"), session.move(0) | {"challengeId": unknown}]
    bodies += [session.move(0) | {"from": "stranger"}, session.move(0) | {"from": "viewer"}]
    bodies += [session.move(0, "1" * 40_000)]

    told = await player.call(*(("challenge_message", body) for body in bodies))
    joins = await player.call(join(session.invites[0], "eve"), join("inv_none", "eve"))
    talk = {"channel": f"challenge_{session.id}", "from": "eve", "content": "hi"}
    [talked] = await talker.call(("send_chat", talk))

    assert told == [(await caller.refusal("/arena/message", **body)).body for body in bodies]
    assert [error.get("code") for error in told] == [
        "UNKNOWN_METHOD",
        "INVALID_GUESS",
        None,
        "PLAYER_NOT_FOUND",
        None,
        "TOO_LARGE",
    ]
    assert joins[0]["code"] == "INVITE_ALREADY_USED"
    assert joins[1] == {"error": "Challenge not found for invite: inv_none"}
    assert talked == (await caller.refusal("/chat/send", **talk)).body


@pytest.mark.parametrize("to", [None, "", "absent"])
async def test_talk_to_nobody_in_particular_is_for_all(talker: Sender, caller: Caller, to: str | None) -> None:
    session = await caller.sit_down()
    addressed = {} if to == "absent" else {"to": to}

    body = {"channel": session.id, "from": session.invites[0], "content": "hello", **addressed}
    [sent] = await talker.call(("send_chat", body))

    [heard] = await talker.call(("sync", reading(session.id, "viewer")))
    assert sent == {"index": 1, "channel": session.id, "from": session.invites[0], "to": None}
    assert [(m["content"], "to" in m) for m in heard["messages"]] == [("hello", False)]


async def test_a_direct_message_is_for_its_two_ends(talker: Sender, caller: Caller) -> None:
    session = await caller.sit_down()
    ada, ben = session.invites
    await talker.call(("send_chat", {"channel": session.id, "from": ada, "content": "psst", "to": ben}))

    heard = await talker.call(*(("sync", reading(session.id, name)) for name in (ada, ben, "eve")))

    assert [page["messages"][0]["content"] for page in heard] == ["psst", "psst", ""]
    assert heard[2]["messages"][0]["redacted"] is True


async def test_indexes_far_beyond_the_end_are_no_trouble(player: Sender, caller: Caller) -> None:
    session = await caller.sit_down()

    [heard] = await player.call(("challenge_sync", reading(session.id, session.invites[0], 2**62)))

    assert (heard["messages"], heard["count"]) == ([], 0)


async def test_both_guesses_of_a_batch_are_kept(player: Sender, caller: Caller) -> None:
    for _ in range(10):
        session = await caller.sit_down("ada", "ben")

        told = await player.call(
            *(guess(session.id, invite, f"5{seat}") for seat, invite in enumerate(session.invites))
        )

        [shown] = (await caller.get("/challenges", limit=1, status="ended"))["challenges"]
        assert told == [{"ok": "Message sent"}] * 2
        assert shown["id"] == session.id
        assert shown["gameState"]["guesses"] == [[50], [51]]


async def test_both_joins_of_a_batch_have_a_seat_each(player: Sender, caller: Caller) -> None:
    for _ in range(10):
        session = await caller.create()

        told = await player.call(*(join(invite, user) for invite, user in zip(session.invites, "ab", strict=True)))

        [shown] = (await caller.get("/challenges", limit=1, status="active"))["challenges"]
        dealt = [m["to"] for m in await session.operator()]
        assert [joined["ChallengeID"] for joined in told] == [session.id] * 2
        assert shown["state"]["players"] == dealt == session.invites


async def test_a_last_move_three_times_in_a_batch_ends_and_scores_one_game(player: Sender, caller: Caller) -> None:
    session = await caller.sit_down("ada", "ben")
    await session.act(0)

    told = await player.call(*[guess(session.id, session.invites[1])] * 3)

    assert told == [{"ok": "Message sent"}] * 3  # the later ones are answered in the operator's channel
    assert [m["content"][:20] for m in await session.operator(1)].count("ERR_GAME_NOT_RUNNING") == 2
    assert [entry["gamesPlayed"] for entry in await caller.get("/scoring")] == [1, 1]
    assert (await caller.get("/stats"))["global"]["gamesPlayed"] == 1


async def test_a_whole_game_in_one_batch_comes_out_in_its_order(player: Sender, caller: Caller) -> None:
    session = await caller.create()
    first, second = session.invites

    told = await player.call(
        guess(session.id, first),
        join(first, "ada"),
        guess(session.id, first),
        join(second, "ben"),
        guess(session.id, first),
        guess(session.id, first),
        guess(session.id, second),
        ("challenge_sync", reading(session.id, first, 1)),
    )

    assert [told[number].get("code") for number in (4, 5, 6)] == [None, "DUPLICATE_GUESS", None]
    assert told[7]["messages"][-1]["content"].startswith("Game ended.")


async def test_many_batches_at_once_change_nothing_twice(store: str) -> None:
    async with (
        served(store) as one,
        served(store) as two,
        calling(one) as caller,
        sender_at(one, "/api/arena/mcp") as first,
        sender_at(two, "/api/v1/arena/mcp") as second,
    ):
        session = await caller.sit_down("ada", "ben")
        guesses = [guess(session.id, invite, f"5{seat}") for seat, invite in enumerate(session.invites)]

        await asyncio.gather(*(sender.call(*guesses) for sender in (first, second) for _ in range(5)))

        [shown] = (await caller.get("/challenges"))["challenges"]
        assert shown["gameState"]["guesses"] == [[50], [51]]
        assert (await caller.get("/stats"))["global"]["gamesPlayed"] == 1


async def test_a_reader_who_waits_is_answered_when_something_is_said(talker: Sender, caller: Caller) -> None:
    session = await caller.sit_down()
    ada, ben = session.invites
    waiting = asyncio.create_task(talker.call(("sync", reading(session.id, ben, 1, wait=25))))
    await comes_true(waits, "a reader waits")

    await caller.post("/chat/send", channel=session.id, content="at last", **{"from": ada})

    async with asyncio.timeout(15):
        [heard] = await waiting
    assert [m["content"] for m in heard["messages"]] == ["at last"]
    assert heard["next"] == 2


async def test_a_reader_who_waits_in_vain_is_told_where_to_go_on(player: Sender, caller: Caller) -> None:
    session = await caller.sit_down()

    [heard] = await player.call(("challenge_sync", reading(session.id, session.invites[0], 3, wait=0.1)))

    assert heard == {"messages": [], "count": 0, "next": 3}


async def test_the_calls_of_a_batch_wait_no_longer_than_one(
    talker: Sender, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await caller.sit_down()
    monkeypatch.setattr("arena.web.mcp.reading.LONGEST", 0.3)

    begun = time.monotonic()
    heard = await talker.call(*[("sync", reading(session.id, session.invites[0], 1, wait=5)) for _ in range(4)])

    assert [result["count"] for result in heard] == [0] * 4
    assert 0.3 <= time.monotonic() - begun < 4


@pytest.mark.parametrize("door", ["/mcp", "/api/chat/mcp"])
async def test_nobody_waits_for_a_client_that_has_gone(arena: Served, caller: Caller, door: str) -> None:
    session = await caller.sit_down()
    ben = session.invites[1]

    async def wait() -> None:
        if door == "/mcp":
            async with agent_at(arena) as agent:
                await agent.call("read", challengeId=session.id, from_=ben, operatorIndex=3, wait=25)
        else:
            async with sender_at(arena, door) as sender:
                await sender.call(("sync", reading(session.id, ben, 1, wait=25)))

    leaving = asyncio.create_task(wait())
    await comes_true(waits, "a reader waits")

    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)

    await comes_true(lambda: not waits(), "nobody waits")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_plays_through_both_endpoints(arena: Served, caller: Caller, mode: str) -> None:
    session = await caller.create()
    ada, ben = session.invites
    async with agent_at(arena, "/api/arena/mcp", mode) as player, agent_at(arena, "/api/chat/mcp", mode) as talker:
        tools = [*(await player.client.list_tools()).tools, *(await talker.client.list_tools()).tools]
        for invite, user in ((ada, "ada"), (ben, "ben")):
            assert (await player.call("challenge_join", invite=invite, userId=user))["ChallengeID"] == session.id
        await talker.call("send_chat", channel=session.id, from_=ada, content="ready?")
        heard = await talker.call("sync", channel=session.id, from_=ben, index=1, wait=25)
        for invite in (ada, ben):
            await player.call(
                "challenge_message", challengeId=session.id, from_=invite, messageType="guess", content="1"
            )
        told = await player.call("challenge_sync", channel=session.id, from_=ada, index=0)

    assert len(tools) == 5
    assert [m["content"] for m in heard["messages"]] == ["ready?"]
    assert told["messages"][-1]["content"].startswith("Game ended.")
