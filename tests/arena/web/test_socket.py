"""Frames in, frames out: what each client frame is answered with, and what becomes of those that are none."""

import time
from typing import Any

import pytest

from arena.version import __version__
from arena.wire import COMMANDS, JSON, MSGPACK, Codec
from tests.guests import Game, Guest, sit_down, visit
from tests.servers import Served

NOBODY = "00000000-0000-4000-8000-000000000000"

both_codecs = pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=lambda codec: str(codec.protocol))


async def answers_to(guest: Guest, *frames: Any) -> list[dict[str, Any]]:
    """Send frames as they are; every answer that came before the answer to a ping sent after them."""
    before = len(guest.frames)
    for frame in frames:
        await guest.send(frame)
    fence = await guest.ask("ping")
    return [f for f in guest.frames[before : guest.frames.index(fence)] if f["type"] in {"reply", "error"}]


@both_codecs
async def test_a_connection_begins_with_a_welcome_that_names_the_limits(arena: Served, codec: Codec) -> None:
    guest = await visit(arena, codec)

    welcome = await guest.hear("welcome")

    assert guest.frames[0] == welcome
    assert welcome["protocol"] == "arena.v1"
    assert welcome["server"] == f"arena/{__version__}"
    assert abs(welcome["time"] - time.time() * 1000) < 60_000
    assert welcome["limits"]["frameBytes"] == 65536
    assert welcome["limits"]["contentBytes"] == 32768
    assert welcome["limits"]["channelMessages"] == 10_000
    assert welcome["limits"]["chatAfterEndSeconds"] == 600
    assert welcome["limits"]["pingSeconds"] == 20


@both_codecs
async def test_an_answer_echoes_the_id_of_its_frame(arena: Served, codec: Codec) -> None:
    guest = await visit(arena, codec)
    ids = ["a word", "", 7, 0, -1, 2**53, "ü\n"]

    pongs = await answers_to(guest, *({"type": "ping", "id": id_} for id_ in ids))
    refusals = await answers_to(guest, *({"type": "fly", "id": id_} for id_ in ids))

    assert {answer["type"] for answer in pongs} == {"reply"}
    assert {answer["type"] for answer in refusals} == {"error"}
    assert [answer["id"] for answer in pongs] == ids
    assert [answer["id"] for answer in refusals] == ids


async def test_a_frame_without_id_is_answered_without_id(arena: Served) -> None:
    guest = await visit(arena)

    answers = await answers_to(guest, {"type": "ping"}, {"type": "ping", "id": None}, {"type": "fly"})

    assert [answer["type"] for answer in answers] == ["reply", "reply", "error"]
    assert all("id" not in answer for answer in answers)


async def test_an_id_that_is_neither_text_nor_integer_is_invalid_and_not_echoed(arena: Served) -> None:
    guest = await visit(arena)
    wrong: list[Any] = [True, False, 1.5, [], {}, ["a"]]

    answers = await answers_to(guest, *({"type": "ping", "id": id_} for id_ in wrong))

    assert [(answer["type"], answer["code"]) for answer in answers] == [("error", "VALIDATION")] * 6
    assert all("id" not in answer for answer in answers)


@both_codecs
async def test_ping_is_answered_with_the_time(arena: Served, codec: Codec) -> None:
    guest = await visit(arena, codec)

    pong = await guest.get("ping")

    assert set(pong) == {"time"}
    assert abs(pong["time"] - time.time() * 1000) < 60_000


@both_codecs
async def test_create_is_answered_with_the_challenge_and_all_its_invites(arena: Served, codec: Codec) -> None:
    guest = await visit(arena, codec)

    made = await guest.get("create", challengeType="psi")

    assert made["challengeType"] == "psi"
    assert made["name"] == "Private Set Intersection"
    assert made["gameState"] == {}
    assert made["gameCategory"] == "train"
    assert made["state"] == {
        "status": "open",
        "scores": [{"security": 0, "utility": 0}] * 2,
        "players": [],
        "playerIdentities": {},
    }
    assert len(set(made["invites"])) == 2
    assert all(invite.startswith("inv_") for invite in made["invites"])
    assert len(made["seedCommitment"]) == 64
    assert "reveal" not in made


async def test_create_takes_options_and_complains_about_bad_ones(arena: Served) -> None:
    guest = await visit(arena)

    made = await guest.get("create", challengeType="psi", options={"setSize": 5, "range": [1, 50]})
    joined = await guest.get("join", invite=made["invites"][0])
    [message] = await guest.hear_messages(f"challenge_{joined['ChallengeID']}", 1)
    numbers = [int(word.strip("{},.")) for word in message["content"].split() if word.strip("{},.").isdigit()]

    assert len(numbers) <= 8
    assert max(numbers) <= 50
    wrong: list[Any] = [{"setSize": "5"}, {"colour": 1}, {"range": [1, 2]}, {"players": 3}, []]
    for options in wrong:
        assert await guest.refusal("create", challengeType="psi", options=options) == "VALIDATION"


@both_codecs
async def test_join_is_answered_with_the_words_a_key_and_a_seat(arena: Served, codec: Codec) -> None:
    guest = await visit(arena, codec)
    made = await guest.get("create", challengeType="psi")

    joined = await guest.get("join", invite=made["invites"][1])

    assert set(joined) == {"ChallengeID", "ChallengeInfo", "sessionKey", "playerIndex"}
    assert joined["ChallengeID"] == made["id"]
    assert joined["ChallengeInfo"]["players"] == 2
    assert [method["name"] for method in joined["ChallengeInfo"]["methods"]] == ["guess"]
    assert joined["sessionKey"].startswith("s_0.")
    assert joined["playerIndex"] == 0


async def test_an_action_and_a_chat_are_answered_as_the_protocol_says(arena: Served) -> None:
    game = await sit_down(arena)

    moved = await game.act(0, "guess", "1")
    spoken = await game.say(0, "hello")
    whispered = await game.say(0, "psst", to=game.invites[1])

    assert moved["result"] == {"ok": "Message sent"}
    assert spoken["result"] == {"index": 1, "channel": game.id, "from": game.invites[0], "to": None}
    assert whispered["result"] == {"index": 2, "channel": game.id, "from": game.invites[0], "to": game.invites[1]}


async def test_an_empty_to_is_said_to_everybody_and_empty_content_is_allowed(arena: Served) -> None:
    game = await sit_down(arena)

    answer = await game.say(0, "", to="")

    [message] = await game.players[1].hear_messages(game.id, 1)
    assert answer["result"]["to"] is None
    assert message["content"] == ""
    assert "to" not in message
    assert "redacted" not in message


async def test_a_prefixed_challenge_id_names_the_same_session(arena: Served) -> None:
    game = await sit_down(arena)
    guest = await visit(arena)

    watched = await guest.get("watch", challengeId=game.operator_channel)
    moved = await game.players[0].ask("message", challengeId=game.operator_channel, messageType="guess", content="1")

    assert watched["id"] == game.id
    assert moved["result"] == {"ok": "Message sent"}


@both_codecs
async def test_an_unknown_type_is_said_to_be_unknown(arena: Served, codec: Codec) -> None:
    guest = await visit(arena, codec)
    types = ["fly", "", "reply", "welcome", "Ping", "ping ", "__class__", "x" * 1000]

    answers = await answers_to(guest, *({"type": type_, "id": 1} for type_ in types))

    assert [(a["type"], a["id"], a["code"]) for a in answers] == [("error", 1, "UNKNOWN_TYPE")] * len(types)


INVALID: list[dict[str, Any]] = [
    {"type": "ping", "extra": 1},
    {"type": "create"},
    {"type": "create", "challengeType": 5},
    {"type": "create", "challengeType": ""},
    {"type": "create", "challengeType": "psi", "private": "yes"},
    {"type": "create", "challengeType": "psi", "private": 1},
    {"type": "create", "challengeType": "psi", "options": "none"},
    {"type": "create", "challengeType": "psi", "invites": 2},
    {"type": "join"},
    {"type": "join", "invite": 5},
    {"type": "join", "invite": "x" * 100},
    {"type": "join", "invite": "inv_x", "userId": ""},
    {"type": "join", "invite": "inv_x", "userId": 5},
    {"type": "join", "invite": "inv_x", "userId": "u" * 129},
    {"type": "join", "invite": "inv_x", "key": ""},
    {"type": "join", "invite": "inv_x", "key": "k" * 65},
    {"type": "join", "invite": "inv_x", "key": "ü"},
    {"type": "join", "invite": "inv_x", "key": "line\nbreak"},
    {"type": "join", "invite": "inv_x", "key": "end\n"},
    {"type": "join", "invite": "inv_x", "key": 5},
    {"type": "resume", "challengeId": NOBODY},
    {"type": "resume", "sessionKey": "s_0.00"},
    {"type": "resume", "challengeId": NOBODY, "sessionKey": "s_0.00", "cursors": []},
    {"type": "resume", "challengeId": NOBODY, "sessionKey": "s_0.00", "cursors": {"a": {"index": 1}}},
    {"type": "resume", "challengeId": NOBODY, "sessionKey": "s_0.00", "cursors": {"a": {"index": 0, "epoch": ""}}},
    {"type": "resume", "challengeId": NOBODY, "sessionKey": "s_0.00", "cursors": {"a": {"index": "1", "epoch": ""}}},
    {"type": "watch"},
    {"type": "watch", "challengeId": 5},
    {"type": "watch", "challengeId": NOBODY, "cursors": {"a": {"index": 1.5, "epoch": ""}}},
    {"type": "watch", "challengeId": NOBODY, "cursors": {"a": {"index": 1, "epoch": "", "more": 1}}},
    {"type": "unwatch"},
    {"type": "message", "challengeId": NOBODY},
    {"type": "message", "content": "x"},
    {"type": "message", "challengeId": NOBODY, "content": 5},
    {"type": "message", "challengeId": NOBODY, "content": None},
    {"type": "message", "challengeId": NOBODY, "content": {"a": 1}},
    {"type": "message", "challengeId": NOBODY, "content": "x", "messageType": 5},
    {"type": "message", "challengeId": NOBODY, "content": "x", "from": "inv_x"},
    {"type": "chat", "channel": NOBODY},
    {"type": "chat", "content": "x"},
    {"type": "chat", "channel": "", "content": "x"},
    {"type": "chat", "channel": NOBODY, "content": "x", "to": 5},
    {"type": "chat", "channel": NOBODY, "content": "x", "from": "operator"},
    {"type": "sync"},
    {"type": "sync", "channel": NOBODY, "index": "1"},
    {"type": "sync", "channel": NOBODY, "index": 1.5},
    {"type": "sync", "channel": NOBODY, "index": True},
    {"type": "lobby", "off": "yes"},
    {"type": "lobby", "challengeType": 5},
    {"type": "leaderboard", "strategy": 5},
    {"type": "leaderboard", "off": 1},
]


@both_codecs
async def test_wrong_missing_and_unknown_fields_are_invalid_and_each_such_frame_is_answered_once(
    arena: Served, codec: Codec
) -> None:
    guest = await visit(arena, codec)

    answers = await answers_to(guest, *({**frame, "id": number} for number, frame in enumerate(INVALID)))

    told = [(answer.get("id"), answer.get("code")) for answer in answers]
    assert told == [(number, "VALIDATION") for number in range(len(INVALID))]


async def test_snake_case_names_are_unknown_fields(arena: Served) -> None:
    guest = await visit(arena)

    assert await guest.refusal("create", challenge_type="psi") == "VALIDATION"
    assert await guest.refusal("watch", challenge_id=NOBODY) == "VALIDATION"


NOWHERE: list[tuple[str, dict[str, Any]]] = [
    ("UNKNOWN_CHALLENGE_TYPE", {"type": "create", "challengeType": "chess"}),
    ("INVITE_NOT_FOUND", {"type": "join", "invite": f"inv_{NOBODY}"}),
    ("INVITE_NOT_FOUND", {"type": "join", "invite": "inv_x"}),
    ("INVITE_NOT_FOUND", {"type": "join", "invite": ""}),
    ("NOT_FOUND", {"type": "resume", "challengeId": NOBODY, "sessionKey": "s_0." + "0" * 64}),
    ("NOT_FOUND", {"type": "watch", "challengeId": NOBODY}),
    ("NOT_FOUND", {"type": "watch", "challengeId": "x"}),
    ("NOT_FOUND", {"type": "watch", "challengeId": ""}),
    ("NOT_FOUND", {"type": "message", "challengeId": NOBODY, "content": "x"}),
    ("NOT_FOUND", {"type": "chat", "channel": NOBODY, "content": "x"}),
    ("NOT_FOUND", {"type": "chat", "channel": "lobby", "content": "x"}),
    ("NOT_FOUND", {"type": "sync", "channel": NOBODY}),
    ("NOT_FOUND", {"type": "sync", "channel": f"challenge_challenge_{NOBODY}"}),
    ("UNKNOWN_CHALLENGE_TYPE", {"type": "lobby", "challengeType": "chess"}),
    ("UNKNOWN_CHALLENGE_TYPE", {"type": "leaderboard", "challengeType": "chess"}),
    ("NOT_FOUND", {"type": "leaderboard", "challengeType": "psi", "strategy": "luck"}),
    ("NOT_FOUND", {"type": "leaderboard", "strategy": "luck"}),
]


@both_codecs
async def test_what_does_not_exist_is_not_found(arena: Served, codec: Codec) -> None:
    guest = await visit(arena, codec)

    answers = await answers_to(guest, *(frame for _, frame in NOWHERE))

    assert [answer["code"] for answer in answers] == [code for code, _ in NOWHERE]


def full_round(game: Game, invite: str) -> list[dict[str, Any]]:
    """One frame of every type, all of them in order."""
    return [
        {"type": "ping"},
        {"type": "create", "challengeType": "psi"},
        {"type": "pair", "challengeType": "psi"},
        {"type": "join", "invite": invite},
        {"type": "resume", "challengeId": game.id, "sessionKey": game.keys[0]},
        {"type": "watch", "challengeId": game.id},
        {"type": "unwatch", "challengeId": game.id},
        {"type": "message", "challengeId": game.id, "messageType": "guess", "content": "1"},
        {"type": "chat", "channel": game.id, "content": "hello"},
        {"type": "sync", "channel": game.id},
        {"type": "lobby"},
        {"type": "lobby", "off": True},
        {"type": "leaderboard"},
        {"type": "leaderboard", "off": True},
        {"type": "queue", "challengeType": "psi"},
        {"type": "queue", "challengeType": "psi", "off": True},
    ]


@both_codecs
async def test_every_client_frame_gets_exactly_one_answer_in_the_order_they_were_sent(
    arena: Served, codec: Codec
) -> None:
    game = await sit_down(arena)
    guest = await visit(arena, codec)
    spare = await guest.get("create", challengeType="psi")
    frames = full_round(game, spare["invites"][0])

    answers = await answers_to(guest, *({**frame, "id": number} for number, frame in enumerate(frames)))

    of_packs = {"scorecards", "vote"}  # which this game has none of
    assert {frame["type"] for frame in frames} == set(COMMANDS) - of_packs
    assert [(answer["type"], answer["id"]) for answer in answers] == [("reply", n) for n in range(len(frames))]
    everything = [f for f in guest.frames if f["type"] in {"reply", "error"}]
    assert len(everything) == 1 + len(frames) + 1


async def test_msgpack_values_that_json_does_not_know_are_invalid(arena: Served) -> None:
    guest = await visit(arena, MSGPACK)

    answers = await answers_to(
        guest,
        {"type": "create", "challengeType": b"psi"},
        {"type": "create", "challengeType": "psi", "options": {"setSize": b"5"}},
        {"type": "create", "challengeType": "psi", "options": {"setSize": float("nan")}},
        {"type": "ping", b"id": 1},
        {"type": "ping", "id": b"1"},
    )

    assert [answer["code"] for answer in answers] == ["VALIDATION"] * 5
