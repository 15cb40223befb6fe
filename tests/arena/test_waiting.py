"""Waiting for a message: told at once when it is there, never asking for it, and leaving nothing behind."""

import asyncio
import time
from functools import partial
from typing import Any

import httpx
import pytest

from arena.auth import Viewer
from arena.models import Channel
from arena.store import keys
from arena.web.calls import moves
from tests.agents import agent_at
from tests.guests import comes_true, sit_down, visit
from tests.servers import Served, served
from tests.valkeys import connect


def awaited(arena: Served) -> int:
    """How many wait in the rooms of a server."""
    return sum(len(log.awaited) for room in arena.arena.hub.rooms.values() for log in room.logs)


def sync(arena: Served, channel: str, index: int, seconds: float, viewer: str | None = None) -> Any:
    """Ask a server as its doors do."""
    wait = partial(arena.arena.waiting.until, Channel(channel), index, seconds) if seconds else None
    return moves.sync(arena.arena, Viewer(viewer), Channel(channel), index, wait)


async def test_what_is_there_is_told_at_once(arena: Served) -> None:
    game = await sit_down(arena)
    await game.say(0, "one")
    await game.say(0, "psst", to=game.invites[1])

    begun = time.monotonic()
    whole, rest = await sync(arena, game.id, 0, 20), await sync(arena, game.id, 2, 20, game.invites[1])

    assert time.monotonic() - begun < 15
    assert [message["content"] for message in whole["messages"]] == ["one", ""]
    assert [message["content"] for message in rest["messages"]] == ["psst"]
    assert (whole["count"], whole["next"], rest["next"]) == (2, 3, 3)


async def test_what_comes_later_is_told_when_it_comes_also_from_another_server(store: str) -> None:
    async with served(store) as here, served(store) as there:
        game = await sit_down(here)
        waiting = [asyncio.create_task(sync(server, game.id, 1, 25)) for server in (here, there)]
        moving = asyncio.create_task(sync(there, game.operator_channel, 3, 25, game.invites[0]))
        await comes_true(lambda: awaited(here) + awaited(there) == 3, "three wait")

        begun = time.monotonic()
        await game.say(1, "at last")
        await game.act(0, "guess", "1")
        said, moved = [await task for task in waiting], await moving

        assert time.monotonic() - begun < 15
        assert [[m["content"] for m in result["messages"]] for result in said] == [["at last"]] * 2
        assert moved["messages"][0]["content"] == "(guess) 1"
        await comes_true(lambda: not there.arena.hub.rooms, "the room is closed")


async def test_a_message_that_came_between_two_looks_is_not_waited_for(arena: Served) -> None:
    game = await sit_down(arena)
    await game.say(0, "one")

    async with asyncio.timeout(15):
        await arena.arena.waiting.until(Channel(game.id), 1, 25)


@pytest.mark.parametrize("index", [-1, 0, 1])
async def test_an_empty_channel_is_waited_for_from_any_beginning(arena: Served, index: int) -> None:
    game = await sit_down(arena)
    waiting = asyncio.create_task(sync(arena, game.id, index, 25))
    await comes_true(lambda: awaited(arena) == 1, "one waits")

    await game.say(0, "one")

    assert [message["content"] for message in (await waiting)["messages"]] == ["one"]


async def test_one_who_waits_for_a_later_message_is_not_woken_by_an_earlier_one(arena: Served) -> None:
    game = await sit_down(arena)
    waiting = asyncio.create_task(sync(arena, game.id, 3, 25))
    await comes_true(lambda: awaited(arena) == 1, "one waits")

    await game.say(0, "one")
    await game.say(0, "two")
    await game.players[1].hear_messages(game.id, 2)
    assert not waiting.done()
    await game.say(0, "three")

    assert [message["index"] for message in (await waiting)["messages"]] == [3]


async def test_when_the_time_is_over_there_is_nothing_and_the_same_index_to_ask_for(arena: Served) -> None:
    game = await sit_down(arena)
    await game.say(0, "one")

    results = [await sync(arena, game.id, 2, 0.2), await sync(arena, game.id, 2, 0), await sync(arena, "lobby", 0, 0.2)]

    assert results == [{"messages": [], "count": 0, "next": index} for index in (2, 2, 1)]
    assert awaited(arena) == 0


async def test_nobody_waits_longer_than_the_longest_time(arena: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.waiting.LONGEST", 0.2)

    async with asyncio.timeout(60):
        assert (await sync(arena, "lobby", 0, 1e9))["count"] == 0


async def test_a_session_that_is_not_there_or_goes_away_is_not_waited_for(store: str) -> None:
    async with served(store, open_seconds=1) as arena, asyncio.timeout(20):
        assert (await sync(arena, keys.new_session_id(), 0, 25))["count"] == 0
        made = await (await visit(arena)).get("create", challengeType="psi")

        assert (await sync(arena, made["id"], 0, 25))["messages"] == []


async def test_a_reader_that_waits_for_each_next_message_misses_none(store: str) -> None:
    async with served(store) as here, served(store) as there:
        game = await sit_down(here)
        heard: dict[int, list[int]] = {}

        async def follow(number: int, server: Served) -> None:
            found = heard[number] = []
            while len(found) < 200:
                result = await sync(server, game.id, len(found) + 1, 25)
                assert result["messages"]
                found += [message["index"] for message in result["messages"]]
                await asyncio.sleep(0.001 * (number % 3))

        async def speak() -> None:
            for number in range(200):
                await game.say(0, str(number))

        await asyncio.gather(*(follow(number, (here, there)[number % 2]) for number in range(10)), speak())

        assert set(map(tuple, heard.values())) == {tuple(range(1, 201))}


async def test_two_thousand_wait_with_one_feed_and_ask_the_store_nothing(arena: Served, store: str) -> None:
    made = await (await visit(arena)).get("create", challengeType="psi")
    waiting = [asyncio.create_task(sync(arena, made["id"], 1, 25)) for _ in range(2000)]
    await comes_true(lambda: awaited(arena) == 2000, "all wait")
    with connect(store) as redis:
        feed = keys.feed(made["id"])
        before = redis.info("commandstats")
        await asyncio.sleep(1)
        after = redis.info("commandstats")
        listeners = redis.execute_command("PUBSUB", "SHARDNUMSUB", feed)

    guest = await visit(arena)
    await guest.get("join", invite=made["invites"][0])
    await guest.get("chat", channel=made["id"], content="hello")
    results = await asyncio.gather(*waiting)

    calls = [stats.get("cmdstat_lrange", {"calls": 0})["calls"] for stats in (before, after)]
    assert calls[1] - calls[0] < 10
    assert listeners[1] == 1
    assert {result["count"] for result in results} == {1}
    assert awaited(arena) == 0


# Over HTTP


def patient(arena: Served) -> str:
    """A question that waits for an answer, up to the name of the channel."""
    return f"{arena.url}/api/chat/sync?index=1&wait=25&channel="


async def test_a_client_that_waits_is_answered_when_the_message_comes(arena: Served) -> None:
    url, game = patient(arena), await sit_down(arena)
    async with httpx.AsyncClient() as client:
        asking = asyncio.create_task(client.get(url + game.id, timeout=25))
        await comes_true(lambda: awaited(arena) == 1, "one waits")

        await game.say(0, "hello")

        assert (await asking).json()["messages"][0]["content"] == "hello"


async def test_clients_that_go_away_leave_nothing_behind(arena: Served) -> None:
    url, made = patient(arena), await (await visit(arena)).get("create", challengeType="psi")

    await asyncio.gather(*(_hang_up_soon(url + made["id"]) for _ in range(20)))

    await comes_true(lambda: awaited(arena) == 0, "nobody waits")
    await comes_true(lambda: not arena.arena.hub.rooms, "the room is closed")
    names = {task.get_name() for task in asyncio.all_tasks()}
    assert not names & {"patient request", "hang-up"}


async def test_one_who_waits_for_an_answer_counts_as_a_connection(store: str) -> None:
    async with served(store, limit_connections_per_address=1) as arena, httpx.AsyncClient() as client:
        sync, queue = patient(arena), f"{arena.url}/api/queue/psi"
        ticket = (await client.post(queue, json={})).json()["ticket"]
        first = asyncio.create_task(client.get(sync + "lobby", timeout=25))
        await comes_true(lambda: awaited(arena) == 1, "one waits")

        refused = [await client.get(url) for url in (sync + "other", f"{queue}?ticket={ticket}&wait=25")]
        async with agent_at(arena) as agent, agent_at(arena, "/api/chat/mcp") as talker:
            made = await agent.call("create_session", challengeType="psi")
            told = [
                await agent.refusal("read", challengeId=made["session"]["challengeId"], operatorIndex=9, wait=25),
                await agent.refusal("find_game", challengeType="psi", ticket=ticket, wait=25),
                await talker.call("sync", channel="other", from_="ada", index=1, wait=25),
            ]
        at_once = await client.get(sync.replace("wait=25", "wait=0") + "other")
        await client.post(f"{arena.url}/api/chat/send", json={"channel": "lobby", "from": "ada", "content": "hello"})

        assert (await first).json()["count"] == 1
        assert at_once.status_code == 200
        assert [(one.status_code, one.json()["code"]) for one in refused] == [(429, "RATE_LIMITED")] * 2
        assert {one.headers["retry-after"] for one in refused} == {"10"}
        assert {one["code"] for one in told} == {"RATE_LIMITED"}
        assert (await client.get(sync.replace("wait=25", "wait=0.1") + "other")).status_code == 200


async def _hang_up_soon(url: str) -> None:
    with pytest.raises(httpx.ReadTimeout):
        async with httpx.AsyncClient() as client:
            await client.get(url, timeout=httpx.Timeout(5, read=0.3))


async def test_a_server_that_stops_answers_those_who_wait(arena: Served) -> None:
    url, game = patient(arena), await sit_down(arena)
    async with httpx.AsyncClient() as client:
        asking = asyncio.create_task(client.get(url + game.id, timeout=25))
        await comes_true(lambda: awaited(arena) == 1, "one waits")

        begun = time.monotonic()
        arena.uvicorn.should_exit = True

        assert (await asking).json()["messages"] == []
        assert time.monotonic() - begun < 15
