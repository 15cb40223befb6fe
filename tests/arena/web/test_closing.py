"""How connections end: the server stops, or the other side does not answer any more."""

import asyncio
import socket
import time
from contextlib import suppress
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.frames import Opcode

from arena import chat
from arena.models import Millis, SessionId
from arena.web.protocol import ArenaProtocol
from arena.wire import Line
from tests.guests import comes_true, guest_at, sit_down, visit
from tests.loops import on_uvloop
from tests.plugins import sluggish
from tests.servers import Served, served
from tests.sockets import SMALLEST, raw_guest
from tests.valkeys import Proxy


async def test_a_server_that_stops_closes_all_connections_with_going_away(arena: Served) -> None:
    game = await sit_down(arena)
    idle, watching = await visit(arena), await visit(arena)
    await watching.get("watch", challengeId=game.id)
    await idle.get("lobby")

    arena.uvicorn.should_exit = True

    guests = [*game.players, idle, watching]
    assert [await guest.closed() for guest in guests] == [1001] * 4


async def test_an_action_in_flight_is_finished_and_answered_before_the_close(store: str) -> None:
    async with served(store, load="tests.plugins.sluggish") as arena:
        game = await sit_down(arena, "sluggish")

        moving = asyncio.create_task(game.act(0, "crawl"))
        await asyncio.to_thread(sluggish.begun.wait, 10)
        arena.uvicorn.should_exit = True
        answer = await moving

        assert answer["result"] == {"ok": "Message sent"}
        assert await game.players[0].closed() == 1001
    async with served(store, load="tests.plugins.sluggish") as arena:
        guest = await visit(arena)
        messages = (await guest.get("sync", channel=game.operator_channel))["messages"]
        assert [message["content"] for message in messages if message["from"] == "operator"] == ["There."]


async def test_an_action_that_the_store_has_not_answered_yet_is_waited_for_before_the_close(store: str) -> None:
    async with Proxy(store) as proxy, served(proxy.url) as arena:
        game, eve = await sit_down(arena), await visit(arena)

        proxy.freeze()
        moving = asyncio.create_task(game.act(0, "guess", "1"))
        await comes_true(lambda: arena.arena.engine._lanes._lines, "the move is under way")
        arena.uvicorn.should_exit = True
        assert await eve.closed() == 1001
        proxy.thaw()

        assert (await moving)["result"] == {"ok": "Message sent"}
        assert await game.players[0].closed() == 1001


@on_uvloop
async def test_who_hangs_up_while_its_query_is_carried_out_is_no_spectator_and_no_fault(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Proxy(store) as proxy, served(proxy.url) as arena:
        game = await sit_down(arena)
        room = arena.arena.hub.rooms[SessionId(game.id)]
        proxy.freeze()
        async with guest_at(f"{arena.ws}?watch={game.id}") as eve:
            await eve.hear("welcome")
            eve.socket.transport.abort()
            await comes_true(lambda: len(arena.uvicorn.server_state.connections) == 3, "it is gone")
        proxy.thaw()

        await comes_true(lambda: len(arena.app.state.connections._watched) == 3, "its end is known")
        assert len(room.subscriptions) == 2
        assert not [record for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}]


@on_uvloop
async def test_a_message_at_the_moment_in_which_a_socket_closes_reaches_the_others(store: str) -> None:
    async with served(store) as arena:
        game, spectators = await sit_down(arena), [await visit(arena), await visit(arena)]
        for guest in spectators:
            await guest.get("watch", challengeId=game.id)
        log = arena.arena.hub.rooms[SessionId(game.id)].logs[1]
        await comes_true(lambda: sum(map(len, log.live.values())) == 4, "all are live")
        log.fresh.append(Line(chat.entry(log.channel, "ada", "hello", Millis(1)), 1))

        # Between the end of the socket and that of its connection: the loop does both in this order.
        connections: Any = arena.uvicorn.server_state.connections
        [protocol] = [known for known in connections if known.client == spectators[0].socket.local_address]
        protocol.transport.abort()
        asyncio.get_running_loop().call_soon(log.flush)

        def heard() -> bool:
            return sum(bool(guest.messages(game.id)) for guest in [*game.players, *spectators]) == 3

        await comes_true(heard, "all others hear it")


@on_uvloop
async def test_a_peer_that_says_goodbye_by_half_and_reads_nothing_is_not_waited_for(store: str) -> None:
    async with served(store, limit_stall_seconds=0) as arena:
        game = await sit_down(arena)
        async with raw_guest(arena.ws, receive_buffer=SMALLEST) as guest:
            await guest.ask("watch", challengeId=game.id)
            await guest.hear("initial", 2)
            watched = arena.app.state.connections._watched
            last, open_ = list(watched)[-1], len(arena.uvicorn.server_state.connections)
            while last.outlet.mark[1] == 0:
                await game.say(0, "x" * 5_000)

            guest.socket.shutdown(socket.SHUT_WR)

            await comes_true(lambda: last not in watched, "its end is known")
            await comes_true(lambda: len(arena.uvicorn.server_state.connections) < open_, "the socket is gone")


@on_uvloop
async def test_a_stalled_peer_that_still_sends_is_let_go(store: str) -> None:
    async with served(store, limit_stall_seconds=0.5) as arena:
        game = await sit_down(arena)
        async with raw_guest(arena.ws, receive_buffer=SMALLEST) as guest:
            await guest.ask("watch", challengeId=game.id)
            watched = arena.app.state.connections._watched
            last = list(watched)[-1]
            while last.outlet.has_room:
                await game.say(0, "x" * 30_000)
            for _ in range(3):
                await guest.write(guest.codec.encode({"type": "ping"}))

            await comes_true(lambda: last not in watched, "its end is known")


async def test_after_the_close_a_client_resumes_where_it_was(store: str) -> None:
    async with served(store) as arena:
        game = await sit_down(arena)
        initial = await game.players[1].hear("initial", channel=game.id)
        await game.say(0, "hello")
        arena.uvicorn.should_exit = True
        await game.players[1].closed()
    async with served(store) as arena:
        back = await visit(arena)

        cursors = {game.id: {"index": initial["next"], "epoch": initial["epoch"]}}
        await back.get("resume", challengeId=game.id, sessionKey=game.keys[1], cursors=cursors)

        again = await back.hear("initial", channel=game.id)
        assert again["recovered"]
        assert [message["content"] for message in again["messages"]] == ["hello"]


async def test_a_server_that_stops_takes_no_new_connections(arena: Served) -> None:
    guest = await visit(arena)

    arena.uvicorn.should_exit = True
    await guest.closed()

    with pytest.raises((OSError, InvalidStatus)):
        async with guest_at(arena.ws):
            pass


async def test_many_connections_do_not_keep_a_server_from_stopping(store: str) -> None:
    async with served(store) as arena:
        game = await sit_down(arena)
        guests = await asyncio.gather(*(visit(arena) for _ in range(100)))
        await asyncio.gather(*(guest.get("watch", challengeId=game.id) for guest in guests))

        begun = time.monotonic()
        arena.uvicorn.should_exit = True
        codes = await asyncio.gather(*(guest.closed() for guest in guests))

        assert set(codes) == {1001}
        assert time.monotonic() - begun < 8


async def test_a_client_that_does_not_answer_pings_is_closed(store: str) -> None:
    async with served(store, ping_seconds=0.2, ping_timeout_seconds=1) as arena, raw_guest(arena.ws) as guest:
        assert await guest.closed() == 4408
        assert guest.pings == 1


async def test_a_client_that_answers_pings_stays(store: str) -> None:
    async with served(store, ping_seconds=0.1, ping_timeout_seconds=0.2) as arena:
        guest = await visit(arena, ping_interval=None)
        async with raw_guest(arena.ws) as silent:
            await silent.closed()

        assert (await guest.ask("ping"))["type"] == "reply"


async def test_without_a_limit_a_client_may_leave_pings_unanswered(store: str) -> None:
    async with served(store, ping_seconds=0.5, ping_timeout_seconds=0) as arena, raw_guest(arena.ws) as guest:
        while guest.pings < 4:
            assert await guest.read()

        assert (await guest.ask("ping"))["type"] == "reply"


async def test_pings_of_a_client_that_does_not_read_cost_bounded_memory(arena: Served) -> None:
    async with raw_guest(arena.ws, receive_buffer=SMALLEST) as guest:
        await guest.hear("welcome")
        ping = guest.framed(b"x" * 125, Opcode.PING)
        [connection] = arena.uvicorn.server_state.connections

        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                for _ in range(200):
                    await asyncio.get_running_loop().sock_sendall(guest.socket, ping * 500)

        assert isinstance(connection, ArenaProtocol)
        assert connection.buffered < 1_000_000


async def test_a_connection_that_breaks_leaves_nothing_behind(arena: Served) -> None:
    game = await sit_down(arena)
    for _ in range(20):
        async with guest_at(arena.ws) as guest:
            await guest.get("watch", challengeId=game.id)
            await guest.get("lobby")
            await guest.get("leaderboard")
            guest.socket.transport.abort()

    hub, lobby = arena.arena.hub, arena.arena.lobby
    await comes_true(lambda: not lobby.guests and not lobby.boards, "the lobby is empty")
    await comes_true(lambda: len(next(iter(hub.rooms.values())).subscriptions) == 2, "only the players are left")
    for guest in game.players:
        await guest.socket.close()

    await comes_true(lambda: not hub.rooms, "the room is closed")
    assert not arena.arena.engine._lanes._lines
