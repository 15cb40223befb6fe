"""Races: what happens at the same time, on two servers, happens one after the other; nothing is lost or done twice."""

import asyncio
from collections import Counter

from arena.models import SessionId
from arena.session import Act
from tests.guests import Frame, sit_down, visit
from tests.servers import served

TALLY = "tests.plugins.tally"


async def test_moves_that_race_on_two_servers_are_all_applied(store: str) -> None:
    async with served(store, load=TALLY) as here, served(store, load=TALLY) as there:
        game = await sit_down(here, "tally", others=there, options={"players": 4})

        async def push(seat: int) -> list[Frame]:
            return [await game.act(seat, "add", str(10**seat)) for _ in range(25)]

        answers = [answer for some in await asyncio.gather(*map(push, range(4))) for answer in some]

        total = 25 * 1111
        messages = await game.players[0].hear_messages(game.operator_channel, 200)
        inputs = await here.arena.sessions.inputs(SessionId(game.id))
        assert Counter(answer["type"] for answer in answers) == {"reply": 100}
        assert messages[-1]["content"] == f"The total is {total}."
        assert sum(isinstance(line, Act) for line in inputs) == 100
        assert (await there.arena.engine.get(game.id)).game == b'{"total":%d,"rung":[]}' % total


async def test_each_racing_move_sees_the_one_before_it(store: str) -> None:
    async with served(store, load=TALLY) as here, served(store, load=TALLY) as there:
        game = await sit_down(here, "tally", others=there)

        for _ in range(20):
            await asyncio.gather(game.act(0, "add", "1"), game.act(1, "add", "1"))

        messages = await game.players[1].hear_messages(game.operator_channel, 80)
        totals = [m["content"] for m in messages if m["from"] == "operator"]
        assert totals == [f"The total is {number}." for number in range(1, 41)]


async def test_of_two_hundred_who_want_the_last_seat_exactly_one_gets_it(store: str) -> None:
    async with served(store) as here, served(store) as there:
        host = await visit(here)
        made = await host.get("create", challengeType="psi")
        await host.get("join", invite=made["invites"][0])
        guests = await asyncio.gather(*(visit(here if number % 2 else there) for number in range(200)))

        answers = await asyncio.gather(*(guest.ask("join", invite=made["invites"][1]) for guest in guests))

        told = Counter(answer.get("code", "joined") for answer in answers)
        assert told == {"joined": 1, "INVITE_ALREADY_USED": 199}
        watched = await host.get("watch", challengeId=made["id"])
        assert watched["state"]["players"] == made["invites"]
        assert watched["state"]["status"] == "active"
        messages = await host.hear_messages(f"challenge_{made['id']}", 2)
        assert len(messages) == 2


async def test_players_who_join_different_seats_at_once_all_sit_and_the_game_starts_once(store: str) -> None:
    async with served(store, load=TALLY) as here, served(store, load=TALLY) as there:
        host = await visit(here)
        await host.get("lobby")
        made = await host.get("create", challengeType="tally", options={"players": 8})
        guests = [await visit(here if number % 2 else there) for number in range(8)]

        joined = await asyncio.gather(
            *(guest.get("join", invite=invite) for guest, invite in zip(guests, made["invites"], strict=True))
        )

        await host.hear("session", event="started")
        watched = await host.get("watch", challengeId=made["id"])
        assert sorted(reply["playerIndex"] for reply in joined) == list(range(8))
        assert len({reply["sessionKey"] for reply in joined}) == 8
        assert sorted(watched["state"]["players"]) == sorted(made["invites"])
        assert [f["event"] for f in host.of("session") if f["event"] != "changed"] == ["created", "started"]


async def test_both_guesses_at_the_same_time_are_recorded_and_the_game_is_scored_once(store: str) -> None:
    async with served(store) as here, served(store) as there:
        for played in range(1, 11):
            game = await sit_down(here, "psi", ("ada", "ben"), others=there)

            answers = await asyncio.gather(*(game.act(seat, "guess", str(1 + seat)) for seat in (0, 1)))

            assert [answer["type"] for answer in answers] == ["reply", "reply"]
            for guest in game.players:
                ended = await guest.hear("game_ended")
                assert ended["data"]["scores"] == [{"security": 1, "utility": -1}] * 2
            watched = await (await visit(there)).get("watch", challengeId=game.id)
            assert watched["gameState"]["guesses"] == [[1], [2]]
            board = await game.players[0].get("leaderboard", challengeType="psi")
            assert [entry["gamesPlayed"] for entry in board["entries"]] == [played, played]


async def test_copies_of_a_move_that_race_on_two_servers_are_carried_out_once(store: str) -> None:
    async with served(store, load=TALLY) as here, served(store, load=TALLY) as there:
        game = await sit_down(here, "tally", others=there)
        twin = await visit(there)
        await twin.get("resume", challengeId=game.id, sessionKey=game.keys[0])

        for number in range(20):
            move = {"challengeId": game.id, "messageType": "add", "content": "1", "key": f"k{number}"}
            answers = await asyncio.gather(game.players[0].ask("message", **move), twin.ask("message", **move))
            assert [answer["type"] for answer in answers] == ["reply", "reply"]

        messages = await twin.hear_messages(game.operator_channel, 40)
        assert len(messages) == 40
        assert messages[-1]["content"] == "The total is 20."


async def test_talk_never_makes_a_move_fail(store: str) -> None:
    async with served(store, load=TALLY) as here, served(store, load=TALLY) as there:
        game = await sit_down(here, "tally", others=there)

        async def talk() -> list[Frame]:
            return [await game.say(1, "blah") for _ in range(100)]

        async def move() -> list[Frame]:
            return [await game.act(0, "add", "1") for _ in range(50)]

        spoken, moved = await asyncio.gather(talk(), move())

        assert {answer["type"] for answer in (*spoken, *moved)} == {"reply"}
        assert [answer["result"]["index"] for answer in spoken] == list(range(1, 101))
        inputs = await here.arena.sessions.inputs(SessionId(game.id))
        assert len(inputs) == 52


async def test_of_two_who_end_the_game_at_once_one_is_told_that_it_is_over(store: str) -> None:
    async with served(store, load=TALLY) as here, served(store, load=TALLY) as there:
        for _ in range(10):
            game = await sit_down(here, "tally", ("ada", "ben"), others=there)

            answers = await asyncio.gather(game.act(0, "stop"), game.act(1, "stop"))

            assert sorted(answer.get("code", "done") for answer in answers) == ["GAME_NOT_RUNNING", "done"]
            for guest in game.players:
                await guest.hear("game_ended")
                assert len(guest.messages(game.operator_channel)) == 2
