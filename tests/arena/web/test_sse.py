"""The SSE door: what a reader gets, in which order and how, and what it does not get to see."""

import asyncio
from random import Random

import httpx
import pytest

from arena.auth import session_key
from arena.chat import entry
from arena.models import Channel, Invite, Millis, SessionId
from arena.store import keys
from arena.wire import JSON
from tests.guests import Frame, comes_true, sit_down, visit
from tests.servers import Served, served
from tests.streams import Reader, read, reading, stream_of
from tests.valkeys import Proxy

KIB = 1024
NOW = Millis(1_700_000_000_000)


def indexes(messages: list[Frame]) -> list[int]:
    return [message["index"] for message in messages]


def contents(messages: list[Frame]) -> list[str]:
    return [message["content"] for message in messages]


# What it looks like


@pytest.mark.parametrize("base", ["/api", "/api/v1"])
async def test_the_answer_has_the_headers_of_the_protocol_each_once(arena: Served, base: str) -> None:
    async with reading(stream_of(arena, "invites", base)) as reader:
        assert reader.status == 200
        expected = {
            "content-type": "text/event-stream",
            "cache-control": "no-cache, no-transform",
            "connection": "keep-alive",
            "x-accel-buffering": "no",
            "x-content-type-options": "nosniff",
            "access-control-allow-origin": "*",
            "access-control-allow-methods": "GET",
            "access-control-allow-headers": "Cache-Control",
        }
        names = [name for name, _ in reader.headers]
        assert {name: value for name, value in reader.headers if name in expected} == expected
        assert all(names.count(name) == 1 for name in expected)
        assert "content-length" not in names


@pytest.mark.parametrize("channel", ["lab/talk", "/", "50%2F", "ünï/{x}"])
async def test_a_channel_with_a_slash_in_its_name_is_read_as_it_is_written(arena: Served, channel: str) -> None:
    async with httpx.AsyncClient(base_url=arena.url) as client:
        await client.post("/api/chat/send", json={"channel": channel, "from": "ada", "content": "hello"})
        strange = [(await client.get(f"/api/chat/ws/{path}")).status_code for path in ("", "lab/talk", "lobby/")]

    reader = await read(arena, channel)

    assert contents(await reader.hear_messages(1)) == ["hello"]
    assert strange == [404] * 3


async def test_events_carry_the_very_bytes_of_the_frames_that_the_websocket_sends(arena: Served) -> None:
    game = await sit_down(arena, users=("ada", "ben"))
    eve = await visit(arena)
    await eve.get("watch", challengeId=game.id)
    readers = {channel: await read(arena, channel) for channel in (game.operator_channel, game.id)}
    for channel, reader in readers.items():
        await reader.hear("initial")
        await eve.hear("initial", channel=channel)

    await game.say(0, "Grüße,\r\n\n \u2028 data: {}")
    await game.say(1, "psst", to=game.invites[0])
    await game.end()
    for reader in readers.values():
        await reader.hear("game_ended")
    await eve.hear("game_ended")

    for channel, reader in readers.items():
        sent = eve.of("initial", channel=channel)
        sent += [f for f in eve.of("new_message") if f["message"]["channel"] == channel]
        sent += eve.of("game_ended")
        assert [event.data for event in reader.events] == [JSON.encode(frame) for frame in sent]


async def test_ids_are_index_and_epoch_of_the_last_message(arena: Served) -> None:
    game = await sit_down(arena)
    reader = await read(arena, game.id)
    empty = await reader.hear("initial")
    await game.say(0, "one")
    await game.say(0, "two")

    live = [await reader.hear("new_message") for _ in range(2)]
    initial = await (await read(arena, game.id)).hear("initial")

    assert empty.id == "0."
    assert [event.id for event in live] == [f"{n}.{event.frame['epoch']}" for n, event in enumerate(live, 1)]
    assert initial.id == live[1].id


@pytest.mark.parametrize("prefix", ["", "challenge_"])
async def test_a_session_that_does_not_exist_has_an_empty_history(arena: Served, prefix: str) -> None:
    reader = await read(arena, prefix + keys.new_session_id())

    assert (await reader.hear("initial")).frame["messages"] == []


@pytest.mark.parametrize("channel", ["lobby", "challenge_", "a:f:b c", "__proto__", "x" * 1000, "ä\n\x00"])
async def test_any_other_name_has_an_empty_history(arena: Served, channel: str) -> None:
    reader = await read(arena, channel)

    assert (await reader.hear("initial")).frame["messages"] == []


async def test_only_get_and_head_are_answered(arena: Served) -> None:
    url = stream_of(arena, "invites")
    async with httpx.AsyncClient() as client:
        head = await client.head(url)
        post = await client.post(url)

    assert (head.status_code, head.headers["content-type"], head.content) == (200, "text/event-stream", b"")
    assert (post.status_code, post.text) == (404, "404 Not Found")


async def test_pings_come_in_time_while_nothing_else_does(store: str) -> None:
    async with served(store, event_ping_seconds=0.1) as arena:
        game = await sit_down(arena)
        reader, idle = await read(arena, game.id), await read(arena, keys.new_session_id())

        for one in (reader, idle):
            while one.pings < 3:
                assert await one.read()
        await game.say(0, "hello")

        assert (await reader.hear("new_message")).frame["message"]["content"] == "hello"
        assert len(idle.events) == 1


# Who sees what


async def test_each_viewer_sees_its_own_direct_messages_and_nobody_elses(arena: Served) -> None:
    game = await sit_down(arena)
    ada, ben = game.invites
    await game.say(0, "before", to=ben)
    await game.say(0, "to whom?", to="viewer")
    views = {name: await read(arena, game.id, **{"from": name}) for name in (ada, ben, "viewer", "operator", "", "eve")}
    views["nobody"] = await read(arena, game.id)
    for reader in views.values():
        await reader.hear("initial")

    await game.say(0, "after", to=ben)
    await game.say(1, "to all")

    for name, reader in views.items():
        seen = await reader.hear_messages(4)
        told = {ada: ["before", "to whom?", "after"], ben: ["before", "", "after"]}.get(name, ["", "", ""])
        assert contents(seen) == [*told, "to all"]
        assert [message.get("redacted", False) for message in seen] == [not text for text in [*told, "to all"]]


async def test_live_events_keep_redacting_after_the_end_and_a_new_stream_sees_the_operator_channel_open(
    arena: Served,
) -> None:
    game = await sit_down(arena, users=("ada", "ben"))
    await game.say(0, "psst", to=game.invites[1])
    early, chatter = await read(arena, game.operator_channel), await read(arena, game.id)
    await early.hear("initial")
    await game.end()
    await early.hear("game_ended")
    await chatter.hear("game_ended")
    await game.say(1, "still psst", to=game.invites[0])
    await chatter.hear("new_message")

    late, talk = await read(arena, game.operator_channel), await read(arena, game.id)
    revealed = (await late.hear("initial")).frame["messages"]
    hidden = (await talk.hear("initial")).frame["messages"]

    assert [m["index"] for m in early.messages if m.get("redacted")] == [1, 2, 3, 5, 6, 8]
    assert all(message["content"] and "redacted" not in message for message in revealed)
    assert contents(hidden) == contents(chatter.messages) == ["", ""]


async def test_a_session_key_opens_the_view_of_its_seat_and_a_bad_one_nothing(store: str) -> None:
    async with served(store) as arena, served(store, auth="required", auth_secret="a long random text") as strict:
        game = await sit_down(arena)
        await game.say(0, "psst", to=game.invites[1])
        key = session_key(strict.arena.ring, SessionId(game.id), 1, Invite(game.invites[1]))
        bearer = {"authorization": f"Bearer {key}"}

        by_query = await read(strict, game.id, key=key)
        async with reading(stream_of(strict, game.id), bearer) as by_header:
            named = await read(strict, game.id, **{"from": game.invites[1]})
            views = [(await one.hear("initial")).frame["messages"] for one in (by_query, by_header, named)]
        async with httpx.AsyncClient() as client:
            refused = [
                await client.get(stream_of(strict, game.id, key=key + "0")),
                await client.get(stream_of(strict, game.id, key=key), headers={"authorization": "Bearer nonsense"}),
                await client.get(stream_of(strict, keys.new_session_id(), key=key)),
                await client.get(stream_of(strict, "lobby", key=key)),
                await client.head(stream_of(strict, game.id, key=key + "0")),
            ]

        assert [contents(view) for view in views] == [["psst"], ["psst"], [""]]
        assert [answer.status_code for answer in refused] == [401] * 5
        assert refused[0].json()["error"] == "Authentication required"


# The end of a game


async def test_the_end_is_told_once_on_both_channels_with_profiles_and_the_streams_go_on(arena: Served) -> None:
    game = await sit_down(arena, users=("ada", "ben"))
    name = keys.profile("ada")
    await arena.arena.nodes.run(name, "HSET", name, "userId", "ada", "username", "Ada")
    await game.players[0].hear("state", spectators=0)  # which is not for streams, be it there before them
    operator, chatter = await read(arena, game.operator_channel), await read(arena, game.id)
    for reader in (operator, chatter):
        await reader.hear("initial")
    await game.players[0].hear("state", spectators=2)  # or come later

    await game.end()
    ends = [await reader.hear("game_ended") for reader in (operator, chatter)]
    await game.say(0, "well played")
    await chatter.hear("new_message")

    assert ends[0].data == ends[1].data
    data = ends[0].frame["data"]
    assert data["status"] == "ended"
    assert data["profiles"] == {"ada": {"userId": "ada", "username": "Ada"}}
    assert [frame["type"] for frame in operator.frames] == ["initial", *["new_message"] * 7, "game_ended"]
    assert [frame["type"] for frame in chatter.frames] == ["initial", "game_ended", "new_message"]


async def test_whoever_comes_after_the_end_is_told_right_after_the_history(arena: Served) -> None:
    game = await sit_down(arena)
    await game.say(0, "hello")
    await game.end()

    for channel in (game.id, game.operator_channel):
        reader = await read(arena, channel)
        await reader.hear("game_ended")

        assert [frame["type"] for frame in reader.frames] == ["initial", "game_ended"]


# Coming back


async def test_a_reader_that_comes_back_gets_only_what_it_missed(arena: Served) -> None:
    game = await sit_down(arena)
    first = await read(arena, game.id)
    for number in range(5):
        await game.say(0, str(number))
    heard = [await first.hear("new_message") for _ in range(5)]

    for last in (heard[2].id, "3"):
        initial = (await (await read(arena, game.id, last)).hear("initial")).frame
        assert initial["recovered"]
        assert contents(initial["messages"]) == ["3", "4"]
    newest = (await (await read(arena, game.id, heard[4].id)).hear("initial")).frame
    assert (newest["recovered"], newest["messages"]) == (True, [])


@pytest.mark.parametrize("last", ["2.0123456789abcdef", "2.", "17", "0", "0.", "-1", "x", "2.x", "9" * 40, "1e3", "٣"])
async def test_a_cursor_that_does_not_hold_brings_the_whole_history(arena: Served, last: str) -> None:
    game = await sit_down(arena)
    for number in range(3):
        await game.say(0, str(number))

    async with reading(stream_of(arena, game.id), {"last-event-id": last}) as reader:
        initial = (await reader.hear("initial")).frame

    assert not initial["recovered"]
    assert contents(initial["messages"]) == ["0", "1", "2"]


async def test_a_history_of_several_pages_comes_as_initial_and_new_messages(store: str) -> None:
    async with served(store, page_bytes=4 * KIB) as arena:
        game = await sit_down(arena)
        for number in range(60):
            await game.say(number % 2, "x" * 200)
        reader = await read(arena, game.id)

        initial = (await reader.hear("initial")).frame
        messages = await reader.hear_messages(60)
        await game.say(0, "live")
        await reader.hear_messages(61)

        assert 0 < len(initial["messages"]) < 60
        assert initial["next"] == len(initial["messages"]) + 1
        assert indexes(messages) == list(range(1, 61))
        assert indexes(reader.messages) == list(range(1, 62))


async def test_nothing_is_lost_or_doubled_between_history_and_live_events(store: str) -> None:
    async with served(store, page_bytes=4 * KIB) as here, served(store, page_bytes=4 * KIB) as there:
        game = await sit_down(here, others=there)
        rng = Random(7)

        async def come(after: float) -> Reader:
            await asyncio.sleep(after)
            reader = await read(rng.choice((here, there)), game.id, **{"from": rng.choice([*game.invites, ""])})
            await reader.hear_messages(400)
            return reader

        async def speak(seat: int) -> None:
            for number in range(200):
                await game.say(seat, f"{seat} {number}")

        *readers, _, _ = await asyncio.gather(*(come(rng.random()) for _ in range(40)), speak(0), speak(1))
        await game.end()

        for reader in readers:
            assert reader is not None
            await reader.hear("game_ended")
            assert indexes(reader.messages) == list(range(1, 401))


async def test_a_reader_that_comes_back_again_and_again_misses_nothing(arena: Served) -> None:
    game = await sit_down(arena)
    heard: list[int] = []

    async def follow() -> None:
        last = ""
        while len(heard) < 200:
            async with reading(stream_of(arena, game.id), {"last-event-id": last}) as reader:
                await reader.hear("initial")
                await reader.hear_messages(min(3, 200 - len(heard)))
                heard.extend(indexes(reader.messages))
                last = reader.events[-1].id or last

    async def speak() -> None:
        for number in range(200):
            await game.say(0, str(number))

    await asyncio.gather(follow(), speak())

    assert heard == list(range(1, 201))


# Channels of no session


async def announce(arena: Served, channel: str, content: str, to: str | None = None) -> None:
    """Append to a channel of no session, with the news that a script of the store gives of it."""
    made = entry(Channel(channel), "operator", content, NOW, to=to)
    log, feed = keys.log(Channel(channel)), keys.feed(keys.room_of(Channel(channel)))
    script = """
      local before, last = redis.call('LLEN', KEYS[1]), redis.call('LINDEX', KEYS[1], -1)
      redis.call('RPUSH', KEYS[1], ARGV[1])
      redis.call('SPUBLISH', KEYS[2], 'p ' .. before .. ' ' .. (last and string.sub(last, 1, 16) or '-')
        .. '\\n' .. ARGV[1])"""
    await arena.arena.nodes.run(log, "EVAL", script, 2, log, feed, made.pack())


@pytest.mark.parametrize("channel", ["invites", "a:f:b", "challenge_x"])
async def test_a_channel_of_no_session_is_live_on_all_servers(
    store: str, channel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.hub.CHECK_PAUSE", 3600)  # the feed alone has to do
    async with served(store) as here, served(store) as there:
        await announce(here, channel, "first")
        readers = [await read(server, channel) for server in (here, there)]
        ben = await read(here, channel, **{"from": "ben"})
        for reader in (*readers, ben):
            assert contents((await reader.hear("initial")).frame["messages"]) == ["first"]

        await announce(here, channel, "second")
        await announce(there, channel, "psst", to="ben")

        for reader in readers:
            assert contents(await reader.hear_messages(3)) == ["first", "second", ""]
        assert contents(await ben.hear_messages(3)) == ["first", "second", "psst"]
        again = (await (await read(there, channel, readers[0].events[-1].id)).hear("initial")).frame
        assert (again["recovered"], again["messages"]) == (True, [])


async def test_a_message_without_news_is_found_within_seconds(arena: Served) -> None:
    reader = await read(arena, "invites")
    await reader.hear("initial")

    name = keys.log(Channel("invites"))
    await arena.arena.nodes.run(name, "RPUSH", name, entry(Channel("invites"), "operator", "hush", NOW).pack())

    assert (await reader.hear("new_message")).frame["message"]["content"] == "hush"


async def test_the_room_of_a_channel_is_closed_when_its_last_reader_has_left(arena: Served) -> None:
    async with reading(stream_of(arena, "invites")) as reader:
        await reader.hear("initial")
        assert "invites" in arena.arena.hub.rooms

    await comes_true(lambda: not arena.arena.hub.rooms, "no rooms")


# Presence


async def test_a_stream_is_a_spectator_or_the_connection_of_its_seat(arena: Served) -> None:
    game = await sit_down(arena)
    await game.players[0].socket.close()
    ben = game.players[1]
    await ben.hear("state", connected=[game.invites[1]], spectators=0)

    async with reading(stream_of(arena, game.id, **{"from": game.invites[0]})):
        await ben.hear("state", connected=game.invites, spectators=0)
    await ben.hear("state", connected=[game.invites[1]], spectators=0)
    async with reading(stream_of(arena, game.id)), reading(stream_of(arena, game.id, **{"from": "e%0av%20e"})):
        await ben.hear("state", connected=[game.invites[1]], spectators=2)
    await ben.hear("state", connected=[game.invites[1]], spectators=0)


# When the store does not answer


async def test_a_stream_that_cannot_begin_is_refused_with_a_code(store: str) -> None:
    async with Proxy(store) as proxy, served(proxy.url, store_patience_seconds=0.3) as arena:
        proxy.refuse = True
        proxy.cut_all()

        async with httpx.AsyncClient() as client:
            answer = await client.get(stream_of(arena, "invites"), timeout=10)

        assert (answer.status_code, answer.json()["code"]) == (503, "STORE_UNAVAILABLE")


async def test_a_stream_goes_on_where_it_was_when_the_store_is_back(store: str) -> None:
    async with Proxy(store) as proxy, served(proxy.url) as cut, served(store) as whole:
        game = await sit_down(whole)
        reader = await read(cut, game.id)
        await reader.hear("initial")

        proxy.refuse = True
        proxy.cut_all()
        await game.say(0, "unheard")
        proxy.refuse = False

        assert (await reader.hear("new_message")).frame["message"]["content"] == "unheard"
