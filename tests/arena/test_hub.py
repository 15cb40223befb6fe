"""The hub: live or behind, whoever listens gets every message once and in order, and nobody waits for anybody."""

import asyncio
import logging
from random import Random

import pytest

from arena import chat
from arena.models import Invite, Millis, SessionId
from arena.store import keys
from arena.web.protocol import ArenaProtocol
from arena.wire import JSON, MSGPACK, Codec
from tests.guests import Frame, Game, Guest, comes_true, sit_down, visit
from tests.loops import on_uvloop
from tests.servers import Served, served
from tests.sockets import SMALLEST, RawGuest, raw_guest
from tests.valkeys import Proxy, connect

TALLY = "tests.plugins.tally"
KIB = 1024


def indexes(messages: list[Frame]) -> list[int]:
    return [message["index"] for message in messages]


def heard_by(guest: RawGuest, channel: str) -> list[Frame]:
    """The messages of a channel that a raw guest has read."""
    copy = Guest.__new__(Guest)
    copy.frames = guest.frames
    return copy.messages(channel)


def untaken(arena: Served) -> int:
    """The most bytes that wait in the server for any one connection's socket."""
    connections = [c for c in arena.uvicorn.server_state.connections if isinstance(c, ArenaProtocol)]
    queued = [s.listener.outlet.mark[1] for room in arena.arena.hub.rooms.values() for s in room.subscriptions]  # type: ignore[attr-defined]
    return max(queued, default=0) + max((c.buffered for c in connections), default=0)


async def flood(game: Game, count: int, size: int) -> None:
    """Have all players say much at once."""

    async def speak(seat: int) -> None:
        for number in range(count // len(game.players)):
            answer = await game.say(seat, f"{seat} {number} ".ljust(size, "x"))
            assert answer["type"] == "reply", answer

    await asyncio.gather(*(speak(seat) for seat in range(len(game.players))))


# A reader that does not read


@pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=lambda codec: str(codec.protocol))
@on_uvloop
async def test_a_stalled_spectator_costs_bounded_memory_and_gets_everything_when_it_reads_again(
    store: str, codec: Codec
) -> None:
    async with served(store, outbox_bytes=64 * KIB, page_bytes=64 * KIB) as arena:
        game = await sit_down(arena)
        async with raw_guest(arena.ws, codec, receive_buffer=SMALLEST) as stalled:
            await stalled.ask("watch", challengeId=game.id)

            await flood(game, count=400, size=16 * KIB)
            for guest in game.players:
                await guest.hear_messages(game.id, 400)
            most = untaken(arena)
            await game.end()
            stalled.hurry()
            while not [frame for frame in stalled.frames if frame["type"] == "game_ended"]:
                await stalled.read()

        assert most < 400 * KIB
        assert indexes(heard_by(stalled, game.id)) == list(range(1, 401))
        assert indexes(heard_by(stalled, game.operator_channel)) == list(range(1, 10))
        for guest in game.players:
            assert indexes(guest.messages(game.id)) == list(range(1, 401))


@on_uvloop
async def test_a_stalled_spectator_holds_nobody_up(store: str) -> None:
    async with served(store, outbox_bytes=64 * KIB, page_bytes=64 * KIB) as arena:
        game = await sit_down(arena)
        eve = await visit(arena)
        await eve.get("watch", challengeId=game.id)
        async with raw_guest(arena.ws, receive_buffer=SMALLEST) as stalled:
            await stalled.ask("watch", challengeId=game.id)
            await flood(game, count=200, size=16 * KIB)

            for number in range(201, 221):
                await game.say(0, "a word")
                await eve.hear_messages(game.id, number)

            assert len(heard_by(stalled, game.id)) < 100


@on_uvloop
async def test_a_stalled_player_that_goes_on_sending_is_not_read_from(store: str) -> None:
    async with served(store, outbox_bytes=64 * KIB, page_bytes=64 * KIB, limit_frame_bytes=0) as arena:
        game = await sit_down(arena)
        await flood(game, count=40, size=16 * KIB)
        async with raw_guest(arena.ws, receive_buffer=SMALLEST) as stalled:
            await stalled.ask("watch", challengeId=game.id)
            sync = stalled.framed(JSON.encode({"type": "sync", "channel": game.id}))

            sent = 0
            try:
                async with asyncio.timeout(1):
                    while sent < 500_000:
                        await asyncio.get_running_loop().sock_sendall(stalled.socket, sync)
                        sent += 1
            except TimeoutError:
                pass

            assert sent < 500_000
            assert untaken(arena) < 600 * KIB
            assert (await game.say(0, "the others play on"))["type"] == "reply"


@on_uvloop
async def test_a_socket_that_takes_nothing_for_too_long_is_closed(store: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="arena")
    async with served(store, limit_stall_seconds=1) as arena:
        game = await sit_down(arena)
        async with raw_guest(arena.ws, receive_buffer=SMALLEST) as stalled:
            await stalled.ask("watch", challengeId=game.id)
            await flood(game, count=500, size=16 * KIB)

            await comes_true(lambda: len(arena.uvicorn.server_state.connections) == 3, "one connection less")
            await stalled.closed()

        assert stalled.is_over
        assert [r.getMessage() for r in caplog.records if "4408" in r.getMessage()]
        assert (await game.say(0, "still here"))["type"] == "reply"


@on_uvloop
async def test_a_slow_reader_is_not_a_stalled_one(store: str) -> None:
    async with served(store, limit_stall_seconds=0.8, outbox_bytes=64 * KIB, page_bytes=64 * KIB) as arena:
        game = await sit_down(arena)
        async with raw_guest(arena.ws, receive_buffer=16 * KIB) as slow:
            await slow.ask("watch", challengeId=game.id)
            await flood(game, count=150, size=16 * KIB)

            loop = asyncio.get_running_loop()
            until = loop.time() + 3
            while loop.time() < until:
                await asyncio.sleep(0.1)
                data = await loop.sock_recv(slow.socket, 8 * KIB)
                slow.protocol.receive_data(data)
            for event in slow.protocol.events_received():
                slow._take(event)  # type: ignore[arg-type]
            while len(heard_by(slow, game.id)) < 150:
                assert await slow.read()

        assert indexes(heard_by(slow, game.id)) == list(range(1, 151))


# Coming in the middle


async def test_whoever_comes_in_the_middle_of_a_stream_gets_all_of_it_once_and_in_order(store: str) -> None:
    async with served(store, load=TALLY, page_bytes=4 * KIB) as arena:
        game = await sit_down(arena, "tally", options={"players": 4})
        rng = Random(7)

        async def come(codec: Codec, after: float) -> Guest:
            await asyncio.sleep(after)
            guest = await visit(arena, codec)
            await guest.get("watch", challengeId=game.id)
            return guest

        coming = [come(rng.choice((JSON, MSGPACK)), rng.random()) for _ in range(40)]
        *guests, _ = await asyncio.gather(*coming, flood(game, count=600, size=50))

        assert len(guests) == 40
        for guest in (*guests, *game.players):
            assert isinstance(guest, Guest)
            await guest.hear_messages(game.id, 600)
            await guest.get("ping")
            assert indexes(guest.messages(game.id)) == list(range(1, 601))


async def test_each_sender_is_heard_in_the_order_in_which_it_spoke(store: str) -> None:
    async with served(store, load=TALLY) as here, served(store, load=TALLY) as there:
        game = await sit_down(here, "tally", others=there, options={"players": 4})
        eve = await visit(there)
        await eve.get("watch", challengeId=game.id)

        await flood(game, count=200, size=20)
        heard = await eve.hear_messages(game.id, 200)

        for seat, invite in enumerate(game.invites):
            said = [m["content"].split()[:2] for m in heard if m["from"] == invite]
            assert said == [[str(seat), str(number)] for number in range(50)]
        assert heard == await game.players[0].hear_messages(game.id, 200)


async def test_a_history_of_several_pages_comes_as_initial_and_new_messages(store: str) -> None:
    async with served(store, page_bytes=4 * KIB) as arena:
        game = await sit_down(arena)
        await flood(game, count=60, size=200)
        guest, back = await visit(arena), await visit(arena)

        await guest.get("watch", challengeId=game.id)
        await guest.hear_messages(game.id, 60)
        initial = guest.of("initial", channel=game.id)[0]
        cursors = {game.id: {"index": initial["next"], "epoch": initial["epoch"]}}
        await back.get("watch", challengeId=game.id, cursors=cursors)
        await back.hear_messages(game.id, 60 - len(initial["messages"]))

        assert 0 < len(initial["messages"]) < 60
        assert initial["next"] == len(initial["messages"]) + 1
        assert indexes(guest.messages(game.id)) == list(range(1, 61))
        assert back.of("initial", channel=game.id)[0]["recovered"]
        assert indexes(back.messages(game.id)) == list(range(initial["next"], 61))


async def test_every_new_message_carries_a_cursor_that_holds(arena: Served) -> None:
    game = await sit_down(arena)
    await game.players[1].hear("initial", channel=game.id)
    await flood(game, count=10, size=10)
    await game.players[1].hear_messages(game.id, 10)

    for frame in [f for f in game.players[1].of("new_message") if f["message"]["channel"] == game.id]:
        guest = await visit(arena)
        cursors = {game.id: {"index": frame["message"]["index"] + 1, "epoch": frame["epoch"]}}
        await guest.get("watch", challengeId=game.id, cursors=cursors)

        initial = await guest.hear("initial", channel=game.id)

        assert initial["recovered"]
        assert indexes(initial["messages"]) == list(range(frame["message"]["index"] + 1, 11))


async def test_players_on_two_servers_play_together(store: str) -> None:
    async with served(store) as here, served(store) as there:
        game = await sit_down(here, others=there, users=("ada", "ben"))
        spectators = [await visit(server) for server in (here, there)]
        for eve in spectators:
            await eve.get("watch", challengeId=game.id)

        await game.say(0, "from here")
        await game.say(1, "from there")
        await game.end()

        for guest in (*game.players, *spectators):
            await guest.hear("game_ended")
            assert indexes(guest.messages(game.operator_channel)) == list(range(1, 10))
            assert [m["content"] for m in guest.messages(game.id)] == ["from here", "from there"]
        board = await spectators[1].get("leaderboard", challengeType="psi")
        assert {entry["gamesPlayed"] for entry in board["entries"]} == {1}


# News that got lost


async def test_a_feed_that_is_cut_right_before_the_last_message_costs_nobody_anything(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.hub.CHECK_PAUSE", 3600.0)  # rooms are not compared with the log anyway
    async with served(store) as here, served(store) as there:
        with connect(store) as redis:
            for _ in range(10):
                game = await sit_down(here, others=there)
                spectators = [await visit(server) for server in (here, there)]
                for eve in spectators:
                    await eve.get("watch", challengeId=game.id)
                    await eve.hear("initial", channel=game.id)
                await game.act(0, "guess", "1")

                killed = redis.client_kill_filter(_type="pubsub")
                await game.act(1, "guess", "1")

                assert killed
                for guest in (*game.players, *spectators):
                    await guest.hear("game_ended", challengeId=game.id)
                    assert indexes(guest.messages(game.operator_channel)) == list(range(1, 10))


async def test_a_server_that_was_cut_off_from_the_store_makes_good_what_it_missed(store: str) -> None:
    async with Proxy(store) as proxy, served(proxy.url) as cut, served(store) as whole:
        game = await sit_down(whole)
        eve = await visit(cut)
        await eve.get("watch", challengeId=game.id)
        await eve.hear("initial", channel=game.id)

        proxy.refuse = True
        proxy.cut_all()
        await game.say(0, "unheard")
        await game.end()
        proxy.refuse = False

        await eve.hear("game_ended")
        assert [message["content"] for message in eve.messages(game.id)] == ["unheard"]
        assert indexes(eve.messages(game.operator_channel)) == list(range(1, 10))


async def append_silently(arena: Served, game: Game, content: str) -> None:
    """Put a message into the log of which no news is given."""
    id_ = SessionId(game.id)
    entry = chat.entry(chat.player_channel(id_), Invite(game.invites[0]), content, Millis(1_700_000_000_000))
    name = keys.of(id_).player_log
    await arena.arena.nodes.run(name, "RPUSH", name, entry.pack())


async def test_a_message_without_news_is_found_within_seconds(arena: Served) -> None:
    game = await sit_down(arena)
    await game.players[1].hear("initial", channel=game.id)

    await append_silently(arena, game, "hush")

    messages = await game.players[1].hear_messages(game.id, 1)
    assert [message["content"] for message in messages] == ["hush"]


async def test_news_that_does_not_fit_has_the_hub_read_again(arena: Served) -> None:
    game = await sit_down(arena)
    await game.say(0, "one")
    await game.players[1].hear_messages(game.id, 1)

    await append_silently(arena, game, "two")
    await game.say(0, "three")
    await game.say(0, "four")

    for guest in game.players:
        messages = await guest.hear_messages(game.id, 4)
        assert [(m["index"], m["content"]) for m in messages] == [(1, "one"), (2, "two"), (3, "three"), (4, "four")]


async def test_a_log_that_lost_its_tail_is_told_anew_and_whole(arena: Served) -> None:
    game = await sit_down(arena)
    await game.players[1].hear("initial", channel=game.id)
    await flood(game, count=6, size=10)
    await game.players[1].hear_messages(game.id, 6)
    name = keys.of(SessionId(game.id)).player_log

    await arena.arena.nodes.run(name, "LTRIM", name, 0, 2)
    await game.say(0, "after the loss")

    again = await game.players[1].hear("initial", channel=game.id, next=5)
    assert not again["recovered"]
    assert indexes(again["messages"]) == [1, 2, 3, 4]
    assert again["messages"][-1]["content"] == "after the loss"
