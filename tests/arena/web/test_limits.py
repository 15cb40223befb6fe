"""Limits: what a guest may ask for, how much, how fast; and that 0 switches a limit off."""

import asyncio

import pytest
from websockets.exceptions import InvalidStatus

from arena.wire import JSON, MSGPACK, Codec
from tests.guests import Guest, comes_true, guest_at, sit_down, visit
from tests.servers import Served, served

both_codecs = pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=lambda codec: str(codec.protocol))


def padded_ping(codec: Codec, size: int) -> bytes:
    """A ping with an id that makes its frame exactly so large."""
    id_ = "x" * (size - len(codec.encode({"type": "ping", "id": ""})) - 8)
    while len(codec.encode({"type": "ping", "id": id_})) < size:
        id_ += "x"
    return codec.encode({"type": "ping", "id": id_})


async def send_raw(guest: Guest, data: bytes) -> None:
    await guest.socket.send(data, text=guest.codec.text)


@both_codecs
async def test_a_frame_at_the_limit_is_answered_and_one_byte_more_closes_the_connection(
    arena: Served, codec: Codec
) -> None:
    guest = await visit(arena, codec)

    await send_raw(guest, padded_ping(codec, 65536))
    reply = await guest.hear("reply")
    await send_raw(guest, padded_ping(codec, 65537))

    assert len(reply["id"]) > 65000
    assert await guest.closed() == 1009
    assert len(guest.of("reply")) == 1


async def test_many_fragments_that_are_too_much_together_close_the_connection(store: str) -> None:
    async with served(store, limit_frame_bytes=1000) as arena:
        guest = await visit(arena)

        async def parts() -> None:
            await guest.socket.send('{"type": "ping", "id": "' + "x" * 300 for _ in range(4))

        await asyncio.gather(parts(), return_exceptions=True)

        assert await guest.closed() == 1009


async def test_without_a_limit_frames_may_be_large(store: str) -> None:
    async with served(store, limit_frame_bytes=0, limit_content_bytes=0) as arena:
        game = await sit_down(arena)

        spoken = await game.say(0, "x" * 1_000_000)

        assert spoken["type"] == "reply"
        [message] = await game.players[1].hear_messages(game.id, 1)
        assert len(message["content"]) == 1_000_000


@pytest.mark.parametrize("content", ["x" * 32768, "é" * 16384, "🎲" * 8192])
async def test_content_is_measured_in_bytes(arena: Served, content: str) -> None:
    game = await sit_down(arena)

    at_the_limit = [await game.say(0, content), await game.act(0, "guess", content)]
    above = [await game.say(0, content + "x"), await game.act(0, "guess", content + "x")]
    await game.say(0, "and then")

    assert at_the_limit[0]["type"] == "reply"
    assert at_the_limit[1]["code"] == "INVALID_GUESS"
    assert [answer["code"] for answer in above] == ["TOO_LARGE", "TOO_LARGE"]
    heard = await game.players[1].hear_messages(game.id, 2)
    assert [message["index"] for message in heard] == [1, 2]


async def test_frames_above_the_rate_are_refused_with_the_time_to_wait(store: str) -> None:
    async with served(store, limit_frames_per_second=5) as arena:
        guest = await visit(arena)

        for number in range(30):
            await guest.send({"type": "ping", "id": number})
        await guest.until(lambda: len(guest.of("reply") + guest.of("error")) == 30 or None, "30 answers")

        refused = guest.of("error")
        assert 10 <= len(guest.of("reply")) <= 12
        assert {answer["code"] for answer in refused} == {"RATE_LIMITED"}
        assert all(0 < answer["retryAfter"] <= 0.2 for answer in refused)
        await asyncio.sleep(refused[-1]["retryAfter"])
        assert (await guest.ask("ping"))["type"] == "reply"


async def test_a_refusal_for_haste_echoes_the_id(store: str) -> None:
    async with served(store, limit_frames_per_second=1) as arena:
        guest = await visit(arena)

        for number in range(4):
            await guest.send({"type": "ping", "id": number})
        await guest.until(lambda: len(guest.of("reply") + guest.of("error")) == 4 or None, "4 answers")

        answers = [frame for frame in guest.frames if frame["type"] in {"reply", "error"}]
        assert [answer.get("id") for answer in answers] == [0, 1, 2, 3]
        assert [answer["type"] for answer in answers] == ["reply", "reply", "error", "error"]


async def test_one_who_goes_on_all_the_same_is_shown_the_door(store: str) -> None:
    async with served(store, limit_frames_per_second=1) as arena:
        guest = await visit(arena)

        for number in range(150):
            await guest.send({"type": "ping", "id": number})

        assert await guest.closed() == 1008
        assert len(guest.of("error", code="RATE_LIMITED")) >= 100


async def test_nonsense_does_not_escape_the_rate_limit(store: str) -> None:
    async with served(store, limit_frames_per_second=1) as arena:
        guest = await visit(arena)

        for number in range(200):
            await guest.socket.send("{" if number % 2 else '{"type": "ping"}')

        assert await guest.closed() == 1008


async def test_without_a_limit_nobody_is_too_fast(store: str) -> None:
    async with served(store, limit_frames_per_second=0) as arena:
        guest = await visit(arena)

        for number in range(500):
            await guest.send({"type": "ping", "id": number})
        await guest.until(lambda: len(guest.of("reply")) == 500 or None, "500 answers")

        assert not guest.of("error")


async def test_an_address_has_so_many_connections_and_gets_one_back_when_one_closes(store: str) -> None:
    async with served(store, limit_connections_per_address=2) as arena:
        await visit(arena)
        async with guest_at(arena.ws) as second:
            await second.hear("welcome")
            with pytest.raises(InvalidStatus) as refused:
                async with guest_at(arena.ws):
                    pass

        await comes_true(lambda: len(arena.uvicorn.server_state.connections) == 1, "one connection less")
        third = await visit(arena)

        assert refused.value.response.status_code == 429
        assert (await third.ask("ping"))["type"] == "reply"


async def test_an_address_has_so_many_open_sessions_and_gets_one_back_when_one_starts(store: str) -> None:
    async with served(store, limit_open_sessions_per_address=2) as arena:
        guest, friend = await visit(arena), await visit(arena)

        first = await guest.get("create", challengeType="psi")
        await friend.get("create", challengeType="psi", private=True)
        refused = await guest.ask("create", challengeType="psi")
        await guest.get("join", invite=first["invites"][0])
        still = await guest.ask("create", challengeType="psi")
        await friend.get("join", invite=first["invites"][1])
        third = await guest.ask("create", challengeType="psi")

        assert refused["code"] == "RATE_LIMITED"
        assert refused["retryAfter"] > 0
        assert still["code"] == "RATE_LIMITED"
        assert third["type"] == "reply"


async def test_an_address_gets_an_open_session_back_when_one_is_removed(store: str) -> None:
    async with served(store, limit_open_sessions_per_address=1, open_seconds=0.3) as arena:
        guest = await visit(arena)

        made = await guest.get("create", challengeType="psi")
        await guest.get("watch", challengeId=made["id"])
        refused = await guest.ask("create", challengeType="psi")
        await guest.hear("error", challengeId=made["id"])

        async def may_create() -> bool:
            return "result" in await guest.ask("create", challengeType="psi")

        await comes_true(may_create, "another session may be created")
        assert refused["code"] == "RATE_LIMITED"


async def test_a_full_players_channel_takes_no_more(store: str) -> None:
    async with served(store, limit_channel_messages=3) as arena:
        game = await sit_down(arena)

        answers = [await game.say(seat, "hello") for seat in (0, 1, 0, 1, 0)]

        assert [answer.get("code") for answer in answers] == [None, None, None, "TOO_LARGE", "TOO_LARGE"]
        assert (await game.players[0].get("sync", channel=game.id))["count"] == 3
        assert (await game.act(0, "guess", "1"))["type"] == "reply"


async def test_a_full_operator_channel_takes_no_more_moves(store: str) -> None:
    async with served(store, limit_channel_messages=4) as arena:
        game = await sit_down(arena)

        answers = [await game.act(0, "guess", "no number") for _ in range(4)]

        assert [answer["code"] for answer in answers] == ["INVALID_GUESS", "INVALID_GUESS", "TOO_LARGE", "TOO_LARGE"]
        assert (await game.players[0].get("sync", channel=game.operator_channel))["count"] == 4
        assert (await game.say(0, "but we can talk"))["type"] == "reply"


async def test_a_channel_is_also_full_by_its_bytes(store: str) -> None:
    async with served(store, limit_channel_bytes=10_000) as arena:
        game = await sit_down(arena)

        talk = [await game.say(0, "x" * 4000) for _ in range(4)]
        moves = [await game.act(0, "guess", "x" * 4000) for _ in range(4)]

        assert [answer.get("code") for answer in talk] == [None, None, "TOO_LARGE", "TOO_LARGE"]
        assert {answer["code"] for answer in moves[:2]} == {"INVALID_GUESS"}
        assert moves[-1]["code"] == "TOO_LARGE"


async def test_after_the_end_there_is_some_time_to_talk(store: str) -> None:
    async with served(store, chat_after_end_seconds=1) as arena:
        game = await sit_down(arena)
        await game.end()

        at_once = await game.say(0, "good game")

        async def is_late() -> bool:
            return (await game.say(1, "was it?")).get("code") == "FORBIDDEN"

        await comes_true(is_late, "the time to talk is over")

        assert at_once["type"] == "reply"
        heard = (await game.players[0].get("sync", channel=game.id))["messages"]
        assert heard[0]["content"] == "good game"


async def test_without_a_limit_there_is_all_the_time_to_talk(store: str) -> None:
    async with served(store, chat_after_end_seconds=0) as arena:
        game = await sit_down(arena)
        await game.end()

        assert (await game.say(0, "good game"))["type"] == "reply"


async def test_the_welcome_announces_the_limits_that_hold(store: str) -> None:
    async with served(store, limit_frame_bytes=1000, limit_frames_per_second=7, chat_after_end_seconds=3) as arena:
        guest = await visit(arena)

        limits = (await guest.hear("welcome"))["limits"]

        assert limits["frameBytes"] == 1000
        assert limits["framesPerSecond"] == 7
        assert limits["chatAfterEndSeconds"] == 3
        assert limits["connectionsPerAddress"] == 1000
