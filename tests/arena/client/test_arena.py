"""The link: seats on one connection, which comes back by itself and loses nothing."""

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from arena.client import Agent, Arena, Disconnected, Ended, Game, Refused, Started
from arena.client.arena import back_off, socket_of
from arena.models import ChatMessage
from arena.wire import JSON
from tests.guests import comes_true
from tests.rough import rough
from tests.servers import Process, Served

GAMES = 100
WORDS = 4


async def test_a_seat_hears_what_is_meant_for_it_until_the_end(arena: Served) -> None:
    async with Arena(arena.url) as ours, Arena(arena.url) as theirs:
        invites = (await ours.create("millionaire")).invites
        ada = await ours.join(invites[0], "ada")
        ben = await theirs.join(invites[1], "ben")
        await ben.say("psst", to=ada.handle)
        await ben.act("guess", "50")
        await ada.act("guess", 51)

        heard = [message async for message in ada]
        ended = await ben.play_out()

    assert heard[0].content.startswith("Your wealth is $")
    assert "psst" in [message.content for message in heard]
    assert not [message for message in heard if message.from_ == ada.handle]
    assert ended == ada.ended
    assert ended.state.player_identities == {ada.handle: "ada", ben.handle: "ben"}
    assert ada.score == ended.state.scores[0]


async def test_events_tell_of_start_and_end_too(arena: Served) -> None:
    async with Arena(arena.url) as link:
        invites = (await link.create("millionaire")).invites
        ada = await link.join(invites[0])
        async with Arena(arena.url) as other:
            ben = await other.join(invites[1])
            begun = [event async for event in until_start(ada)]
            await ben.act("guess", "50")
            await ada.act("guess", "50")
            events = [event async for event in ada.events()]

    assert begun[-1] == Started([ada.handle, ben.handle])
    assert isinstance(events[-1], Ended)
    assert [event.type for event in events if isinstance(event, ChatMessage) and event.from_ == ada.handle] == ["guess"]


async def until_start(game: Game) -> AsyncIterator[object]:
    async for event in game.events():
        yield event
        if isinstance(event, Started):
            return


async def test_one_connection_carries_many_games(arena: Served) -> None:
    async with Arena(arena.url) as first, Arena(arena.url) as second:
        made = [await first.create("millionaire") for _ in range(5)]
        games = [(await first.join(one.invites[0]), await second.join(one.invites[1])) for one in made]
        await asyncio.gather(*(game.act("guess", str(50 + n)) for n, pair in enumerate(games) for game in pair))

        ends = await asyncio.gather(*(game.play_out() for pair in games for game in pair))

    assert len({id(end) for end in ends}) == 10
    assert first.games == second.games == {}


async def test_a_refused_move_raises_with_its_code_and_the_game_goes_on(arena: Served) -> None:
    async with Arena(arena.url) as link, Arena(arena.url) as other:
        invites = (await link.create("millionaire")).invites
        ada, ben = await link.join(invites[0]), await other.join(invites[1])

        with pytest.raises(Refused) as refusal:
            await ada.act("guess", "nothing")
        await ada.act("guess", "50")
        await ben.act("guess", "50")

        assert refusal.value.code == "INVALID_GUESS"
        assert (await ada.play_out()).state.scores


async def test_a_server_that_is_not_there_is_said_at_once() -> None:
    with pytest.raises(Disconnected, match="No arena answers"):
        async with Arena("http://127.0.0.1:9"):
            pass


async def test_an_address_that_is_no_arena_is_said_at_once(arena: Served) -> None:
    with pytest.raises(Disconnected, match="answered 403"):
        async with Arena(f"{arena.url}/nowhere"):
            pass


@pytest.mark.parametrize(
    ("url", "socket"),
    [
        ("http://a:1", "ws://a:1/ws"),
        ("https://a/", "wss://a/ws"),
        ("ws://a:1/ws", "ws://a:1/ws"),
        ("https://a/api/v1/ws?x=1", "wss://a/api/v1/ws"),
    ],
)
def test_a_socket_is_found_from_the_address_of_a_page(url: str, socket: str) -> None:
    assert socket_of(url) == socket


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("a:1", "begins with"),
        ("ftp://a", "begins with"),
        ("", "begins with"),
        ("http://", "names no server"),
        ("http://:80", "names no server"),
        ("http://a:99999", "Port out of range"),
        ("http://[::1", "Invalid IPv6"),
    ],
)
def test_what_is_no_address_is_refused(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        socket_of(url)


async def test_a_server_that_talks_nonsense_is_given_up_and_nobody_waits_for_ever() -> None:
    async def nonsense(socket: ServerConnection) -> None:
        for frame in ({"type": "welcome"}, {"type": "new_message", "message": 5}):
            await socket.send(json.dumps(frame))
        await socket.wait_closed()

    async with serve(nonsense, "127.0.0.1", 0, subprotocols=[Subprotocol(JSON.protocol)]) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Disconnected, match="broke"):
            async with asyncio.timeout(60), Arena(f"http://127.0.0.1:{port}") as link:
                await link.call("lobby")


def test_tries_come_further_and_further_apart_up_to_a_limit() -> None:
    waits = back_off(Random(1))
    drawn = [next(waits) for _ in range(12)]

    assert drawn[0] <= 0.3
    assert max(drawn) <= 15
    assert min(drawn[6:]) >= 7.5


class Chatty(Agent):
    """Says some words and then guesses."""

    async def start(self, game: Game) -> None:
        """Make all moves."""
        for number in range(WORDS):
            await game.say(f"word {number} of {game.seat}")
        await game.act("guess", "50")


async def test_a_hundred_games_finish_on_a_way_that_cuts_delays_and_doubles(arena: Served) -> None:
    async with rough(arena.ws, Random(7), cut=0.02, twice=0.1, delay=0.002) as way, Arena(arena.url) as host:
        made = [await host.create("millionaire") for _ in range(GAMES)]
        ends = await asyncio.gather(
            *(Chatty(f"player-{seat}").play(one.invites[seat], way.url) for one in made for seat in (0, 1))
        )

        moves = [await host.call("sync", channel=f"challenge_{one.id}") for one in made]
        words = [await host.call("sync", channel=one.id) for one in made]

        async def all_count() -> bool:
            board = await host.call("leaderboard", challengeType="millionaire")
            return [entry["gamesPlayed"] for entry in board["entries"]] == [GAMES, GAMES]

        await comes_true(all_count, "each game counts once")  # the last move of a game does not wait long for that

    guesses = [[m["from"] for m in log["messages"] if m.get("type") == "guess"] for log in moves]
    said = sorted(f"word {number} of {seat}" for number in range(WORDS) for seat in (0, 1))
    assert way.cuts > 50
    assert way.copies > 200
    assert len(ends) == 2 * GAMES
    assert all(len(found) == len(set(found)) == 2 for found in guesses)
    assert all(sorted(m["content"] for m in log["messages"]) == said for log in words)


async def test_a_move_after_the_end_is_answered_however_often_the_answer_is_lost(arena: Served) -> None:
    async with rough(arena.ws, Random(5)) as way, Arena(way.url) as ours, Arena(arena.url) as other:
        invites = (await other.create("millionaire")).invites
        ada, ben = await ours.join(invites[0]), await other.join(invites[1])
        await ada.act("guess", "50")
        await ben.act("guess", "50")
        await ada.play_out()
        way.doomed = 4  # the move, its seat on the next connection, and both again

        with pytest.raises(Refused) as refusal:
            await ada.act("guess", "50")

    assert refusal.value.code == "GAME_NOT_RUNNING"
    assert way.cuts == 4


async def test_what_a_seat_heard_is_the_log_each_once_and_in_order(arena: Served) -> None:
    async with (
        rough(arena.ws, Random(3), cut=0.03, twice=0.2) as way,
        Arena(way.url) as ours,
        Arena(arena.url) as other,
    ):
        invites = (await other.create("millionaire")).invites
        ada, ben = await ours.join(invites[0]), await other.join(invites[1])

        async with asyncio.TaskGroup() as group:
            hearing = group.create_task(words(ada))
            for number in range(200):
                await ben.say(f"word {number}")
            await ben.act("guess", "50")
            await ada.act("guess", "50")

    assert way.cuts > 0
    assert hearing.result() == [f"word {number}" for number in range(200)]


async def words(game: Game) -> list[str]:
    return [message.content async for message in game if message.content.startswith("word")]


@pytest.mark.slow
async def test_a_game_goes_on_when_the_server_was_killed_and_started_again() -> None:
    with Process() as process:
        async with Arena(process.url) as ours, Arena(process.url) as theirs:
            invites = (await ours.create("millionaire")).invites
            ada, ben = await ours.join(invites[0]), await theirs.join(invites[1])
            await ada.act("guess", "50")
            process.kill()
            move = asyncio.create_task(ben.act("guess", "50"))
            await asyncio.to_thread(process.start)

            await move
            ended = await asyncio.gather(ada.play_out(), ben.play_out())

    assert ended[0] == ended[1]


async def test_handlers_make_an_agent(arena: Served) -> None:
    agent, seen = Agent("ada"), []

    @agent.on("start")
    async def begin(game: Game) -> None:
        seen.append("start")
        await game.act("guess", "50")

    @agent.on("message")
    def hear(game: Game, message: ChatMessage) -> None:
        seen.append(message.from_)

    @agent.on("end")
    def over(game: Game) -> None:
        seen.append(str(game.score is not None))

    async with Arena(arena.url) as host:
        invites = (await host.create("millionaire")).invites
        ended, _ = await asyncio.gather(agent.play(invites[0], arena.url), Stubborn().play(invites[1], arena.url))

    assert seen[0] == "operator"
    assert "start" in seen
    assert seen[-1] == "True"
    assert "ada" in ended.state.player_identities.values()


class Stubborn(Agent):
    """An agent with a memory: it guesses what it was dealt."""

    wealth = ""

    async def message(self, game: Game, message: ChatMessage) -> None:
        """Remember the own wealth."""
        self.wealth = self.wealth or "".join(c for c in message.content.split("M")[0] if c.isdigit())

    async def start(self, game: Game) -> None:
        """Guess it."""
        await game.act("guess", self.wealth)


def test_an_agent_hears_only_what_there_is() -> None:
    with pytest.raises(ValueError, match="start, message and end"):
        Agent().on("begin")  # type: ignore[arg-type]
