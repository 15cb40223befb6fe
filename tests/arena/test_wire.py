"""Frames: what is understood, what is refused and how, and that the same bytes serve many."""

from collections.abc import Mapping
from math import inf, nan
from typing import Any

import pytest
from websockets.frames import Frame as SocketFrame
from websockets.frames import Opcode

from arena import chat, wire
from arena.errors import BadFrame, Forbidden, Invalid, RateLimited, UnknownType
from arena.models import Millis, SessionId
from arena.wire import FRAMED, JSON, MSGPACK, Codec, Line, Push

both_codecs = pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=lambda codec: str(codec.protocol))

LEAST: list[dict[str, Any]] = [
    {"type": "create", "challengeType": "psi"},
    {"type": "pair", "challengeType": "psi"},
    {"type": "join", "invite": "inv_1"},
    {"type": "resume", "challengeId": "c", "sessionKey": "s_0"},
    {"type": "watch", "challengeId": "c"},
    {"type": "unwatch", "challengeId": "c"},
    {"type": "message", "challengeId": "c", "content": ""},
    {"type": "chat", "channel": "c", "content": ""},
    {"type": "sync", "channel": "c"},
    {"type": "lobby"},
    {"type": "leaderboard"},
    {"type": "queue", "challengeType": "psi"},
    {"type": "scorecards", "challengeId": "c"},
    {"type": "vote", "challengeId": "c", "ballot": "b", "choice": "A"},
    {"type": "ping"},
]
each_command = pytest.mark.parametrize("frame", LEAST, ids=lambda frame: str(frame["type"]))


# In


@both_codecs
def test_what_is_encoded_is_read_again(codec: Codec) -> None:
    frame = {"type": "chat", "content": "ü\n\0", "n": [1, -2.5, None, True, {"a": 2**53}]}

    assert codec.decode(codec.encode(frame)) == frame


@both_codecs
@pytest.mark.parametrize("value", [[], "ping", 7, None, {}, {"type": 5}, {"typ": "ping"}])
def test_what_is_no_object_with_a_type_is_no_frame(codec: Codec, value: Any) -> None:
    with pytest.raises(BadFrame, match="object with a type"):
        codec.decode(codec.encode(value))


@both_codecs
@pytest.mark.parametrize("data", [b"", b"\xc1", b"{", b'{"type": "ping"', b"\xff" * 8])
def test_bytes_that_cannot_be_decoded_are_no_frame(codec: Codec, data: bytes) -> None:
    with pytest.raises(BadFrame):
        codec.decode(data)


def test_there_is_a_command_for_each_type_and_no_other() -> None:
    assert {frame["type"] for frame in LEAST} == set(wire.COMMANDS)
    with pytest.raises(UnknownType, match="'fly'"):
        wire.parse({"type": "fly"})


@each_command
def test_a_command_needs_its_fields_and_no_more(frame: dict[str, Any]) -> None:
    command = wire.parse(frame)

    assert command.type == frame["type"]
    for name in frame.keys() - {"type"}:
        with pytest.raises(Invalid, match=name):
            wire.parse({key: value for key, value in frame.items() if key != name})


@each_command
def test_a_command_takes_no_field_that_the_protocol_does_not_know(frame: dict[str, Any]) -> None:
    for unknown in ("colour", "challenge_id", "challenge_type", "session_key", "message_type"):
        with pytest.raises(Invalid, match=unknown):
            wire.parse({**frame, unknown: "c"})


def test_a_complaint_names_the_field_and_not_what_was_in_it() -> None:
    with pytest.raises(Invalid) as refused:
        wire.parse({"type": "chat", "channel": "c", "content": {"secret": "psst"}})

    assert "content" in refused.value.message
    assert "psst" not in refused.value.message


@pytest.mark.parametrize("number", [nan, inf, -inf])
def test_options_have_no_number_that_only_messagepack_can_write(number: float) -> None:
    frame = MSGPACK.decode(MSGPACK.encode({**LEAST[0], "options": {"range": [1, {"to": number}]}}))

    with pytest.raises(Invalid, match=r"options.*finite number"):
        wire.parse(frame)


@pytest.mark.parametrize(
    ("given", "told"),
    [("a", "a"), ("", ""), (0, 0), (-7, -7), (True, None), (1.5, None), (None, None), (["a"], None)],
)
def test_an_id_is_text_or_an_integer(given: Any, told: Any) -> None:
    found = wire.frame_id({"type": "ping", "id": given})

    assert (found, type(found)) == (told, type(told))


# Out


def test_an_answer_carries_the_id_of_its_frame_if_it_had_one() -> None:
    refusal = Forbidden("No.")

    assert wire.reply(0, {"a": 1}) == {"type": "reply", "id": 0, "result": {"a": 1}}
    assert wire.reply(None, {}) == {"type": "reply", "result": {}}
    assert wire.error(refusal, "") == {"type": "error", "error": "No.", "code": "FORBIDDEN", "id": ""}
    assert wire.error(refusal) == {"type": "error", "error": "No.", "code": "FORBIDDEN"}
    assert wire.error(RateLimited("Slowly.", 0.5))["retryAfter"] == 0.5


def test_a_push_is_encoded_once_per_codec_whoever_gets_it() -> None:
    asked: list[int] = []

    def fields() -> Mapping[str, Any]:
        asked.append(1)
        return {"type": "state"}

    push = Push(fields)
    sent = [push.encoded(codec) for codec in (JSON, MSGPACK, JSON, MSGPACK, JSON)]

    assert len(asked) == 2
    assert sent[0] is sent[2] is sent[4]
    assert sent[1] is sent[3]
    assert (JSON.load(sent[0]), MSGPACK.load(sent[1])) == ({"type": "state"}, {"type": "state"})


def heard(line: Line, viewer: str | None) -> dict[str, Any]:
    message: dict[str, Any] = JSON.load(line.encoded(JSON, viewer))["message"]
    return message


def test_a_direct_message_has_two_views_and_a_public_one_has_one() -> None:
    channel = chat.player_channel(SessionId("c"))
    whisper = Line(chat.entry(channel, "ada", "psst", Millis(5), to="ben"), 3)
    public = Line(chat.entry(channel, "ada", "hello", Millis(5)), 4)

    seen = {viewer: heard(whisper, viewer) for viewer in ("ada", "ben", "eve", None, "operator")}

    assert {viewer for viewer, message in seen.items() if message["content"] == "psst"} == {"ada", "ben"}
    assert seen["eve"] == seen[None] == seen["operator"]
    assert (seen["eve"]["redacted"], seen["eve"]["index"]) == (True, 3)
    assert whisper.encoded(JSON, "eve") is whisper.encoded(JSON, None)
    assert public.encoded(JSON, "ada") is public.encoded(JSON, None)
    assert heard(public, None)["content"] == "hello"


@both_codecs
@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 100_000])
def test_a_framed_message_is_what_the_websocket_protocol_asks_for(codec: Codec, size: int) -> None:
    payload = b"x" * size
    expected = SocketFrame(Opcode.TEXT if codec.text else Opcode.BINARY, payload).serialize(mask=False, extensions=[])

    assert wire.frame(payload, text=codec.text) == expected


@both_codecs
def test_framed_codecs_encode_whole_frames_and_read_bare_ones(codec: Codec) -> None:
    framed = FRAMED[codec.protocol]
    message = {"type": "state"}

    assert framed.encode(message) == wire.frame(codec.encode(message), text=codec.text)
    assert framed.decode(codec.encode(message)) == message
    assert framed.framed
    assert not codec.framed
