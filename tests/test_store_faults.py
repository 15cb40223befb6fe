"""What clients see when the store, or the way to it, breaks at the worst moment."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from arena.chat import new_tag
from arena.errors import StoreUnavailable
from arena.models import SessionId, UserId
from arena.session import Join
from arena.store import keys
from arena.store.nodes import DIGESTS
from arena.store.sessions import Conflict, request_key
from arena.turn import after, apply
from tests.guests import Frame, Guest, sit_down, visit
from tests.servers import Served, served
from tests.valkeys import Proxy, Valkey, connect
from tests.watching import cursors_of, stored, tallies, until

HASTY: dict[str, Any] = {"store_patience_seconds": 0.3, "store_timeout_seconds": 0.5}


@asynccontextmanager
async def behind_a_proxy(store: str, **settings: Any) -> AsyncIterator[tuple[Served, Proxy]]:
    """A server whose way to the store can be broken."""
    async with Proxy(store) as proxy, served(proxy.url, **settings) as arena:
        yield arena, proxy


# The answer to a commit is lost


@pytest.mark.parametrize("key", [None, "k1"])
async def test_a_move_whose_commit_got_no_answer_from_the_store_is_made_once_and_answered(
    store: str, key: str | None
) -> None:
    async with behind_a_proxy(store) as (arena, proxy):
        game = await sit_down(arena)
        eve = await visit(arena)
        await eve.get("watch", challengeId=game.id)

        proxy.cut_after_next(DIGESTS["commit"].encode())
        fields = {"key": key} if key else {}
        answer = await game.act(0, "guess", "1 2 3", **fields)

        assert proxy.cuts == 1
        assert answer["result"] == {"ok": "Message sent"}
        await eve.hear_messages(game.operator_channel, 5)
        operator, _ = await stored(arena.arena, game.id)
        assert [m["content"] for m in operator].count("(guess) 1 2 3") == 1
        assert len(operator) == 5  # two sets, the move, the announcement, the verdict
        if key:
            assert (await game.act(0, "guess", "1 2 3", key=key))["result"] == {"ok": "Message sent"}
            assert (await stored(arena.arena, game.id))[0] == operator


@pytest.mark.parametrize("key", [None, "k1"])
async def test_a_chat_whose_append_got_no_answer_from_the_store_is_said_once_and_answered(
    store: str, key: str | None
) -> None:
    async with behind_a_proxy(store) as (arena, proxy):
        game = await sit_down(arena)

        proxy.cut_after_next(DIGESTS["chat"].encode())
        answer = await game.say(0, "hello", **({"key": key} if key else {}))

        assert proxy.cuts == 1
        assert answer["result"]["index"] == 1
        assert [m["content"] for m in (await stored(arena.arena, game.id))[1]] == ["hello"]
        assert [m["content"] for m in await game.players[1].hear_messages(game.id, 1)] == ["hello"]


@pytest.mark.parametrize("key", [None, "k1"])
async def test_a_join_whose_commit_got_no_answer_from_the_store_takes_the_seat_once(
    store: str, key: str | None
) -> None:
    async with behind_a_proxy(store) as (arena, proxy):
        ada = await visit(arena)
        made = await ada.get("create", challengeType="psi")
        fields = {"key": key} if key else {}

        proxy.cut_after_next(DIGESTS["commit"].encode())
        joined = await ada.get("join", invite=made["invites"][0], **fields)

        assert proxy.cuts == 1
        assert joined["playerIndex"] == 0
        assert (await arena.arena.engine.get(made["id"])).standing.players == [made["invites"][0]]
        assert len(await arena.arena.sessions.inputs(SessionId(made["id"]))) == 1
        bob = await visit(arena)
        if key:
            assert await bob.get("join", invite=made["invites"][0], key=key) == joined
        else:
            assert await bob.refusal("join", invite=made["invites"][0]) == "INVITE_ALREADY_USED"


async def test_a_session_whose_creation_got_no_answer_from_the_store_exists_once_and_is_listed(store: str) -> None:
    async with behind_a_proxy(store) as (arena, proxy):
        ada = await visit(arena)

        proxy.cut_after_next(DIGESTS["commit"].encode())
        made = await ada.get("create", challengeType="psi")

        assert proxy.cuts == 1
        assert len(made["invites"]) == 2
        lobby = await ada.get("lobby")
        assert [challenge["id"] for challenge in lobby["challenges"]] == [made["id"]]
        assert (await ada.get("join", invite=made["invites"][0]))["playerIndex"] == 0


async def test_a_last_move_whose_commit_got_no_answer_from_the_store_ends_the_game_once(store: str) -> None:
    async with behind_a_proxy(store) as (arena, proxy):
        game = await sit_down(arena, users=("ada", "ben"))
        await game.act(0, "guess", "1")

        proxy.cut_after_next(DIGESTS["commit"].encode())
        answer = await game.act(1, "guess", "1", key="last")
        again = await game.act(1, "guess", "1", key="last")

        assert proxy.cuts == 1
        assert answer["result"] == again["result"] == {"ok": "Message sent"}
        for guest in game.players:
            await guest.hear("game_ended")
        assert await arena.arena.boards.games("psi") == 1
        assert await tallies(arena.arena) == {"ada": 1, "ben": 1}


@pytest.mark.parametrize("script", ["index", "result", "place", "fold", "source", "combined", "sent"])
async def test_a_game_is_counted_once_wherever_the_connection_breaks_while_it_is_scored(
    store: str, script: str
) -> None:
    async with behind_a_proxy(store) as (arena, proxy):
        game = await sit_down(arena, users=("ada", "ben"))
        await game.act(0, "guess", "1")

        proxy.cut_after_next(DIGESTS[script].encode())
        answer = await game.act(1, "guess", "1")

        assert proxy.cuts == 1
        assert answer["result"] == {"ok": "Message sent"}
        assert await arena.arena.boards.games("psi") == 1
        assert await tallies(arena.arena) == await tallies(arena.arena, None) == {"ada": 1, "ben": 1}


async def test_a_recompute_survives_that_the_answer_to_its_switch_is_lost(store: str) -> None:
    async with behind_a_proxy(store) as (arena, proxy):
        await (await sit_down(arena, users=("ada", "ben"))).end()
        before = await arena.arena.scorer.board("psi", None)

        proxy.cut_after_next(DIGESTS["switch"].encode())
        counted = await arena.arena.scorer.recompute("psi", arena.arena.catalog.strategies["average"])

        assert proxy.cuts == 1
        assert counted == 1
        assert await arena.arena.scorer.board("psi", None) == before
        assert (await arena.arena.boards.place("psi", "average")).cursor == 1


# The store has lost the end of its history


@asynccontextmanager
async def a_store_of_its_own() -> AsyncIterator[Valkey]:
    with Valkey() as valkey:
        yield valkey


async def lose_what_came_after(valkey: Valkey, lost: Callable[[], Awaitable[None]]) -> None:
    """Have something happen, and the store forget it in a crash."""
    mark = valkey.mark()
    await lost()
    valkey.kill()
    valkey.rewind(mark)
    valkey.start()


async def test_those_who_stayed_connected_are_told_that_history_was_lost_and_get_what_is_left() -> None:
    async with a_store_of_its_own() as valkey, served(valkey.url) as arena, served(valkey.url) as other:
        game = await sit_down(arena)
        await game.say(0, "kept")
        spectators = [await visit(arena), await visit(other)]
        guests = [*game.players, *spectators]
        for eve in spectators:
            await eve.get("watch", challengeId=game.id)
        for guest in guests:
            await guest.hear_messages(game.id, 1)
            await guest.hear_messages(game.operator_channel, 2)

        async def lost() -> None:
            await game.say(0, "lost")
            await game.act(0, "guess", "1")
            for guest in guests:
                await guest.hear_messages(game.id, 2)
                await guest.hear_messages(game.operator_channel, 5)

        await lose_what_came_after(valkey, lost)

        for guest in guests:
            talk = await guest.until(lambda guest=guest: _second_initial(guest, game.id), "the talk")  # type: ignore[misc]
            assert not talk["recovered"]
            assert [m["content"] for m in talk["messages"]] == ["kept"]
            told = await guest.until(lambda guest=guest: _second_initial(guest, game.operator_channel), "the moves")  # type: ignore[misc]
            assert not told["recovered"]
            assert [m["index"] for m in told["messages"]] == [1, 2]
        assert (await game.say(0, "anew"))["result"]["index"] == 2
        for guest in guests:
            await guest.until(lambda guest=guest: _said(guest, game.id, "anew"), "what was said after")  # type: ignore[misc]
            assert len(guest.of("initial", channel=game.id)) == 2


def _second_initial(guest: Guest, channel: str) -> Frame | None:
    found = guest.of("initial", channel=channel)
    return found[1] if len(found) > 1 else None


def _said(guest: Guest, channel: str, content: str) -> bool | None:
    return any(m["content"] == content for m in guest.messages(channel)) or None


async def test_a_resume_with_cursors_of_a_lost_history_gets_all_that_is_left_and_says_so() -> None:
    async with a_store_of_its_own() as valkey, served(valkey.url) as arena:
        game = await sit_down(arena)
        await game.say(0, "kept")
        await game.players[0].hear_messages(game.id, 1)
        good = cursors_of(game.players[0])

        async def lost() -> None:
            await game.say(0, "lost")
            await game.players[0].hear_messages(game.id, 2)

        await lose_what_came_after(valkey, lost)
        bad = cursors_of(game.players[0])
        await game.say(1, "in its place")
        ada, ben = await visit(arena), await visit(arena)
        await ada.get("resume", challengeId=game.id, sessionKey=game.keys[0], cursors={game.id: bad[game.id]})
        await ben.get("resume", challengeId=game.id, sessionKey=game.keys[1], cursors={game.id: good[game.id]})

        whole = await ada.hear("initial", channel=game.id)
        assert not whole["recovered"]
        assert [m["content"] for m in whole["messages"]] == ["kept", "in its place"]
        part = await ben.hear("initial", channel=game.id)
        assert part["recovered"]
        assert [m["content"] for m in part["messages"]] == ["in its place"]


async def test_a_worker_that_remembers_a_lost_history_plays_on_with_the_one_that_is_left() -> None:
    async with a_store_of_its_own() as valkey, served(valkey.url) as arena:
        game = await sit_down(arena, users=("ada", "ben"))

        async def lost() -> None:
            assert (await game.act(0, "guess", "1"))["type"] == "reply"

        await lose_what_came_after(valkey, lost)

        assert (await game.act(0, "guess", "2"))["type"] == "reply"  # and not DUPLICATE_GUESS
        assert (await game.act(1, "guess", "2"))["type"] == "reply"
        contents = [m["content"] for m in (await stored(arena.arena, game.id))[0]]
        assert "(guess) 1" not in contents
        assert contents.count("(guess) 2") == 2
        assert await tallies(arena.arena) == {"ada": 1, "ben": 1}


async def test_a_lost_end_of_a_game_is_not_scored_and_the_game_can_end_anew() -> None:
    async with a_store_of_its_own() as valkey, served(valkey.url) as arena:
        game = await sit_down(arena, users=("ada", "ben"))
        await game.act(0, "guess", "1")

        async def lost() -> None:
            await game.act(1, "guess", "1")
            for guest in game.players:
                await guest.hear("game_ended")

        await lose_what_came_after(valkey, lost)
        assert await tallies(arena.arena) == {}
        assert (await game.act(1, "guess", "2"))["type"] == "reply"

        for guest in game.players:
            await guest.hear("game_ended")
        assert await tallies(arena.arena) == {"ada": 1, "ben": 1}
        assert await arena.arena.boards.games("psi") == 1


async def test_a_lost_version_never_passes_for_a_new_one_of_the_same_number() -> None:
    async with a_store_of_its_own() as valkey, served(valkey.url) as arena:
        sessions, engine = arena.arena.sessions, arena.arena.engine
        session = await engine.create("psi")
        first, second = session.header.invites
        mark = valkey.mark()
        await engine.join(first, UserId("lost"))
        remembered = await engine.get(session.id)
        valkey.kill()
        valkey.rewind(mark)
        valkey.start()
        await engine.join(first, UserId("ada"))

        current = await engine.get(session.id)
        assert current.version == remembered.version
        operator = arena.arena.catalog.challenge("psi").operator({})
        turn = apply(operator, remembered, Join(invite=second, at=arena.arena.clock.now()))
        with pytest.raises(Conflict):
            await sessions.commit(turn, after(turn, new_tag()), request_key(second, None), {}, None)

        assert (await engine.get(session.id)).tag == current.tag


# News do not come


async def test_a_feed_that_breaks_just_before_the_last_message_costs_nobody_the_end_of_the_game(store: str) -> None:
    async with behind_a_proxy(store) as (arena, proxy):
        game = await sit_down(arena)
        spectators = [await visit(arena) for _ in range(5)]
        for eve in spectators:
            await eve.get("watch", challengeId=game.id)
            await eve.hear_messages(game.operator_channel, 2)
        await game.act(0, "guess", "1")

        with connect(store) as redis:
            proxy.refuse = True  # so that the feed stays away until the game is over
            redis.client_kill_filter(_type="pubsub")
            await until(_no_subscribers(redis), "the feed is lost")
            assert (await game.act(1, "guess", "1"))["type"] == "reply"
            proxy.refuse = False

        for guest in [*game.players, *spectators]:
            await guest.hear("game_ended")
            assert [m["index"] for m in guest.messages(game.operator_channel)] == list(range(1, 10))


def _no_subscribers(redis: Any) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return not redis.execute_command("CLIENT", "LIST", "TYPE", "pubsub")

    return check


async def test_a_feed_without_listeners_stays_ready_for_the_next_one(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.store.feeds.BEAT", 0.02)
    async with served(store) as arena:
        game = await sit_down(arena)
        for guest in game.players:
            await guest.socket.close()
        await until(lambda: _rooms_are_closed(arena), "nobody listens")
        with connect(store) as redis:
            pings = _calls(redis, "ping")
            await until(lambda: _more_than(redis, "ping", pings + 3), "the feed shows signs of life")

        eve = await visit(arena)
        await eve.get("watch", challengeId=game.id)
        assert len(await eve.hear_messages(game.operator_channel, 2)) == 2


async def _rooms_are_closed(arena: Served) -> bool:
    return not arena.arena.hub.rooms


async def _more_than(redis: Any, command: str, calls: int) -> bool:
    return _calls(redis, command) > calls


def _calls(redis: Any, command: str) -> int:
    found = redis.info("commandstats").get(f"cmdstat_{command}", {"calls": 0})
    return int(found["calls"])


async def test_an_answer_that_is_older_than_the_news_does_not_take_the_end_of_a_game_back(store: str) -> None:
    async with served(store) as arena:
        game = await sit_down(arena)
        eve = await visit(arena)
        await eve.get("watch", challengeId=game.id)
        await eve.hear_messages(game.operator_channel, 2)
        hub = arena.arena.hub
        room = hub.rooms[SessionId(game.id)]
        await game.act(0, "guess", "1")
        await eve.hear_messages(game.operator_channel, 5)

        # A check asks where the log stands, and before it is told the game ends and everybody hears of it.
        asked = await arena.arena.sessions.heads(room.session)
        known = hub.known(room)
        await game.act(1, "guess", "1")
        await eve.hear("game_ended")
        hub._set_heads(room, asked, known)
        assert room.logs[0].head.next == 10
        await hub._check(room)
        await eve.get("watch", challengeId=game.id)
        await eve.get("ping")

        assert room.end == (9, 0)
        assert len(eve.of("game_ended")) == 1


async def test_an_end_that_could_not_be_fetched_is_told_as_soon_as_it_can(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.hub.CHECK_PAUSE", 0.05)
    async with served(store) as arena:
        game = await sit_down(arena, users=("ada", "ben"))
        await game.end()
        for guest in game.players:
            await guest.hear("game_ended")
            await guest.socket.close()
        await until(lambda: _rooms_are_closed(arena), "nobody listens")
        eve = await visit(arena)

        with connect(store) as redis:
            redis.set(keys.profile(UserId("ada")), "unreadable")  # as is what lies on a node that is away
            await eve.get("watch", challengeId=game.id)
            await eve.hear_messages(game.operator_channel, 9)
            await eve.hear("state")
            assert not eve.of("game_ended")
            redis.delete(keys.profile(UserId("ada")))

        assert (await eve.hear("game_ended"))["data"]["status"] == "ended"
        await eve.get("ping")
        assert len(eve.of("game_ended")) == 1


# The store is gone


async def ready(arena: Served) -> httpx.Response:
    async with httpx.AsyncClient() as http:
        assert (await http.get(arena.url + "/health")).status_code == 200
        return await http.get(arena.url + "/ready")


async def is_ready(arena: Served) -> bool:
    return (await ready(arena)).status_code == 200


@pytest.mark.parametrize("way", ["stopped", "killed"])
async def test_without_its_store_a_server_says_so_and_recovers_by_itself(way: str) -> None:
    async with a_store_of_its_own() as valkey, served(valkey.url, **HASTY) as arena:
        game = await sit_down(arena)
        eve = await visit(arena)
        await eve.get("watch", challengeId=game.id)
        await eve.hear_messages(game.operator_channel, 2)

        valkey.stop() if way == "stopped" else valkey.kill()
        told = await ready(arena)
        codes = [
            (await game.act(0, "guess", "1", key="move"))["code"],
            (await game.say(0, "hello", key="talk"))["code"],
            await eve.refusal("create", challengeType="psi"),
            await eve.refusal("watch", challengeId=game.id),
        ]
        valkey.start()
        await until(lambda: is_ready(arena), "ready again")

        assert told.status_code == 503
        assert "does not answer" in told.json()["reason"]
        assert valkey.url.partition("://")[2] not in told.text  # where the store is, is nobody's business
        assert codes == ["STORE_UNAVAILABLE"] * 4
        assert (await game.act(0, "guess", "1", key="move"))["type"] == "reply"
        assert (await game.say(0, "hello", key="talk"))["result"]["index"] == 1
        for guest in (*game.players, eve):
            await guest.hear_messages(game.operator_channel, 5)
            await guest.hear_messages(game.id, 1)
            assert len(guest.of("initial")) == 2  # nobody was told of a loss
        assert (await sit_down(arena)).id != game.id


async def test_a_silent_store_is_unavailable_and_what_it_did_all_the_same_is_not_done_twice(store: str) -> None:
    async with behind_a_proxy(store, **HASTY) as (arena, proxy):
        game = await sit_down(arena)

        proxy.freeze()
        code = (await game.say(0, "hello", key="talk"))["code"]
        told = await ready(arena)
        proxy.thaw()
        await until(lambda: is_ready(arena), "ready again")
        answer = await game.say(0, "hello", key="talk")

        assert (code, told.status_code) == ("STORE_UNAVAILABLE", 503)
        assert answer["result"]["index"] == 1
        assert [m["content"] for m in (await stored(arena.arena, game.id))[1]] == ["hello"]


async def test_a_store_that_is_full_is_unavailable_and_the_server_lives_on(store: str) -> None:
    async with served(store, **HASTY) as arena:
        game = await sit_down(arena)

        with connect(store) as redis:
            redis.config_set("maxmemory", 1)
            try:
                codes = [(await game.act(0, "guess", "1"))["code"], (await game.say(0, "hello"))["code"]]
                # Long enough for every duty of the server to have met the full store.
                await until(lambda: _has_beaten(arena), "the worker tries to show signs of life")
            finally:
                redis.config_set("maxmemory", 0)

        assert codes == ["STORE_UNAVAILABLE"] * 2
        assert (await game.act(0, "guess", "1"))["type"] == "reply"
        assert (await game.say(0, "hello"))["result"]["index"] == 1
        assert not arena.uvicorn.should_exit


async def _has_beaten(arena: Served) -> bool:
    """Whether the server has tried to write something of its own and failed."""
    try:
        await arena.arena._divide()
    except StoreUnavailable:
        return True
    return False
