"""The feeds behind lobby and boards: listened to while somebody wants to know, and what they lost is made good."""

from typing import Any

import orjson
import pytest

from arena import lobby
from arena.models import SessionId
from arena.store import boards, keys
from tests.guests import Guest, comes_true, sit_down, visit
from tests.servers import Served, served
from tests.sockets import SMALLEST, raw_guest
from tests.valkeys import Proxy, connect

TALLY = "tests.plugins.tally"
FEEDS = [keys.LOBBY_FEED, boards.feed("psi"), boards.feed(boards.GLOBAL)]


def listeners(store: str) -> dict[str, int]:
    """How many servers listen to each of the feeds."""
    with connect(store) as redis:
        found: Any = redis.execute_command("PUBSUB", "SHARDNUMSUB", *FEEDS)
    flat = found if isinstance(found[0], bytes) else [part for pair in found for part in pair]
    return {name.decode(): int(count) for name, count in zip(flat[::2], flat[1::2], strict=True)}


async def follow_all(guest: Guest) -> None:
    await guest.get("lobby")
    await guest.get("leaderboard", challengeType="psi")
    await guest.get("leaderboard")


async def leave_all(guest: Guest) -> None:
    await guest.get("lobby", off=True)
    await guest.get("leaderboard", challengeType="psi", off=True)
    await guest.get("leaderboard", off=True)


async def hear_end(guest: Guest, id_: str) -> None:
    """Wait until the lobby has told that a session ended."""

    def find() -> bool | None:
        return any(f["challenge"]["id"] == id_ for f in guest.of("session", event="ended")) or None

    await guest.until(find, f"the end of {id_}")


async def test_a_feed_is_listened_to_until_the_last_guest_has_left(arena: Served, store: str) -> None:
    polite, sudden = await visit(arena), await visit(arena)

    before = listeners(store)
    for guest in (polite, sudden):
        await follow_all(guest)
    during = listeners(store)
    await leave_all(polite)
    await polite.get("ping")
    still = listeners(store)
    await sudden.socket.close()

    await comes_true(lambda: set(listeners(store).values()) == {0}, "nobody listens any more")
    assert set(before.values()) == {0}
    assert during == still == dict.fromkeys(FEEDS, 1)


async def test_a_guest_who_comes_after_the_last_has_left_hears_again(arena: Served, store: str) -> None:
    first, second = await visit(arena), await visit(arena)
    for _ in range(3):
        await follow_all(first)
        await leave_all(first)

    await follow_all(second)
    game = await sit_down(arena, users=("ada", "ben"))
    await game.end()

    await hear_end(second, game.id)
    await second.hear("leaderboard", challengeType="psi")
    assert not first.of("session")


@pytest.mark.parametrize("how", ["the feed alone is killed", "the store is out of reach"])
async def test_the_end_of_a_game_that_the_lobby_missed_is_told_when_its_feed_is_back(store: str, how: str) -> None:
    async with Proxy(store) as proxy, served(proxy.url) as cut, served(store) as whole:
        guest, game = await visit(cut), await sit_down(whole)
        await guest.get("lobby")

        proxy.refuse = True
        if "alone" in how:
            with connect(store) as redis:
                redis.client_kill_filter(_type="pubsub")
        else:
            proxy.cut_all()
        await game.end()
        proxy.refuse = False

        await hear_end(guest, game.id)


async def test_a_session_that_was_removed_while_the_feed_was_cut_is_told(store: str) -> None:
    async with Proxy(store) as proxy, served(proxy.url) as cut, served(store, open_seconds=0.5) as whole:
        guest, host = await visit(cut), await visit(whole)
        made = await host.get("create", challengeType="psi")
        await host.get("lobby")
        await guest.get("lobby")

        proxy.refuse = True
        proxy.cut_all()
        await host.hear("session", event="removed")
        proxy.refuse = False

        removed = await guest.hear("session", event="removed")
        assert removed["challenge"]["id"] == made["id"]
        assert removed["challenge"]["challengeType"] == "psi"


async def test_a_session_that_was_created_while_the_feed_was_cut_is_told(store: str) -> None:
    async with Proxy(store) as proxy, served(proxy.url) as cut, served(store) as whole:
        guest, host, known = await visit(cut), await visit(whole), await sit_down(whole)
        await guest.get("lobby")

        proxy.refuse = True
        proxy.cut_all()
        made = await host.get("create", challengeType="psi")
        await known.end()
        proxy.refuse = False
        await hear_end(guest, known.id)  # what was missed is being made good
        await known.say(0, "and now?")
        later = await host.get("create", challengeType="psi")
        await guest.until(lambda: later["id"] in told(guest) or None, "what came after")

        assert made["id"] in told(guest)


async def test_sessions_created_while_the_feed_was_cut_are_told_to_those_who_follow_their_type(store: str) -> None:
    async with Proxy(store) as proxy, served(proxy.url, load=TALLY) as cut, served(store, load=TALLY) as whole:
        everything, psi, host = await visit(cut), await visit(cut), await visit(whole)
        await everything.get("lobby")
        await psi.get("lobby", challengeType="psi")

        proxy.refuse = True
        proxy.cut_all()
        made = [await host.get("create", challengeType="tally") for _ in range(3)]
        running, hidden = await sit_down(whole), await sit_down(whole, private=True)
        proxy.refuse = False
        await psi.hear("session", event="created")
        await everything.until(lambda: {m["id"] for m in made} <= told(everything) or None, "all that was created")
        later = await host.get("create", challengeType="psi")
        await psi.until(lambda: later["id"] in told(psi) or None, "what came after")

        assert told(psi) == {running.id, later["id"]}
        assert hidden.id not in told(everything)
        first = next(frame for frame in psi.of("session") if frame["challenge"]["id"] == running.id)
        assert first["challenge"]["state"]["status"] == "active"


async def test_a_session_that_could_not_be_loaded_when_its_news_came_is_told_later(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        Proxy(store) as proxy,
        served(proxy.url, store_patience_seconds=0.2) as cut,
        served(store) as whole,
    ):
        guest, host = await visit(cut), await visit(whole)
        await guest.get("lobby")

        proxy.refuse = True
        with connect(store) as redis:
            redis.client_kill_filter(_type="normal", skipme=True)  # all but the feeds
        made = await host.get("create", challengeType="psi")
        await comes_true(lambda: "put off work=lobby news" in caplog.text, "it was tried in vain")
        proxy.refuse = False

        await guest.until(lambda: made["id"] in told(guest) or None, "the session")


async def test_a_guest_who_lags_is_told_later_of_what_could_not_be_loaded_when_it_had_room(store: str) -> None:
    async with (
        Proxy(store) as proxy,
        served(proxy.url, store_patience_seconds=0.2) as cut,
        served(store) as whole,
        raw_guest(cut.ws, receive_buffer=SMALLEST) as stalled,
    ):
        host = await visit(whole)
        await stalled.ask("lobby")
        [lagging] = cut.arena.lobby.guests.values()
        for _ in range(200):
            lagging.listener.push(lagging.listener.codec.encode({"type": "filler", "data": "x" * 30_000}))
        await comes_true(lambda: not lagging.listener.has_room, "the socket takes no more")
        made = await host.get("create", challengeType="psi")
        await comes_true(lambda: lagging.waiting, "it waits")

        proxy.refuse = True
        with connect(store) as redis:
            redis.client_kill_filter(_type="normal", skipme=True)  # all but the feeds
        stalled.hurry()
        while lagging.waiting:
            assert await stalled.read()
        await comes_true(lambda: lagging.waiting, "it was tried in vain, and waits again")
        proxy.refuse = False

        assert (await stalled.hear("session"))["challenge"]["id"] == made["id"]


async def test_more_news_than_can_wait_are_told_all_the_same(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lobby, "NEWS", 8)
    async with served(store) as arena:
        guest, host = await visit(arena), await visit(arena)
        made = {(await host.get("create", challengeType="psi"))["id"] for _ in range(20)}
        await guest.get("lobby")

        with connect(store) as redis, redis.pipeline(transaction=False) as together:
            for id_ in made:
                news = {"event": "started", "id": id_, "type": "psi", "createdAt": 1}
                together.execute_command("SPUBLISH", keys.LOBBY_FEED, orjson.dumps(news))
            together.execute()

        await guest.until(lambda: made <= told(guest) or None, "all of them")


def told(guest: Guest) -> set[str]:
    return {frame["challenge"]["id"] for frame in guest.of("session")}


async def test_a_guest_who_lags_is_told_of_a_removed_session_with_its_type(store: str) -> None:
    async with served(store, open_seconds=2, outbox_bytes=8 * 1024, load="tests.plugins.tally") as arena:
        witness, game = await visit(arena), await sit_down(arena)
        await witness.get("lobby")
        async with raw_guest(arena.ws, receive_buffer=SMALLEST) as stalled:
            await stalled.ask("lobby")
            await stalled.ask("watch", challengeId=game.id)
            lagging = next(s.listener for s in arena.arena.hub.rooms[game.id].subscriptions if s.viewer is None)  # type: ignore[index]
            while lagging.has_room:
                await game.say(0, "x" * 30_000)

            made = await witness.get("create", challengeType="tally")
            await witness.hear("session", event="removed")
            stalled.hurry()
            while not (found := removals(stalled.frames)):
                assert await stalled.read()

        assert [frame["challenge"]["id"] for frame in found] == [made["id"]]
        assert found[0]["challenge"]["challengeType"] == "tally"
        assert found[0]["challenge"]["createdAt"] == made["createdAt"]


def removals(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [frame for frame in frames if frame["type"] == "session" and frame["event"] == "removed"]


async def test_a_board_that_cannot_be_read_keeps_nobody_from_the_news_of_sessions(arena: Served, store: str) -> None:
    eve, game = await visit(arena), await sit_down(arena, users=("ada", "ben"))
    await game.end()
    other = await sit_down(arena)
    await follow_all(eve)
    here = arena.arena.lobby
    with connect(store) as redis:
        redis.set(keys.profile("ada"), "unreadable")

        here.hear(boards.feed("psi"), b"average")
        here.touch(SessionId(other.id))
        await here._keep_up()

    def find() -> bool | None:
        return any(f["challenge"]["id"] == other.id for f in eve.of("session", event="changed")) or None

    await eve.until(find, "the change of the other session")
