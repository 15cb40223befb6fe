"""Moves: refused ones, those that make a challenge fall over, and plugins that do not load."""

import logging

import pytest

from arena.wire import JSON, MSGPACK, Codec
from tests.guests import Frame, Game, sit_down, visit
from tests.servers import Served, served

TALLY = "tests.plugins.tally"
SECRET = "swordfish-4711"


async def operator_log(game: Game) -> list[Frame]:
    found: list[Frame] = (await game.players[0].get("sync", channel=game.operator_channel))["messages"]
    return found


def faults(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


async def test_a_move_before_the_start_or_after_the_end_appends_nothing(arena: Served) -> None:
    guest = await visit(arena)
    made = await guest.get("create", challengeType="psi")
    await guest.get("join", invite=made["invites"][0])
    move = {"challengeId": made["id"], "messageType": "guess", "content": "1"}
    game = await sit_down(arena)
    await game.end()
    before = await operator_log(game)

    early = await guest.refusal("message", **move, key="k")
    late = await game.act(0, "guess", "1")

    assert early == "GAME_NOT_RUNNING"
    assert (await guest.get("sync", channel=f"challenge_{made['id']}"))["count"] == 1
    assert late["code"] == "GAME_NOT_RUNNING"
    assert await operator_log(game) == before


async def test_a_move_that_came_too_early_may_be_sent_again_with_its_key(arena: Served) -> None:
    ada, ben = await visit(arena), await visit(arena)
    made = await ada.get("create", challengeType="psi")
    await ada.get("join", invite=made["invites"][0])
    move = {"challengeId": made["id"], "messageType": "guess", "content": "1", "key": "k"}

    early = await ada.refusal("message", **move)
    await ben.get("join", invite=made["invites"][1])
    again = await ada.ask("message", **move)

    assert early == "GAME_NOT_RUNNING"
    assert again["type"] == "reply"


async def test_talk_before_the_start_is_fine(arena: Served) -> None:
    guest = await visit(arena)
    made = await guest.get("create", challengeType="psi")
    await guest.get("join", invite=made["invites"][0])

    assert (await guest.get("chat", channel=made["id"], content="first!"))["index"] == 1


async def test_a_stranger_moves_nothing(arena: Served) -> None:
    game = await sit_down(arena)
    stranger = await visit(arena)

    code = await stranger.refusal("message", challengeId=game.id, messageType="guess", content=SECRET)

    assert code == "PLAYER_NOT_FOUND"
    assert len(await operator_log(game)) == 2


@pytest.mark.parametrize("type_", ["fly", "", "Guess", "__init__", "deal", "work"])
async def test_an_unknown_method_leaves_the_players_message(arena: Served, type_: str) -> None:
    game = await sit_down(arena)

    answer = await game.act(0, type_, "up")
    without = await game.players[1].ask("message", challengeId=game.id, content="hm")

    assert answer["code"] == "UNKNOWN_METHOD"
    assert answer["error"] == f"Unknown challenge method: {type_}"
    assert without["code"] == "UNKNOWN_METHOD"
    [*_, left] = await operator_log(game)
    own = (await game.players[0].get("sync", channel=game.operator_channel, index=3))["messages"][0]
    assert left["redacted"]
    assert own["content"] == (f"({type_}) up" if type_ else "up")
    assert own["from"] == game.invites[0]
    assert own["to"] == "operator"
    assert own.get("type", "") == type_


async def test_a_refused_move_leaves_the_players_message_and_nothing_else(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally")

        refused = await game.act(0, "grumble", "please")
        await game.act(0, "add", "1")

        assert (refused["code"], refused["error"]) == ("NOT_NOW", "Not now.")
        contents = [message["content"] for message in await operator_log(game)]
        assert contents == ["(grumble) please", "(add) 1", "The total is 1."]


async def test_a_move_whose_arguments_are_wrong_is_invalid_and_leaves_nothing(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally")

        answers = [await game.act(0, "add", content) for content in ("", "many", "1.5", '{"amount": []}', "[]")]

        assert [answer["code"] for answer in answers] == ["VALIDATION"] * 5
        assert await operator_log(game) == []


@pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=lambda codec: str(codec.protocol))
async def test_a_move_that_makes_the_challenge_fall_over_changes_nothing(
    store: str, codec: Codec, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally")
        game.players[0] = await visit(arena, codec)
        await game.players[0].get("resume", challengeId=game.id, sessionKey=game.keys[0])

        failed = await game.act(0, "stumble", SECRET)
        logged = faults(caplog)
        await game.act(0, "add", "1")
        other = await sit_down(arena, "psi")
        await other.end()

        assert failed["code"] == "INTERNAL"
        assert SECRET not in failed["error"]
        assert "RuntimeError" not in failed["error"]
        assert len(logged) == 1
        assert "tally" in logged[0]
        assert SECRET not in logged[0]
        assert SECRET not in caplog.text
        contents = [message["content"] for message in await operator_log(game)]
        assert contents == ["(add) 1", "The total is 1."]
        assert faults(caplog) == logged


async def test_a_plugin_that_does_not_load_is_reported_by_name_and_stops_nothing(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    modules = ("tests.plugins.broken", "tests.plugins.nowhere", "tests.plugins.hollow", TALLY)
    async with served(store, load=modules) as arena:
        logged = faults(caplog)
        game = await sit_down(arena, "tally")

        assert (await game.act(0, "add", "1"))["type"] == "reply"
        assert len(logged) == 3
        for name, line in zip(modules, logged, strict=False):
            assert name in line
        assert set(arena.arena.catalog.broken) == set(modules[:3])
