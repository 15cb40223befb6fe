"""Queues at the doors: tickets, seats that are found, bots that fill in, and what nobody learns."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from arena.bots import Move, Talk
from arena.client import Arena, Refused
from arena.identity import Identity
from arena.web import house
from tests.agents import agent_at
from tests.callers import Caller, calling
from tests.commands import arena as command
from tests.guests import Guest, comes_true, visit
from tests.servers import Served, served

SECRET = "a long random text"


@pytest.fixture
async def lively(store: str) -> AsyncIterator[Served]:
    """A server whose house does not let anybody wait."""
    async with served(store, queue_backfill_seconds=0.01) as arena:
        yield arena


async def matched(caller: Caller, type: str, ticket: str) -> Any:
    """Wait until something has come of a ticket."""
    while (state := await caller.get(f"/queue/{type}", ticket=ticket, wait=20))["status"] == "waiting":
        pass
    return state


async def test_two_who_queue_over_rest_play_each_other(caller: Caller) -> None:
    ada = await caller.post("/queue/psi", userId="ada")
    assert ada["status"] == "waiting"
    assert (ada["seats"], ada["ranked"]) == (2, True)
    assert (await caller.get("/queue/psi"))["waiting"] == {"ranked": 1, "practice": 0}
    waiting = asyncio.create_task(matched(caller, "psi", ada["ticket"]))

    ben = await caller.post("/queue/psi", userId="ben")
    seats = [await waiting, await matched(caller, "psi", ben["ticket"])]

    assert {seat["status"] for seat in seats} == {"matched"}
    assert seats[0]["challengeId"] == seats[1]["challengeId"]
    for seat in seats:
        joined = await caller.post("/arena/join", invite=seat["invite"])
        assert joined["ChallengeID"] == seat["challengeId"]
    told = await caller.refusal("/arena/join", invite=seats[0]["invite"])
    assert told.body["code"] == "INVITE_ALREADY_USED"
    assert (await caller.get("/queue/psi", ticket=ada["ticket"])) == seats[0]


async def test_two_who_queue_over_sockets_are_told_and_one_that_comes_back_is_told_too(arena: Served) -> None:
    ada, ben, late = await visit(arena), await visit(arena), await visit(arena)
    first = await ada.get("queue", challengeType="psi", userId="ada")
    await ada.socket.close()
    again = await late.get("queue", challengeType="psi", ticket=first["ticket"])
    assert again == first

    await ben.get("queue", challengeType="psi", userId="ben")

    told = [await guest.hear("queue", status="matched") for guest in (late, ben)]
    assert told[0]["ticket"] == first["ticket"]
    for guest, frame in zip((late, ben), told, strict=True):
        await guest.get("join", invite=frame["invite"])
    await ben.until(lambda: _is_on(ben), "the start of the game")
    assert (await ben.get("queue", challengeType="psi", ticket=first["ticket"]))["invite"] == told[0]["invite"]


def _is_on(guest: Guest) -> bool | None:
    return any(frame["state"]["status"] == "active" for frame in guest.of("state")) or None


async def test_who_leaves_is_not_paired(arena: Served, caller: Caller) -> None:
    ada = await visit(arena)
    await ada.get("queue", challengeType="psi", userId="ada")
    ben = await caller.post("/queue/psi", userId="ben", ranked=False)

    assert (await ada.get("queue", challengeType="psi", off=True))["status"] == "gone"
    left = await caller.ask("DELETE", "/queue/psi", params={"ticket": ben["ticket"]})

    assert (left.status, left.body["status"]) == (200, "gone")
    assert (await caller.get("/queue/psi"))["waiting"] == {"ranked": 0, "practice": 0}
    gone = await caller.ask("GET", "/queue/psi", params={"ticket": ben["ticket"]})
    assert (gone.status, gone.body["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"userId": 5}, 400, "VALIDATION"),
        ({"userId": "x" * 129}, 400, "VALIDATION"),
        ({"options": {"setSize": "many"}}, 400, "VALIDATION"),
        ({"ranked": "yes"}, 400, "VALIDATION"),
        ({"key": "ä"}, 400, "VALIDATION"),
        ([], 400, "VALIDATION"),
    ],
)
async def test_a_wish_that_makes_no_sense_is_refused(caller: Caller, body: Any, status: int, code: str) -> None:
    told = await caller.ask("POST", "/queue/psi", json=body)

    assert (told.status, told.body["code"]) == (status, code)
    assert (await caller.get("/queue/psi"))["waiting"] == {"ranked": 0, "practice": 0}


async def test_who_wishes_nothing_in_particular_sends_no_body(caller: Caller) -> None:
    told = await caller.ask("POST", "/queue/psi")
    broken = await caller.ask("POST", "/queue/psi", content=b"{")

    assert (told.status, told.body["status"]) == (200, "waiting")
    assert (broken.status, broken.body["code"]) == (400, "VALIDATION")


async def test_there_are_no_queues_for_what_nobody_can_play(caller: Caller) -> None:
    for method in ("GET", "POST"):
        told = await caller.ask(method, "/queue/chess", **({"json": {}} if method == "POST" else {}))
        assert (told.status, told.body["code"]) == (404, "UNKNOWN_CHALLENGE_TYPE")
    told = await caller.ask("DELETE", "/queue/psi")
    assert (told.status, told.body["code"]) == (400, "VALIDATION")


async def test_where_keys_are_required_a_ticket_needs_a_signature_and_its_seat_the_same_one(store: str) -> None:
    async with served(store, auth="required", auth_secret=SECRET) as arena, calling(arena) as caller:
        ada, ben, eve = Identity.new(), Identity.new(), Identity.new()
        assert (await caller.refusal("/queue/psi", userId="ada")).status == 400
        assert (await caller.refusal("/queue/psi", **ada.sign("queue:ultimatum"))).status == 401
        first = await caller.post("/queue/psi", **ada.sign("queue:psi"))
        assert (await caller.post("/queue/psi", **ada.sign("queue:psi")))["ticket"] == first["ticket"]
        guest = await visit(arena)
        await guest.get("queue", challengeType="psi", **ben.sign("queue:psi"))

        seat = await matched(caller, "psi", first["ticket"])

        thief = await caller.refusal("/arena/join", invite=seat["invite"], **eve.sign(f"join:{seat['invite']}"))
        assert thief.body["code"] == "NOT_YOUR_SEAT"
        await caller.post("/arena/join", invite=seat["invite"], **ada.sign(f"join:{seat['invite']}"))


async def test_the_house_fills_in_and_is_marked_as_such(lively: Served) -> None:
    async with calling(lively) as caller:
        ada = await visit(lively)
        await ada.get("queue", challengeType="millionaire", userId="ada")
        seat = await ada.hear("queue", status="matched")
        await ada.get("join", invite=seat["invite"])
        await ada.until(lambda: _is_on(ada), "the start of the game")
        await ada.until(lambda: _all_here(ada), "the bot among those who are connected")
        await ada.get("message", challengeId=seat["challengeId"], messageType="resign", content="")

        ended = await ada.hear("game_ended")

        others = set(ended["data"]["playerIdentities"].values()) - {"ada"}
        assert others <= {"house/millionaire/careful", "house/millionaire/frank"}
        assert len(others) == 1
        assert ended["data"]["profiles"][others.pop()]["isBenchmark"] is True
        listed = await caller.get("/challenges/millionaire")
        assert [game["gameCategory"] for game in listed["challenges"]] == ["test"]
        await comes_true(lambda: _no_matches(lively, "millionaire"), "nothing left of the match")


def _all_here(guest: Guest) -> bool | None:
    return any(len(frame["connected"]) == 2 for frame in guest.of("state")) or None


async def _no_matches(arena: Served, type: str) -> bool:
    now = arena.arena.clock.now()
    return not await arena.arena.matchmaker.queues.abandoned(type, now)


async def test_a_bot_whose_worker_ends_is_played_on_by_another_and_makes_no_move_twice(store: str) -> None:
    async with served(store, queue_backfill_seconds=0.01) as first:
        ada = await visit(first)
        await ada.get("queue", challengeType="psi", userId="ada")
        seat = await ada.hear("queue", status="matched")
        joined = await ada.get("join", invite=seat["invite"])
        id_ = seat["challengeId"]
        said = await ada.hear_messages(id_, 2)  # a greeting, and its numbers

    async with served(store, queue_backfill_seconds=0.01) as second:
        ada = await visit(second)
        await ada.get("resume", challengeId=id_, sessionKey=joined["sessionKey"])
        await ada.until(lambda: _all_here(ada), "the bot at the other worker")
        await ada.get("message", challengeId=id_, messageType="guess", content="1")
        await ada.hear("game_ended")

        log = ada.messages(id_)
        assert [message["content"] for message in log[:2]] == [message["content"] for message in said[:2]]
        spoken = [(message["from"], message["content"], message.get("to")) for message in log]
        assert len(spoken) == len(set(spoken))


async def test_nobody_learns_from_the_queue_who_the_others_are(lively: Served) -> None:
    async with calling(lively) as caller:
        names = ["somebody-quite-secret", "another-quite-secret"]
        guests = [await visit(lively) for _ in names]
        watcher = await visit(lively)
        await watcher.get("lobby")
        for guest, name in zip(guests, names, strict=True):
            await guest.get("queue", challengeType="dining-cryptographers", userId=name)
        seats = [await guest.hear("queue", status="matched") for guest in guests]
        for guest, seat in zip(guests, seats, strict=True):
            await guest.get("join", invite=seat["invite"])
        for guest in guests:
            await guest.until(lambda guest=guest: _is_on(guest), "the start of the game")  # type: ignore[misc]
        await watcher.until(lambda: watcher.of("session") or None, "news in the lobby")
        seen = [await caller.get("/challenges"), await caller.get("/queue/dining-cryptographers"), watcher.frames]

        for guest, seat in zip(guests, seats, strict=True):
            others = {other["invite"] for other in seats} - {seat["invite"]}
            told = orjson.dumps([frame for frame in guest.frames if frame["type"] in {"queue", "reply"}]).decode()
            assert not any(name in told for name in ("quite-secret", "house/", *others))
            whole = orjson.dumps(guest.frames).decode()
            assert not any(name in whole for name in ("quite-secret", "house/"))
        assert not any(name in orjson.dumps(seen).decode() for name in ("quite-secret", "house/", "tkt_"))


def test_a_bots_moves_have_the_same_names_in_any_order() -> None:
    move, talk, again = Move("guess", "4"), Talk("4"), Move("guess", "4")
    one, other = house.names(), house.names()

    first = [one(each) for each in (move, talk, again)]
    second = [other(each) for each in (talk, move, again)]

    assert sorted(first) == sorted(second)
    assert len(set(first)) == 3


async def test_the_sdk_finds_a_game_and_who_stops_waiting_is_out_of_the_queue(arena: Served, caller: Caller) -> None:
    async with Arena(arena.url) as ada, Arena(arena.url) as ben:
        given_up = asyncio.create_task(ada.queue("psi", user="ada"))
        await comes_true(lambda: _length(caller, "psi", 1), "a ticket in the queue")
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        assert given_up.cancelled()
        await comes_true(lambda: _length(caller, "psi", 0), "an empty queue")

        games = await asyncio.gather(ada.find("psi", user="ada"), ben.find("psi", user="ben", ranked=True))

        assert games[0].id == games[1].id
        assert {games[0].seat, games[1].seat} == {0, 1}
        with pytest.raises(Refused) as refusal:
            await ada.find("chess")
        assert refusal.value.code == "UNKNOWN_CHALLENGE_TYPE"


async def _length(caller: Caller, type: str, count: int) -> bool:
    return bool((await caller.get(f"/queue/{type}"))["waiting"]["ranked"] == count)


async def test_the_command_line_waits_for_company_and_prints_the_invite(arena: Served, caller: Caller) -> None:
    where = ("--url", arena.url)
    waiting = asyncio.create_task(asyncio.to_thread(command, "queue", "psi", "--user", "ada", *where))
    ben = await caller.post("/queue/psi", userId="ben")
    seat = await matched(caller, "psi", ben["ticket"])

    done = await waiting

    assert done.code == 0, done.err
    assert done.out.strip().startswith("inv_")
    assert (await caller.get(f"/invites/{done.out.strip()}"))["id"] == seat["challengeId"]
    late = await asyncio.to_thread(command, "queue", "psi", "--practice", "--timeout", "0.01", *where)
    assert (late.code, late.out) == (1, "")


async def test_an_agent_with_tools_finds_a_game(arena: Served, caller: Caller) -> None:
    async with agent_at(arena) as agent:
        told = await agent.call("find_game", challengeType="psi", userId="ada")
        assert told["queue"]["status"] == "waiting"
        await caller.post("/queue/psi", userId="ben")

        while told["queue"]["status"] == "waiting":
            told = await agent.call(told["next"]["tool"], **told["next"]["arguments"])

        assert told["queue"]["status"] == "matched"
        assert told["next"]["tool"] == "join_session"
        joined = await agent.call("join_session", **told["next"]["arguments"])
        assert joined["challengeId"] == told["queue"]["challengeId"]
