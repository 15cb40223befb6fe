"""Readers of event streams that are slow, stalled, gone or too many, and the ends of streams."""

import asyncio
import logging

import httpx
import pytest

from arena.web.chunks import ChunkProtocol
from arena.web.events import Stream
from tests.guests import Frame, Game, comes_true, sit_down, visit
from tests.loops import on_uvloop
from tests.servers import Served, served
from tests.sockets import SMALLEST
from tests.streams import read, reading, stream_of

KIB = 1024


def indexes(messages: list[Frame]) -> list[int]:
    return [message["index"] for message in messages]


def streams(arena: Served) -> list[Stream]:
    """The streams that have a place in a room."""
    listeners = [s.listener for room in arena.arena.hub.rooms.values() for s in room.subscriptions]
    return [listener for listener in listeners if isinstance(listener, Stream)]


def untaken(arena: Served) -> int:
    """The most bytes that wait in the server for the socket of any one stream."""
    sockets = [c.buffered for c in arena.uvicorn.server_state.connections if isinstance(c, ChunkProtocol)]
    return max((stream.outlet.mark[1] for stream in streams(arena)), default=0) + max(sockets, default=0)


async def flood(game: Game, count: int, size: int) -> None:
    """Have the players say much at once."""

    async def speak(seat: int) -> None:
        for number in range(count // 2):
            assert (await game.say(seat, f"{seat} {number} ".ljust(size, "x")))["type"] == "reply"

    await asyncio.gather(speak(0), speak(1))


@on_uvloop
async def test_a_slow_reader_costs_bounded_memory_and_gets_everything_when_it_reads_again(store: str) -> None:
    async with served(store, outbox_bytes=64 * KIB, page_bytes=64 * KIB) as arena:
        game = await sit_down(arena)
        async with reading(stream_of(arena, game.id), receive_buffer=SMALLEST) as slow:
            await slow.hear("initial")

            await flood(game, count=400, size=16 * KIB)
            for guest in game.players:
                await guest.hear_messages(game.id, 400)
            most = untaken(arena)
            await game.end()
            slow.hurry()
            await slow.hear("game_ended")

        assert most < 400 * KIB
        assert indexes(slow.messages) == list(range(1, 401))


@on_uvloop
async def test_a_slow_reader_holds_nobody_up(store: str) -> None:
    async with served(store, outbox_bytes=64 * KIB, page_bytes=64 * KIB) as arena:
        game = await sit_down(arena)
        quick = await read(arena, game.id)
        async with reading(stream_of(arena, game.id), receive_buffer=SMALLEST) as slow:
            await slow.hear("initial")
            _, _ = await asyncio.gather(flood(game, count=200, size=16 * KIB), quick.hear_messages(200))

            for number in range(201, 221):
                await game.say(0, "a word")
                await quick.hear_messages(number)

            assert len(slow.messages) < 100


@on_uvloop
async def test_a_reader_that_takes_nothing_for_too_long_is_cut_off(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="arena")
    async with served(store, limit_stall_seconds=1) as arena:
        game = await sit_down(arena)
        async with reading(stream_of(arena, game.id), receive_buffer=SMALLEST) as stalled:
            await stalled.hear("initial")
            await flood(game, count=500, size=16 * KIB)

            await comes_true(lambda: not streams(arena), "no stream")
            await stalled.closed()

        assert len(stalled.messages) < 500
        assert [r.getMessage() for r in caplog.records if "reason=stalled" in r.getMessage()]
        assert (await game.say(0, "still here"))["type"] == "reply"


@on_uvloop
async def test_a_reader_that_is_slow_but_reads_is_not_cut_off(store: str) -> None:
    async with served(store, limit_stall_seconds=0.8, outbox_bytes=64 * KIB, page_bytes=64 * KIB) as arena:
        game = await sit_down(arena)
        async with reading(stream_of(arena, game.id), receive_buffer=SMALLEST) as slow:
            await slow.hear("initial")
            await flood(game, count=40, size=16 * KIB)

            loop = asyncio.get_running_loop()
            until = loop.time() + 3
            while loop.time() < until:
                await asyncio.sleep(0.1)
                assert await slow.read(8 * KIB)
            slow.hurry()
            await slow.hear_messages(40)

        assert indexes(slow.messages) == list(range(1, 41))


# The end of a stream


async def test_the_streams_of_a_session_that_is_removed_come_to_their_end(store: str) -> None:
    async with served(store, open_seconds=0.5) as here, served(store, open_seconds=0.5) as there:
        made = await (await visit(here)).get("create", challengeType="psi")
        readers = [await read(server, made["id"]) for server in (here, there)]
        readers.append(await read(there, f"challenge_{made['id']}"))

        assert [await reader.closed() for reader in readers] == [True] * 3
        assert not streams(here)
        assert not streams(there)
        again = await read(here, made["id"])
        assert (await again.hear("initial")).frame["messages"] == []


async def test_a_server_that_stops_completes_its_streams_with_what_was_said(arena: Served) -> None:
    game = await sit_down(arena)
    readers = [await read(arena, channel) for channel in (game.id, game.operator_channel, "lobby")]
    for reader in readers:
        await reader.hear("initial")
    await game.say(0, "last words")

    arena.uvicorn.should_exit = True

    assert [await reader.closed() for reader in readers] == [True] * 3
    assert [message["content"] for message in readers[0].messages] == ["last words"]


@on_uvloop
async def test_a_reader_that_does_not_read_does_not_keep_a_server_from_stopping(store: str) -> None:
    async with served(store) as arena:
        game = await sit_down(arena)
        async with reading(stream_of(arena, game.id), receive_buffer=SMALLEST) as stalled:
            await stalled.hear("initial")
            await flood(game, count=400, size=16 * KIB)

            async with asyncio.timeout(8):
                arena.uvicorn.should_exit = True
                await comes_true(lambda: not streams(arena), "no stream")


async def test_a_connection_serves_other_requests_after_a_stream_has_ended(store: str) -> None:
    async with served(store, open_seconds=0.5) as arena:
        made = await (await visit(arena)).get("create", challengeType="psi")
        reader = await read(arena, made["id"])
        assert await reader.closed()

        async with asyncio.timeout(60):
            await reader.send(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
            answer = await asyncio.get_running_loop().sock_recv(reader.socket, 4096)

        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert answer.endswith(b'{"status":"ok"}')
        held = [c.outflow for c in arena.uvicorn.server_state.connections if isinstance(c, ChunkProtocol)]
        assert not any(held)


@pytest.mark.parametrize("more", [b"", b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"], ids=["alone", "pipelined"])
async def test_a_reader_that_goes_away_leaves_nothing_behind(
    arena: Served, more: bytes, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    if more and request.config.getoption("--plain"):
        pytest.skip("without our protocol class, uvicorn does not say that the first of two requests is gone")
    game = await sit_down(arena)
    async with reading(stream_of(arena, game.id)) as reader:
        await reader.hear("initial")
        await reader.send(more)
        assert len(streams(arena)) == 1

    async def is_noticed() -> bool:
        await game.say(0, "anybody there?")  # uvicorn reads no further than the second request: only a write will tell
        return not streams(arena)

    await comes_true(is_noticed, "no stream")
    left = {"pump", "hang-up", "stream end", "writer"}  # the players' own pumps come to rest by themselves
    await comes_true(lambda: not left & {task.get_name() for task in asyncio.all_tasks()}, "no task is left")
    assert not caplog.records


async def test_an_address_has_only_so_many_streams_and_gets_them_back(store: str) -> None:
    async with served(store, limit_connections_per_address=2) as arena, httpx.AsyncClient() as client:
        async with reading(stream_of(arena, "invites")), reading(stream_of(arena, "lobby")):
            refused = await client.get(stream_of(arena, "invites"))

        async def is_let_in() -> bool:
            async with reading(stream_of(arena, "invites")) as reader:
                return reader.status == 200

        await comes_true(is_let_in, "a free place")
        assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
        assert int(refused.headers["retry-after"]) > 0
