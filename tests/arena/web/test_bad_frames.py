"""Bytes that are no frames: a bad one is answered, ten in a row or one of the wrong kind end the connection."""

from typing import Any

import pytest

from arena.wire import JSON, MSGPACK, Codec
from tests.guests import visit
from tests.servers import Served

both_codecs = pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=lambda codec: str(codec.protocol))


@both_codecs
async def test_what_is_no_object_with_a_type_is_a_bad_frame(arena: Served, codec: Codec) -> None:
    guest = await visit(arena, codec)
    frames: list[Any] = [{}, {"type": 5}, {"type": None}, {"typ": "ping"}, [], "ping", 7, None, True]

    for frame in frames:
        await guest.send(frame)
    await guest.get("ping")

    assert [answer["code"] for answer in guest.of("error")] == ["BAD_FRAME"] * len(frames)


async def test_undecodable_frames_are_bad_and_leave_the_connection_open(arena: Served) -> None:
    guest = await visit(arena)

    for text in ("", "{", "nonsense", '{"type": "ping"', '{"type": "ping"} {}', '{"type": "\\ud800"}', "\0"):
        await guest.socket.send(text)
    pong = await guest.ask("ping")

    told = [f["code"] for f in guest.of("error")]
    assert told == ["BAD_FRAME"] * 7
    assert pong["type"] == "reply"


async def test_undecodable_msgpack_is_bad_and_leaves_the_connection_open(arena: Served) -> None:
    guest = await visit(arena, MSGPACK)
    ping = MSGPACK.encode({"type": "ping"})

    for data in (
        b"",
        b"\xc1",
        ping[:-1],
        ping + b"\0",
        b"\x81\xa4type\xa1\xff",
        b"\x81\x01\x02",
        b"\xdd\xff\xff\xff\xff",
    ):
        await guest.socket.send(data)
    pong = await guest.ask("ping")

    assert [f["code"] for f in guest.of("error")] == ["BAD_FRAME"] * 7
    assert pong["type"] == "reply"


@both_codecs
async def test_ten_undecodable_frames_in_a_row_close_the_connection(arena: Served, codec: Codec) -> None:
    guest = await visit(arena, codec)

    for _ in range(10):
        await guest.socket.send("{" if codec.text else b"\xc1")

    assert await guest.closed() == 1007
    assert [f["code"] for f in guest.of("error")] == ["BAD_FRAME"] * 10


async def test_nine_undecodable_frames_and_a_good_one_begin_the_count_anew(arena: Served) -> None:
    guest = await visit(arena)

    for _ in range(3):
        for _ in range(9):
            await guest.socket.send("{")
        assert (await guest.ask("fly"))["code"] == "UNKNOWN_TYPE"

    assert len(guest.of("error", code="BAD_FRAME")) == 27
    assert (await guest.ask("ping"))["type"] == "reply"


async def test_text_that_is_not_utf8_is_a_bad_frame(arena: Served) -> None:
    guest = await visit(arena)

    for _ in range(9):
        await guest.socket.send(b'{"type": "\xff"}', text=True)
    still = await guest.ask("ping")
    for _ in range(10):
        await guest.socket.send(b"\xc3\x28", text=True)

    assert still["type"] == "reply"
    assert await guest.closed() == 1007
    assert [f["code"] for f in guest.of("error")] == ["BAD_FRAME"] * 19


@both_codecs
async def test_a_frame_of_the_wrong_kind_closes_the_connection(arena: Served, codec: Codec) -> None:
    guest = await visit(arena, codec)

    data = codec.encode({"type": "ping"})
    await guest.socket.send(data, text=not codec.text)

    assert await guest.closed() == 1003
    assert not guest.of("reply")
