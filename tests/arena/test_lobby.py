"""The lobby and the boards: news of all public sessions, for those who follow no game in particular."""

import asyncio
from typing import Any

import pytest

from arena.models import SessionId
from arena.room import Subscription
from arena.wire import JSON, MSGPACK, Codec
from tests.guests import Frame, Game, Guest, comes_true, sit_down, visit
from tests.servers import Served, served
from tests.sockets import SMALLEST, raw_guest
from tests.valkeys import Proxy

TALLY = "tests.plugins.tally"

both_codecs = pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=lambda codec: str(codec.protocol))


async def news(guest: Guest, event: str, id_: str) -> Frame:
    """The next session frame about this event of this session."""
    while True:
        frame = await guest.hear("session", event=event)
        if frame["challenge"]["id"] == id_:
            return frame


def told_of(guest: Guest, id_: str) -> list[str]:
    return [frame["event"] for frame in guest.of("session") if frame["challenge"]["id"] == id_]


async def test_the_lobby_answers_with_open_and_active_sessions_and_no_ended_ones(arena: Served) -> None:
    host, guest = await visit(arena), await visit(arena)
    waiting = await host.get("create", challengeType="psi")
    running, over = await sit_down(arena), await sit_down(arena)
    await over.end()

    found = await guest.get("lobby")

    shown = {challenge["id"]: challenge for challenge in found["challenges"]}
    assert set(shown) == {waiting["id"], running.id}
    assert found["total"] == 2
    assert shown[waiting["id"]]["state"]["status"] == "open"
    assert shown[waiting["id"]]["invites"] == ["", ""]
    assert shown[running.id]["invites"] == running.invites
    assert shown[running.id]["gameState"] == {}


async def test_whoever_enters_the_lobby_sees_what_was_said_last_and_how_many_watch(arena: Served) -> None:
    running, watched = await sit_down(arena), await sit_down(arena)
    guest, spectator = await visit(arena), await visit(arena)
    await running.say(0, "hello")
    await running.say(0, "between us", to=running.invites[1])
    await spectator.get("watch", challengeId=watched.id)
    await spectator.hear("state", challengeId=watched.id, spectators=1)

    found = await guest.get("lobby")

    assert found["lastLines"][running.id]["content"] == "hello"
    assert found["spectators"] == {watched.id: 1}


async def test_the_lobby_is_told_how_many_watch(store: str) -> None:
    async with served(store) as one, served(store) as other:
        game, guest, spectator = await sit_down(one), await visit(other), await visit(one)
        await guest.get("lobby")

        await spectator.get("watch", challengeId=game.id)
        came = await guest.hear("session", spectators=1)
        await spectator.get("unwatch", challengeId=game.id)
        left = await guest.hear("session", spectators=0)

    assert came["challenge"]["id"] == left["challenge"]["id"] == game.id


@both_codecs
async def test_the_lobby_is_told_what_becomes_of_a_session(arena: Served, codec: Codec) -> None:
    guest = await visit(arena, codec)
    await guest.get("lobby")

    game = await sit_down(arena, users=("ada", "ben"))
    started = await news(guest, "started", game.id)
    await game.say(0, "hello")
    changed = await news(guest, "changed", game.id)
    await game.end()
    ended = await news(guest, "ended", game.id)

    created = guest.of("session", event="created")[0]
    assert created["challenge"]["invites"] == ["", ""]
    assert created["challenge"]["state"]["scores"] == []
    assert started["challenge"]["state"]["status"] == "active"
    assert started["challenge"]["state"]["playerIdentities"] == {}
    assert changed["lastLine"]["content"] == "hello"
    assert ended["challenge"]["state"]["status"] == "ended"
    assert ended["challenge"]["state"]["playerIdentities"] == dict(zip(game.invites, ("ada", "ben"), strict=True))
    told = [event for event in told_of(guest, game.id) if event != "changed"]
    assert told == ["created", "started", "ended"]


async def test_the_last_line_is_the_newest_that_everybody_may_read(arena: Served) -> None:
    guest = await visit(arena)
    await guest.get("lobby")
    game = await sit_down(arena)
    await game.say(0, "in public")
    await game.say(1, "in private", to=game.invites[0])

    changed = await news(guest, "changed", game.id)
    await game.end()
    ended = await news(guest, "ended", game.id)

    assert changed["lastLine"]["content"] == "in public"
    assert ended["lastLine"]["content"].startswith("Game ended.")
    assert "in private" not in str(guest.frames)
    assert "private set" not in str(guest.frames)


async def test_a_session_in_which_nothing_public_was_said_has_no_last_line(arena: Served) -> None:
    guest = await visit(arena)
    await guest.get("lobby")

    game = await sit_down(arena)
    started = await news(guest, "started", game.id)

    assert "lastLine" not in started


async def test_a_session_that_is_removed_is_told(store: str) -> None:
    async with served(store, open_seconds=0.3) as arena:
        host, guest = await visit(arena), await visit(arena)
        await guest.get("lobby")

        made = await host.get("create", challengeType="psi")
        removed = await news(guest, "removed", made["id"])

        assert removed["challenge"]["challengeType"] == "psi"
        assert removed["challenge"]["createdAt"] == made["createdAt"]
        assert removed["challenge"]["invites"] == []
        assert (await guest.get("lobby"))["challenges"] == []


async def test_a_private_session_is_nowhere_in_the_lobby(arena: Served) -> None:
    guest = await visit(arena)
    await guest.get("lobby")

    hidden = await sit_down(arena, private=True)
    await hidden.say(0, "just us")
    await hidden.end()
    shown = await sit_down(arena)
    await news(guest, "started", shown.id)
    await shown.say(0, "hello")
    await news(guest, "changed", shown.id)
    entered = await (await visit(arena)).get("lobby")

    assert hidden.id not in str(guest.frames)
    assert [challenge["id"] for challenge in entered["challenges"]] == [shown.id]
    assert entered["total"] == 1


async def test_a_private_session_can_be_played_and_watched_by_those_who_know_it(arena: Served) -> None:
    hidden = await sit_down(arena, private=True)
    friend = await visit(arena)

    watched = await friend.get("watch", challengeId=hidden.id)

    assert watched["id"] == hidden.id
    assert len(await friend.hear_messages(hidden.operator_channel, 2)) == 2


async def test_the_lobby_of_a_type_hears_of_no_other(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        guest, everything = await visit(arena), await visit(arena)
        other = await sit_down(arena, "tally")
        first = await guest.get("lobby", challengeType="psi")
        await everything.get("lobby")

        unheard = await sit_down(arena, "tally")
        heard = await sit_down(arena, "psi")
        await news(guest, "started", heard.id)

        assert first["challenges"] == []
        assert {frame["challenge"]["id"] for frame in guest.of("session")} == {heard.id}
        assert {"created", "started"} <= set(told_of(everything, unheard.id))
        assert "created" not in told_of(everything, other.id)


async def test_whoever_leaves_the_lobby_hears_no_more(arena: Served) -> None:
    guest, witness = await visit(arena), await visit(arena)
    await guest.get("lobby")
    await witness.get("lobby")

    answer = await guest.get("lobby", off=True)
    game = await sit_down(arena)
    await news(witness, "started", game.id)
    await guest.get("ping")

    assert answer == {}
    assert not guest.of("session")


async def test_changes_of_a_session_are_told_at_most_once_a_second(arena: Served) -> None:
    guest = await visit(arena)
    await guest.get("lobby")
    game = await sit_down(arena)
    clock = asyncio.get_running_loop().time
    begun = clock()

    while clock() - begun < 2.2:
        await game.say(0, "and another thing")
    last = (await game.say(0, "finally"))["result"]["index"]
    while (await news(guest, "changed", game.id))["lastLine"]["index"] < last:
        pass
    took = clock() - begun

    assert told_of(guest, game.id).count("changed") <= took + 1


async def test_a_session_that_is_busy_on_two_servers_is_told_no_more_often(store: str) -> None:
    async with served(store) as here, served(store) as there:
        guest = await visit(here)
        await guest.get("lobby")
        game = await sit_down(here, others=there)
        clock = asyncio.get_running_loop().time
        begun = clock()

        while clock() - begun < 3.2:
            await game.say(0, "from here")
            await game.say(1, "from there")
        last = (await game.say(0, "finally"))["result"]["index"]
        while (await news(guest, "changed", game.id))["lastLine"]["index"] < last:
            pass
        took = clock() - begun

        assert told_of(guest, game.id).count("changed") <= took + 1


async def test_the_lobby_hears_of_sessions_on_another_server(store: str) -> None:
    async with served(store) as here, served(store) as there:
        guest = await visit(here)
        await guest.get("lobby")

        game = await sit_down(there)
        await game.say(0, "over there")
        changed = await news(guest, "changed", game.id)
        await game.end()
        await news(guest, "ended", game.id)

        assert changed["lastLine"]["content"] == "over there"


# Boards


async def play_tally(arena: Served, users: tuple[str, str], total: int = 1) -> Game:
    game = await sit_down(arena, "tally", users)
    await game.act(0, "add", str(total))
    assert (await game.act(1, "stop"))["type"] == "reply"
    return game


def followers(arena: Served, id_: str) -> list[Subscription]:
    return list(arena.arena.hub.rooms[SessionId(id_)].subscriptions)


def utilities(board: Frame) -> dict[str, Any]:
    return {entry["playerId"]: entry["metrics"]["average:utility"] for entry in board["entries"]}


async def test_a_board_is_answered_with_its_top_and_changes_follow(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        guest = await visit(arena)

        empty = await guest.get("leaderboard", challengeType="tally")
        await play_tally(arena, ("ada", "ben"), 5)
        pushed = await guest.hear("leaderboard")
        now = await guest.get("leaderboard", challengeType="tally", strategy="average")

        assert empty == {"challengeType": "tally", "strategy": "average", "entries": []}
        assert (pushed["challengeType"], pushed["strategy"]) == ("tally", "average")
        assert utilities(pushed) == {"ada": 5, "ben": 5}
        assert now["entries"] == pushed["entries"]


async def test_the_global_board_is_followed_like_any_other(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        guest = await visit(arena)

        first = await guest.get("leaderboard")
        await play_tally(arena, ("ada", "ben"), 5)
        pushed = await guest.hear("leaderboard")

        assert (first["challengeType"], first["strategy"]) == ("global", "global-average")
        assert (pushed["challengeType"], pushed["strategy"]) == ("global", "global-average")
        assert {entry["playerId"] for entry in pushed["entries"]} == {"ada", "ben"}


async def test_a_board_is_told_at_most_once_a_second_and_ends_up_right(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        guest = await visit(arena)
        await guest.get("leaderboard", challengeType="tally")
        clock = asyncio.get_running_loop().time
        begun = clock()

        games = 0
        while clock() - begun < 2.2:
            await play_tally(arena, ("ada", "ben"))
            games += 1
        while (await guest.hear("leaderboard"))["entries"][0]["gamesPlayed"] < games:
            pass
        took = clock() - begun

        assert games > 3
        assert len(guest.of("leaderboard")) <= took + 1


async def test_only_the_boards_that_are_followed_are_told(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        guest, witness = await visit(arena), await visit(arena)
        await guest.get("leaderboard", challengeType="psi")
        await witness.get("leaderboard", challengeType="tally")

        await play_tally(arena, ("ada", "ben"))
        await witness.hear("leaderboard")
        await guest.get("ping")

        assert not guest.of("leaderboard")


async def test_whoever_leaves_a_board_hears_no_more_of_it(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        guest, witness = await visit(arena), await visit(arena)
        for who in (guest, witness):
            await who.get("leaderboard", challengeType="tally")

        answer = await guest.get("leaderboard", challengeType="tally", off=True)
        await play_tally(arena, ("ada", "ben"))
        await witness.hear("leaderboard")
        await guest.get("ping")

        assert answer == {}
        assert not guest.of("leaderboard")


async def test_a_board_follows_games_on_another_server(store: str) -> None:
    async with served(store, load=TALLY) as here, served(store, load=TALLY) as there:
        guest = await visit(here)
        await guest.get("leaderboard", challengeType="tally")

        await play_tally(there, ("ada", "ben"), 3)

        assert utilities(await guest.hear("leaderboard")) == {"ada": 3, "ben": 3}


async def test_one_who_does_not_read_does_not_have_the_others_told_again_and_again(store: str) -> None:
    async with served(store, load=TALLY, outbox_bytes=8 * 1024) as arena:
        guest, game = await visit(arena), await sit_down(arena)
        await guest.get("leaderboard", challengeType="tally")
        async with raw_guest(arena.ws, receive_buffer=SMALLEST) as stalled:
            await stalled.ask("leaderboard", challengeType="tally")
            await stalled.ask("watch", challengeId=game.id)
            [follower] = [s.listener for s in followers(arena, game.id) if s.viewer is None]
            for _ in range(200):
                await game.say(0, "x" * 30_000)
            await comes_true(lambda: not follower.has_room, "the socket takes no more")

            await play_tally(arena, ("ada", "ben"))
            await guest.hear("leaderboard")
            await asyncio.sleep(2.5)
            told = len(guest.of("leaderboard"))
            stalled.hurry()
            board = await stalled.hear("leaderboard")

        assert told == 1
        assert utilities(board) == {"ada": 1, "ben": 1}


async def test_a_board_that_moves_while_its_feed_is_cut_is_told_all_the_same(store: str) -> None:
    async with Proxy(store) as proxy, served(proxy.url, load=TALLY) as cut, served(store, load=TALLY) as whole:
        guest = await visit(cut)
        await guest.get("leaderboard", challengeType="tally")

        proxy.refuse = True
        proxy.cut_all()
        await play_tally(whole, ("ada", "ben"), 3)
        proxy.refuse = False

        assert utilities(await guest.hear("leaderboard")) == {"ada": 3, "ben": 3}


async def test_games_of_players_without_a_name_are_played_and_counted_for_nobody(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        guest = await visit(arena)

        game = await sit_down(arena, "tally")
        await game.act(0, "stop")

        assert (await guest.get("leaderboard", challengeType="tally"))["entries"] == []
