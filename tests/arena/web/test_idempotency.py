"""Keys: an action that is sent again with its key is carried out once, and answered as it was."""

import asyncio
from typing import Any

import pytest

from arena.models import SessionId
from arena.store import keys
from tests.guests import Frame, Game, sit_down, visit
from tests.servers import Served, served

TALLY = "tests.plugins.tally"


def told(answer: Frame) -> Frame:
    """An answer without the id of its frame."""
    return {name: value for name, value in answer.items() if name != "id"}


async def log(game: Game, channel: str) -> list[Frame]:
    found: list[Frame] = (await game.players[0].get("sync", channel=channel))["messages"]
    return found


async def test_a_move_sent_again_is_carried_out_once_and_answered_alike(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally")

        answers = [await game.act(0, "add", "5", key="k") for _ in range(3)]
        await game.act(1, "add", "1")

        assert {answer["type"] for answer in answers} == {"reply"}
        contents = [m["content"] for m in await log(game, game.operator_channel) if m["from"] == "operator"]
        assert contents == ["The total is 5.", "The total is 6."]


async def test_talk_sent_again_is_said_once_and_has_the_same_place(arena: Served) -> None:
    game = await sit_down(arena)

    first = await game.say(0, "hello", key="k")
    await game.say(1, "hi")
    again = await game.say(0, "hello", key="k")

    assert told(first) == told(again)
    assert again["result"]["index"] == 1
    assert [message["content"] for message in await log(game, game.id)] == ["hello", "hi"]


async def test_copies_that_race_are_carried_out_once(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally")
        guests = [game.players[0]]
        for _ in range(9):
            guest = await visit(arena)
            await guest.get("resume", challengeId=game.id, sessionKey=game.keys[0])
            guests.append(guest)

        move = {"challengeId": game.id, "messageType": "add", "content": "5", "key": "k"}
        moved = await asyncio.gather(*(guest.ask("message", **move) for guest in guests))
        spoken = await asyncio.gather(*(guest.ask("chat", channel=game.id, content="hi", key="c") for guest in guests))

        assert [told(answer) for answer in moved] == [{"type": "reply", "result": {"ok": "Message sent"}}] * 10
        assert {answer["result"]["index"] for answer in spoken} == {1}
        assert len(await log(game, game.operator_channel)) == 2
        assert len(await log(game, game.id)) == 1


async def test_a_key_holds_over_connections(arena: Served) -> None:
    game = await sit_down(arena)
    await game.say(0, "hello", key="k")
    await game.players[0].socket.close()

    guest = await visit(arena)
    await guest.get("resume", challengeId=game.id, sessionKey=game.keys[0])
    again = await guest.get("chat", channel=game.id, content="hello", key="k")

    assert again["index"] == 1
    assert (await guest.get("sync", channel=game.id))["count"] == 1


async def test_join_again_with_the_same_invite_and_key_gives_the_same_reply(arena: Served) -> None:
    host, other = await visit(arena), await visit(arena)
    made = await host.get("create", challengeType="psi")
    join = {"invite": made["invites"][0], "userId": "ada", "key": "k"}

    replies = [await host.get("join", **join), await host.get("join", **join), await other.get("join", **join)]
    elsewhere = await visit(arena)
    refused = [
        await elsewhere.refusal("join", invite=made["invites"][0]),
        await elsewhere.refusal("join", invite=made["invites"][0], userId="ada", key="another"),
        await elsewhere.refusal("join", invite=made["invites"][0], userId="eve", key="k"),
    ]

    assert replies[0] == replies[1] == replies[2]
    assert replies[0]["sessionKey"].startswith("s_0.")
    assert refused == ["INVITE_ALREADY_USED", "INVITE_ALREADY_USED", "KEY_REUSED"]
    watched = await elsewhere.get("watch", challengeId=made["id"])
    assert watched["state"]["players"] == [made["invites"][0]]


async def test_join_again_works_also_when_the_game_is_over(arena: Served) -> None:
    host = await visit(arena)
    made = await host.get("create", challengeType="psi")
    guests = [await visit(arena), await visit(arena)]
    joined = [
        await guest.get("join", invite=invite, key="k") for guest, invite in zip(guests, made["invites"], strict=True)
    ]
    await Game(made["id"], made["invites"], guests, []).end()

    again = await (await visit(arena)).get("join", invite=made["invites"][1], key="k")

    assert again == joined[1]


async def test_a_refusal_that_left_a_message_is_kept_under_its_key(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally")

        answers = [await game.act(0, "grumble", key="k") for _ in range(3)]

        assert [told(answer) for answer in answers] == [{"type": "error", "code": "NOT_NOW", "error": "Not now."}] * 3
        assert len(await log(game, game.operator_channel)) == 1


async def test_a_refused_move_is_still_refused_when_it_would_be_right_by_now(arena: Served) -> None:
    game = await sit_down(arena)
    await game.act(0, "guess", "1", key="first")

    twice = await game.act(0, "guess", "2", key="second")
    again = await game.act(0, "guess", "2", key="second")
    first = await game.act(0, "guess", "1", key="first")

    assert twice["code"] == "DUPLICATE_GUESS"
    assert told(again) == told(twice)
    assert first["type"] == "reply"


async def test_the_last_move_sent_again_after_the_end_gets_its_answer(arena: Served) -> None:
    game = await sit_down(arena)
    await game.act(0, "guess", "1", key="k")
    await game.act(1, "guess", "1", key="k")

    again = await game.act(1, "guess", "1", key="k")
    new = await game.act(1, "guess", "1", key="new")

    assert told(again) == {"type": "reply", "result": {"ok": "Message sent"}}
    assert new["code"] == "GAME_NOT_RUNNING"


async def test_a_validation_is_not_kept_so_that_the_key_may_be_used_when_mended(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally")

        wrong = await game.act(0, "add", "five", key="k")
        right = await game.act(0, "add", "5", key="k")

        assert wrong["code"] == "VALIDATION"
        assert right["type"] == "reply"
        assert [m["content"] for m in await log(game, game.operator_channel)] == ["(add) 5", "The total is 5."]


async def test_a_failure_of_the_challenge_is_not_kept(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally")

        failed = await game.act(0, "stumble", "x", key="k")
        worked = await game.act(0, "add", "5", key="k")

        assert failed["code"] == "INTERNAL"
        assert worked["type"] == "reply"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"messageType": "add", "content": "1"}, {"messageType": "add", "content": "2"}),
        ({"messageType": "add", "content": "1"}, {"messageType": "grumble", "content": "1"}),
        ({"messageType": "add", "content": "1"}, {"messageType": "add", "content": "much"}),
        ({"messageType": "add", "content": "1"}, {"messageType": "stumble", "content": "1"}),
        ({"messageType": "grumble", "content": ""}, {"messageType": "add", "content": "1"}),
        ({"messageType": "a\0+b", "content": "c"}, {"messageType": "a", "content": "b\0+c"}),
    ],
)
async def test_a_key_with_another_body_is_refused_and_nothing_happens(
    store: str, first: dict[str, Any], second: dict[str, Any]
) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally")
        player = game.players[0]
        await player.ask("message", challengeId=game.id, key="k", **first)
        before = await log(game, game.operator_channel)

        code = await player.refusal("message", challengeId=game.id, key="k", **second)

        assert code == "KEY_REUSED"
        assert await log(game, game.operator_channel) == before


async def test_talk_with_the_key_of_other_talk_or_of_a_move_is_refused(arena: Served) -> None:
    game = await sit_down(arena)
    await game.say(0, "hello", key="k")
    await game.act(0, "guess", "1", key="m")

    codes = [
        (await game.say(0, "bye", key="k"))["code"],
        (await game.say(0, "hello", key="k", to=game.invites[1]))["code"],
        (await game.say(0, "1", key="m"))["code"],
        (await game.act(0, "guess", "1", key="k"))["code"],
    ]

    assert codes == ["KEY_REUSED"] * 4
    assert len(await log(game, game.id)) == 1


async def test_a_key_is_a_seats_own(arena: Served) -> None:
    game = await sit_down(arena)

    answers = [await game.say(seat, "hello", key="k") for seat in (0, 1)]
    moves = [await game.act(seat, "guess", "1", key="g") for seat in (0, 1)]

    assert [answer["result"]["index"] for answer in answers] == [1, 2]
    assert [answer["type"] for answer in moves] == ["reply", "reply"]


async def test_a_key_is_a_sessions_own(arena: Served) -> None:
    guest = await visit(arena)
    indexes = []
    for _ in range(2):
        made = await guest.get("create", challengeType="psi")
        await guest.get("join", invite=made["invites"][0], key="j")
        indexes.append((await guest.get("chat", channel=made["id"], content="hello", key="k"))["index"])

    assert indexes == [1, 1]


@pytest.mark.parametrize("key", ["k" * 64, " ", "~", "a:b", "-:0", "d:1:bell"])
async def test_any_printable_text_is_a_key(arena: Served, key: str) -> None:
    game = await sit_down(arena)

    answers = [await game.say(0, "hello", key=key) for _ in range(2)]

    assert [answer["result"]["index"] for answer in answers] == [1, 1]


async def test_without_a_key_everything_is_carried_out_each_time(arena: Served) -> None:
    game = await sit_down(arena)

    answers = [await game.say(0, "hello") for _ in range(3)]

    assert [answer["result"]["index"] for answer in answers] == [1, 2, 3]


async def test_a_reply_means_that_the_message_is_in_the_store(arena: Served) -> None:
    game = await sit_down(arena)
    nodes, name = arena.arena.nodes, keys.of(SessionId(game.id)).player_log

    for number in range(1, 21):
        await game.say(0, "hello")
        assert await nodes.run(name, "LLEN", name) == number
