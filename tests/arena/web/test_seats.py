"""Seats and watches: who a connection is in which session, and how it comes back to where it was."""

import pytest

from arena.wire import JSON, MSGPACK, Codec
from tests.guests import Frame, Game, Guest, sit_down, visit
from tests.servers import Served

WRONG_KEY = "s_0." + "0" * 64

both_codecs = pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=lambda codec: str(codec.protocol))


def cursor_of(guest: Guest, channel: str) -> Frame:
    """The cursor that a client would keep for a channel after all it has heard."""
    cursor: Frame = {}
    for frame in guest.frames:
        if frame["type"] == "initial" and frame["channel"] == channel:
            cursor = {"index": frame["next"], "epoch": frame["epoch"]}
        elif frame["type"] == "new_message" and frame["message"]["channel"] == channel:
            cursor = {"index": frame["message"]["index"] + 1, "epoch": frame["epoch"]}
    return cursor


def cursors_of(guest: Guest, game: Game) -> Frame:
    return {channel: cursor_of(guest, channel) for channel in (game.operator_channel, game.id)}


async def test_join_brings_the_history_of_both_channels_after_its_reply(arena: Served) -> None:
    host, guest = await visit(arena), await visit(arena)
    made = await host.get("create", challengeType="psi")
    await host.get("join", invite=made["invites"][0])
    await host.get("chat", channel=made["id"], content="anybody here?")

    await guest.get("join", invite=made["invites"][1])

    operator = await guest.hear("initial", channel=f"challenge_{made['id']}")
    talk = await guest.hear("initial", channel=made["id"])
    assert [frame["type"] for frame in guest.frames[:4]] == ["welcome", "reply", "initial", "initial"]
    assert ["redacted" in message for message in operator["messages"]] == [True, False]
    assert [message["content"] for message in talk["messages"]] == ["anybody here?"]
    assert (operator["next"], talk["next"]) == (3, 2)
    assert (operator["recovered"], talk["recovered"]) == (False, False)
    assert operator["epoch"] != talk["epoch"] != ""


async def test_an_empty_channel_begins_with_an_empty_initial(arena: Served) -> None:
    guest = await visit(arena)
    made = await guest.get("create", challengeType="psi")

    await guest.get("watch", challengeId=made["id"])

    initial = await guest.hear("initial", channel=made["id"])
    assert initial["messages"] == []
    assert (initial["next"], initial["epoch"], initial["recovered"]) == (1, "", False)


async def test_a_second_seat_of_a_session_is_forbidden_and_leaves_the_invite_free(arena: Served) -> None:
    greedy, other = await visit(arena), await visit(arena)
    made = await greedy.get("create", challengeType="psi")
    await greedy.get("join", invite=made["invites"][0])

    code = await greedy.refusal("join", invite=made["invites"][1])

    assert code == "FORBIDDEN"
    assert (await other.get("join", invite=made["invites"][1]))["playerIndex"] == 1


async def test_a_second_seat_is_forbidden_by_resume_too(arena: Served) -> None:
    game = await sit_down(arena)

    code = await game.players[0].refusal("resume", challengeId=game.id, sessionKey=game.keys[1])
    own = await game.players[0].get("resume", challengeId=game.id, sessionKey=game.keys[0])

    assert code == "FORBIDDEN"
    assert own["playerIndex"] == 0
    assert (await game.say(0, "still me"))["result"]["from"] == game.invites[0]


async def test_one_connection_has_seats_in_several_sessions(arena: Served) -> None:
    guest, rival = await visit(arena), await visit(arena)
    games = [await rival.get("create", challengeType="psi") for _ in range(3)]
    for seat, made in enumerate(games):
        await guest.get("join", invite=made["invites"][0 if seat % 2 else 1])
        await rival.get("join", invite=made["invites"][1 if seat % 2 else 0])

    for made in games:
        move = {"challengeId": made["id"], "messageType": "guess", "content": "1"}
        assert (await guest.get("chat", channel=made["id"], content="hello"))["from"] in made["invites"]
        await guest.get("message", **move)
        await rival.get("message", **move)

    for made in games:
        await guest.until(lambda id_=made["id"]: guest.of("game_ended", challengeId=id_) or None, "the end")  # type: ignore[misc]
        indexes = [message["index"] for message in guest.messages(f"challenge_{made['id']}")]
        assert indexes == list(range(1, 10))
        assert [message["index"] for message in guest.messages(made["id"])] == [1]


async def test_one_connection_watches_several_sessions_and_plays_in_another(arena: Served) -> None:
    games = [await sit_down(arena) for _ in range(2)]
    own = await sit_down(arena)
    guest = own.players[0]

    for game in games:
        await guest.get("watch", challengeId=game.id)
    for game in (*games, own):
        await game.say(1, f"hello from {game.id}")

    for game in (*games, own):
        messages = await guest.hear_messages(game.id, 1)
        assert [message["content"] for message in messages] == [f"hello from {game.id}"]


async def test_watch_is_answered_with_what_a_spectator_may_see(arena: Served) -> None:
    host = await visit(arena)
    made = await host.get("create", challengeType="psi")
    await host.get("join", invite=made["invites"][1], userId="ada")

    watched = await (await visit(arena)).get("watch", challengeId=made["id"])

    assert watched["invites"] == ["", made["invites"][1]]
    assert watched["state"] == {
        "status": "open",
        "scores": [],
        "players": [made["invites"][1]],
        "playerIdentities": {},
    }
    assert watched["gameState"] == {}
    assert "reveal" not in watched


async def test_a_spectator_has_no_say(arena: Served) -> None:
    game = await sit_down(arena)
    eve = await visit(arena)
    await eve.get("watch", challengeId=game.id)

    codes = [
        await eve.refusal("message", challengeId=game.id, messageType="guess", content="1"),
        await eve.refusal("chat", channel=game.id, content="boo"),
    ]

    assert codes == ["PLAYER_NOT_FOUND", "PLAYER_NOT_FOUND"]
    assert (await eve.get("sync", channel=game.id))["count"] == 0
    assert (await eve.get("sync", channel=game.operator_channel))["count"] == 2


async def test_only_the_operator_speaks_in_its_channel(arena: Served) -> None:
    game = await sit_down(arena)

    code = await game.players[0].refusal("chat", channel=game.operator_channel, content="Game ended.")

    assert code == "FORBIDDEN"
    assert (await game.players[0].get("sync", channel=game.operator_channel))["count"] == 2


async def test_a_seat_hides_a_watch_that_came_before_it(arena: Served) -> None:
    host, guest = await visit(arena), await visit(arena)
    made = await host.get("create", challengeType="psi")
    await guest.get("watch", challengeId=made["id"])
    await guest.hear("initial", channel=made["id"])

    joined = await guest.ask("join", invite=made["invites"][0])
    await guest.hear("initial", channel=made["id"])
    await guest.get("chat", channel=made["id"], content="hello", to="somebody")
    await guest.hear_messages(made["id"], 1)
    await guest.get("ping")

    since = guest.frames[guest.frames.index(joined) :]
    initial = next(f for f in since if f["type"] == "initial" and f["channel"] == f"challenge_{made['id']}")
    assert ["private set" in message["content"] for message in initial["messages"]] == [True]
    assert [f["message"]["content"] for f in since if f["type"] == "new_message"] == ["hello"]


async def test_a_seat_hides_a_watch_that_comes_after_it(arena: Served) -> None:
    game = await sit_down(arena)
    ada = game.players[0]
    await ada.hear("initial", channel=game.id)

    watched = await ada.get("watch", challengeId=game.id)
    await ada.get("unwatch", challengeId=game.id)
    await game.say(1, "psst", to=game.invites[0])

    await ada.hear_messages(game.id, 1)
    await ada.get("ping")
    assert watched["id"] == game.id
    assert [message["content"] for message in ada.messages(game.id)] == ["psst"]
    assert len(ada.of("initial")) == 2


async def test_unwatch_ends_a_watch_and_nothing_else(arena: Served) -> None:
    game = await sit_down(arena)
    eve = await visit(arena)
    await eve.get("watch", challengeId=game.id)
    await game.say(0, "one")
    await eve.hear_messages(game.id, 1)

    results = [await eve.get("unwatch", challengeId=game.id) for _ in range(2)]
    await game.say(0, "two")
    await game.players[1].hear_messages(game.id, 2)
    await eve.get("ping")

    assert results == [{}, {}]
    assert [message["content"] for message in eve.messages(game.id)] == ["one"]


async def test_a_watch_begins_anew_after_unwatch(arena: Served) -> None:
    game = await sit_down(arena)
    eve = await visit(arena)
    await eve.get("watch", challengeId=game.id)
    await eve.hear("initial", channel=game.id)
    await eve.get("unwatch", challengeId=game.id)
    await game.say(0, "one")

    await eve.get("watch", challengeId=game.id)

    again = await eve.hear("initial", channel=game.id)
    assert [message["content"] for message in again["messages"]] == ["one"]


async def test_resume_with_the_key_is_answered_as_join_was(arena: Served) -> None:
    host, guest = await visit(arena), await visit(arena)
    made = await host.get("create", challengeType="psi")
    joined = await host.get("join", invite=made["invites"][0])

    resumed = await guest.get("resume", challengeId=made["id"], sessionKey=joined["sessionKey"])

    assert resumed == joined
    initial = await guest.hear("initial", channel=f"challenge_{made['id']}")
    assert "private set" in initial["messages"][0]["content"]
    assert (await guest.get("chat", channel=made["id"], content="me again"))["from"] == made["invites"][0]


async def test_a_wrong_key_opens_nothing(arena: Served) -> None:
    game = await sit_down(arena)
    guest = await visit(arena)
    key = game.keys[0]
    others = [key.replace("s_0.", head) for head in ("s_00.", "s_1.", "s_0x.", "s_\u0660.", "S_0.")]
    forged = [WRONG_KEY, "", key.upper(), key + "0", key[:-1], key + "\n", " " + key, *others]

    codes = [await guest.refusal("resume", challengeId=game.id, sessionKey=wrong) for wrong in forged]

    assert codes == ["UNAUTHORIZED"] * len(forged)
    assert not guest.of("initial")
    assert await guest.refusal("chat", channel=game.id, content="boo") == "PLAYER_NOT_FOUND"


async def test_an_invite_alone_or_a_key_of_another_session_does_not_resume(arena: Served) -> None:
    game, other = await sit_down(arena), await sit_down(arena)
    guest = await visit(arena)

    codes = [
        await guest.refusal("resume", challengeId=game.id, sessionKey=game.invites[0]),
        await guest.refusal("resume", challengeId=game.id, sessionKey=other.keys[0]),
    ]

    assert codes == ["UNAUTHORIZED", "UNAUTHORIZED"]


@both_codecs
async def test_resume_with_cursors_brings_exactly_what_was_missed(arena: Served, codec: Codec) -> None:
    game = await sit_down(arena)
    ada = await visit(arena, codec)
    await ada.get("resume", challengeId=game.id, sessionKey=game.keys[0])
    await game.say(1, "before")
    await ada.hear_messages(game.id, 1)
    await ada.hear_messages(game.operator_channel, 2)
    cursors = cursors_of(ada, game)
    await ada.socket.close()

    await game.say(1, "meanwhile")
    await game.say(1, "in private", to=game.invites[0])
    await game.act(1, "guess", "1")
    back = await visit(arena, codec)
    await back.get("resume", challengeId=game.id, sessionKey=game.keys[0], cursors=cursors)
    await game.say(1, "afterwards")

    talk = await back.hear_messages(game.id, 3)
    moves = await back.hear_messages(game.operator_channel, 3)
    assert [(m["index"], m["content"]) for m in talk] == [(2, "meanwhile"), (3, "in private"), (4, "afterwards")]
    assert [m["index"] for m in moves] == [3, 4, 5]
    assert [frame["recovered"] for frame in back.of("initial")] == [True, True]


async def test_a_cursor_at_the_end_brings_nothing_and_holds(arena: Served) -> None:
    game = await sit_down(arena)
    ada = game.players[0]
    await game.say(1, "before")
    await ada.hear_messages(game.id, 1)
    await ada.hear_messages(game.operator_channel, 2)

    back = await visit(arena)
    await back.get("resume", challengeId=game.id, sessionKey=game.keys[0], cursors=cursors_of(ada, game))

    for channel in (game.operator_channel, game.id):
        initial = await back.hear("initial", channel=channel)
        assert initial["messages"] == []
        assert initial["recovered"]
        assert {"index": initial["next"], "epoch": initial["epoch"]} == cursor_of(ada, channel)


@pytest.mark.parametrize("spoil", [{"epoch": "0" * 16}, {"epoch": ""}, {"index": 99}, {"index": 2}])
async def test_a_cursor_that_does_not_hold_brings_everything_and_says_so(arena: Served, spoil: Frame) -> None:
    game = await sit_down(arena)
    ada = game.players[0]
    for number in range(3):
        await game.say(1, f"line {number}")
    await ada.hear_messages(game.id, 3)
    cursors = {game.id: {**cursor_of(ada, game.id), **spoil}}

    back = await visit(arena)
    await back.get("resume", challengeId=game.id, sessionKey=game.keys[0], cursors=cursors)

    initial = await back.hear("initial", channel=game.id)
    assert not initial["recovered"]
    assert [message["index"] for message in initial["messages"]] == [1, 2, 3]


async def test_a_channel_without_cursor_begins_from_the_start(arena: Served) -> None:
    game = await sit_down(arena)
    ada = game.players[0]
    await game.say(1, "before")
    await ada.hear_messages(game.id, 1)

    back = await visit(arena)
    cursors = {game.id: cursor_of(ada, game.id), "unknown": {"index": 5, "epoch": "x"}}
    await back.get("resume", challengeId=game.id, sessionKey=game.keys[0], cursors=cursors)

    operator = await back.hear("initial", channel=game.operator_channel)
    talk = await back.hear("initial", channel=game.id)
    assert (operator["recovered"], len(operator["messages"])) == (False, 2)
    assert (talk["recovered"], talk["messages"]) == (True, [])


async def test_watch_takes_cursors_too(arena: Served) -> None:
    game = await sit_down(arena)
    eve, back = await visit(arena), await visit(arena)
    await eve.get("watch", challengeId=game.id)
    await game.say(0, "before", to=game.invites[1])
    await eve.hear_messages(game.id, 1)
    await eve.hear_messages(game.operator_channel, 2)
    cursors = cursors_of(eve, game)
    await eve.socket.close()

    await game.say(0, "meanwhile", to=game.invites[1])
    await back.get("watch", challengeId=game.id, cursors=cursors)

    talk = await back.hear("initial", channel=game.id)
    assert talk["recovered"]
    assert [(m["index"], m["content"], m["redacted"]) for m in talk["messages"]] == [(2, "", True)]


async def test_game_ended_comes_once_however_often_a_session_is_watched(arena: Served) -> None:
    game = await sit_down(arena)
    eve = await visit(arena)
    await eve.get("watch", challengeId=game.id)
    await game.end()
    await eve.hear("game_ended")

    await eve.get("watch", challengeId=game.id)
    await eve.hear("initial", channel=game.operator_channel)
    await eve.hear("state", challengeId=game.id)
    await game.say(0, "good game")
    await eve.hear("new_message")
    await eve.get("ping")

    assert len(eve.of("game_ended")) == 1


async def test_whoever_comes_after_the_end_is_told_of_it(arena: Served) -> None:
    game = await sit_down(arena)
    await game.end()
    eve = await visit(arena)

    watched = await eve.get("watch", challengeId=game.id)

    ended = await eve.hear("game_ended", challengeId=game.id)
    assert ended["data"]["status"] == "ended"
    assert watched["state"]["status"] == "ended"
    assert watched["invites"] == game.invites
    assert len(watched["gameState"]["userSets"]) == 2
    assert set(watched["reveal"]) == {"secret", "seed", "version", "options"}
