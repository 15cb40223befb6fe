"""Ten thousand random frames and broken sockets: always the right error or close code, and the server goes on."""

import asyncio
import json
import logging
import struct
from random import Random
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from websockets.frames import Opcode

from arena.wire import JSON, MSGPACK, Codec
from tests.guests import guest_at, sit_down, visit
from tests.servers import Served
from tests.sockets import raw_guest

EXAMPLES, FRAMES = 125, 40  # per codec: together ten thousand frames
STREAK = 5  # frames until one that is surely good, so that ten bad ones never come in a row
CODES = {
    "BAD_FRAME",
    "UNKNOWN_TYPE",
    "VALIDATION",
    "UNAUTHORIZED",
    "FORBIDDEN",
    "NOT_FOUND",
    "INVITE_NOT_FOUND",
    "INVITE_ALREADY_USED",
    "UNKNOWN_CHALLENGE_TYPE",
    "PLAYER_NOT_FOUND",
    "UNKNOWN_METHOD",
    "GAME_NOT_RUNNING",
    "TOO_LARGE",
    "KEY_REUSED",
    "INVALID_GUESS",
    "DUPLICATE_GUESS",
    "GUESS_TOO_LARGE",
}

NAMES = ["type", "id", "challengeId", "channel", "content", "key", "to", "index", "cursors", "off", "options", "invite"]
TYPES = ["create", "join", "resume", "watch", "unwatch", "message", "chat", "sync", "lobby", "leaderboard", "ping"]
REQUIRED = {
    "create": ["challengeType"],
    "join": ["invite"],
    "resume": ["challengeId", "sessionKey"],
    "watch": ["challengeId"],
    "unwatch": ["challengeId"],
    "message": ["challengeId", "content"],
    "chat": ["channel", "content"],
    "sync": ["channel"],
}

scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=5,
)

Case = tuple[str, Any]  # what was done, and the value or the bytes to send


@st.composite
def mutated(draw: Any) -> Case:
    """A frame that was good, with one thing done to it; words in braces are filled in later."""
    type_ = draw(st.sampled_from(TYPES))
    frame: dict[str, Any] = {"type": type_, "id": draw(st.integers(0, 9) | st.text(max_size=5))}
    frame |= {
        "create": {"challengeType": "psi"},
        "join": {"invite": "{invite}", "key": draw(st.text("ab", min_size=1, max_size=2))},
        "resume": {"challengeId": "{id}", "sessionKey": "{key}", "cursors": {"{id}": {"index": 1, "epoch": ""}}},
        "watch": {"challengeId": "{id}"},
        "unwatch": {"challengeId": "{id}"},
        "message": {"challengeId": "{id}", "messageType": "guess", "content": draw(st.text(max_size=10))},
        "chat": {"channel": "{id}", "content": draw(st.text(max_size=10)), "to": "{invite}"},
        "sync": {"channel": "challenge_{id}", "index": draw(st.integers(-5, 5))},
        "lobby": {"challengeType": "psi", "off": draw(st.booleans())},
        "leaderboard": {"challengeType": "psi", "strategy": "average"},
        "ping": {},
    }[type_]
    match draw(st.sampled_from(["whole", "lacking", "extra", "strange", "nameless"])):
        case "lacking" if type_ in REQUIRED:
            del frame[draw(st.sampled_from(REQUIRED[type_]))]
            return "invalid", frame
        case "extra":
            return "invalid", {**frame, "x" + draw(st.text(max_size=8)): draw(values)}
        case "strange":
            return "any", {**frame, draw(st.sampled_from(NAMES)): draw(values)}
        case "nameless":
            return "no frame", {**frame, "type": draw(scalars.filter(lambda value: not isinstance(value, str)))}
        case _:
            return "any", frame


def is_frame(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


cases: SearchStrategy[Case] = st.one_of(
    mutated(),
    mutated(),
    values.filter(lambda value: not is_frame(value)).map(lambda value: ("no frame", value)),
    st.fixed_dictionaries({"type": st.text(max_size=10).filter(lambda t: t not in TYPES)}).map(
        lambda f: ("unknown", f)
    ),
    st.binary(max_size=200).map(lambda data: ("noise", data)),
)

EXPECTED = {
    "invalid": {"VALIDATION"},
    "no frame": {"BAD_FRAME"},
    "unknown": {"UNKNOWN_TYPE"},
    "noise": {"BAD_FRAME"},
    "any": CODES,
}


def encode(codec: Codec, value: Any, names: dict[str, str]) -> bytes:
    """A value as bytes; what a codec cannot say, such as a number too large for it, becomes noise."""
    if isinstance(value, bytes):
        return value
    if codec is JSON:
        text = json.dumps(value, ensure_ascii=False)
        for name, known in names.items():
            text = text.replace("{" + name + "}", known)
        return text.encode()
    try:
        return bytes(msgpack.packb(fill(value, names)))
    except OverflowError:
        return b"\xc1"


def fill(value: Any, names: dict[str, str]) -> Any:
    match value:
        case str():
            for name, known in names.items():
                value = value.replace("{" + name + "}", known)
            return value
        case dict():
            return {fill(key, names): fill(inner, names) for key, inner in value.items()}
        case list():
            return [fill(inner, names) for inner in value]
        case _:
            return value


def allowed(kind: str, codec: Codec, data: bytes) -> set[str]:
    """The codes that an error about this frame may have; an empty string stands for a reply."""
    try:
        value = codec.load(data)
    except Exception:
        return {"BAD_FRAME"}
    if kind == "noise":  # it happened to mean something
        return {*CODES, ""}
    if kind == "any":
        return {*CODES, ""} if is_frame(value) else {"BAD_FRAME"}
    return EXPECTED[kind]


@pytest.fixture(params=[JSON, MSGPACK], ids=lambda codec: str(codec.protocol))
def codec(request: pytest.FixtureRequest) -> Codec:
    chosen: Codec = request.param
    return chosen


def assert_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


async def assert_all_is_well(arena: Served) -> None:
    game = await sit_down(arena, users=("ada", "ben"))
    await game.end()
    await game.players[0].hear("game_ended")


async def check(arena: Served, codec: Codec, names: dict[str, str], batch: list[Case]) -> None:
    """Send frames, and a ping now and then; every one has one answer, and it is right."""
    async with guest_at(arena.ws, codec) as guest:
        expected: list[set[str]] = []
        for number, (kind, value) in enumerate(batch, 1):
            data = encode(codec, value, names)
            expected.append(allowed(kind, codec, data))
            await guest.socket.send(data, text=codec.text)
            if number % STREAK == 0:
                expected.append({""})
                await guest.send({"type": "ping"})
        fence = await guest.ask("ping")
        answers = [f for f in guest.frames[: guest.frames.index(fence)] if f["type"] in {"reply", "error"}]
        codes = [answer.get("code", "") for answer in answers]
        assert len(codes) == len(expected)
        wrong = [(n, code) for n, (code, right) in enumerate(zip(codes, expected, strict=True)) if code not in right]
        assert not wrong


async def test_ten_thousand_random_frames_get_the_right_answer_each(
    arena: Served, codec: Codec, caplog: pytest.LogCaptureFixture
) -> None:
    game = await sit_down(arena)
    names = {"id": game.id, "invite": game.invites[0], "key": game.keys[0]}
    loop = asyncio.get_running_loop()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(st.lists(cases, min_size=FRAMES, max_size=FRAMES))
    def fuzz(batch: list[Case]) -> None:
        asyncio.run_coroutine_threadsafe(check(arena, codec, names, batch), loop).result(60)

    await asyncio.to_thread(fuzz)

    assert_no_fault(caplog)
    await assert_all_is_well(arena)


# Below the frames


async def test_a_message_in_many_fragments_with_pings_in_between_is_one_message(arena: Served, codec: Codec) -> None:
    async with raw_guest(arena.ws, codec) as guest:
        data = codec.encode({"type": "ping", "id": "ü" * 50})
        first = Opcode.TEXT if codec.text else Opcode.BINARY

        for number in range(len(data)):  # also through the middle of a character
            opcode = first if number == 0 else Opcode.CONT
            await guest.write(data[number : number + 1], opcode, fin=number == len(data) - 1)
            await guest.write(b"still here", Opcode.PING)
            await guest.write(b"", Opcode.PONG)

        reply = await guest.hear("reply")
        assert reply["id"] == "ü" * 50


async def test_bytes_that_trickle_in_one_by_one_are_one_message(arena: Served, codec: Codec) -> None:
    async with raw_guest(arena.ws, codec) as guest:
        for byte in guest.framed(codec.encode({"type": "ping", "id": 7})):
            await guest.send(bytes([byte]))
            await asyncio.sleep(0.002)  # for the server to read it alone

        assert (await guest.hear("reply"))["id"] == 7


async def test_half_a_frame_and_then_nothing_harms_nobody(
    arena: Served, codec: Codec, caplog: pytest.LogCaptureFixture
) -> None:
    for size in (1, 2, 5, 6, 7, 20):
        async with raw_guest(arena.ws, codec) as guest:
            await guest.send(guest.framed(codec.encode({"type": "ping", "id": "x" * 50}))[:size])

    await assert_all_is_well(arena)
    assert_no_fault(caplog)


def head(first: int, second: int, rest: bytes = b"") -> bytes:
    return bytes([first, second]) + rest


BROKEN: dict[str, tuple[bytes, set[int | None]]] = {
    "unmasked": (head(0x81, 2, b"{}"), {1002}),
    "reserved bit": (head(0xC1, 0x82, b"\0\0\0\0{}"), {1002}),
    "reserved opcode": (head(0x83, 0x82, b"\0\0\0\0{}"), {1002}),
    "continuation of nothing": (head(0x80, 0x82, b"\0\0\0\0{}"), {1002}),
    "two beginnings": (head(0x01, 0x81, b"\0\0\0\0{") + head(0x01, 0x81, b"\0\0\0\0{"), {1002}),
    "a message within a message": (
        head(0x01, 0x81, b"\0\0\0\0{") + head(0x81, 0x8F, b'\0\0\0\0{"type":"ping"}'),
        {1002},
    ),
    "ping in fragments": (head(0x09, 0x80, b"\0\0\0\0"), {1002}),
    "ping too long": (head(0x89, 0xFE, struct.pack("!H", 126) + b"\0\0\0\0" + b"x" * 126), {1002}),
    "longer than can be": (head(0x81, 0xFF, b"\xff" * 8 + b"\0\0\0\0"), {1002, 1009}),
    "just too long": (head(0x81, 0xFF, struct.pack("!Q", 65537) + b"\0\0\0\0"), {1009}),
    "close with half a code": (head(0x88, 0x81, b"\0\0\0\0\x03"), {1002}),
    "close with a forbidden code": (head(0x88, 0x82, b"\0\0\0\0" + struct.pack("!H", 1005)), {1002}),
    "close with bad text": (head(0x88, 0x83, b"\0\0\0\0" + struct.pack("!H", 1000) + b"\xff"), {1002, 1007}),
    "close": (head(0x88, 0x82, b"\0\0\0\0" + struct.pack("!H", 1000)), {1000}),
    "close without words": (head(0x88, 0x80, b"\0\0\0\0"), {None, 1005}),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_rule_of_the_socket_ends_that_connection_alone(
    arena: Served, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    data, codes = BROKEN[name]
    other = await visit(arena)
    async with raw_guest(arena.ws) as guest:
        await guest.send(data)

        code = await guest.closed()

    assert code in codes
    assert (await other.ask("ping"))["type"] == "reply"
    assert_no_fault(caplog)


async def test_noise_below_the_frames_harms_nobody(arena: Served, caplog: pytest.LogCaptureFixture) -> None:
    rng = Random(11)

    for _ in range(100):
        async with raw_guest(arena.ws) as guest:
            await guest.hear("welcome")
            for _ in range(rng.randrange(1, 5)):
                try:
                    await guest.send(rng.randbytes(rng.randrange(1, 300)))
                except ConnectionError:
                    break

    await assert_all_is_well(arena)
    assert_no_fault(caplog)


async def test_noise_at_the_handshake_harms_nobody(arena: Served, caplog: pytest.LogCaptureFixture) -> None:
    rng = Random(12)
    host, port = arena.url.removeprefix("http://").split(":")
    request = (
        f"GET /ws?watch=x HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ).encode()

    for _ in range(200):
        spoilt = bytearray(request)
        for _ in range(rng.randrange(1, 4)):
            spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(bytes(spoilt[: rng.choice((None, rng.randrange(len(spoilt))))]))
        writer.write_eof()
        async with asyncio.timeout(60):
            await reader.read(100)
        writer.transport.abort()

    await assert_all_is_well(arena)
    assert_no_fault(caplog)
