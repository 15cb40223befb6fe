"""Clocks at the doors: everybody sees them run, and everybody can give up."""

from functools import partial

import pytest

from arena.models import GameResult, Outcome
from tests.agents import agent_at
from tests.callers import Caller
from tests.guests import Frame, Game, Guest, sit_down, visit
from tests.servers import Served


async def result_of(arena: Served, type: str = "psi") -> GameResult:
    [result] = await arena.arena.boards.results(type, 0, 10)
    return result


def with_clocks(guest: Guest) -> Frame | None:
    return next((frame for frame in guest.of("state") if frame.get("clocks")), None)


async def test_players_and_spectators_see_the_time_that_is_left(arena: Served) -> None:
    game = await sit_down(arena, "ultimatum", options={"clock": {"move": 60, "bank": 300}})
    spectator = await visit(arena)
    watched = await spectator.get("watch", challengeId=game.id)

    for guest in (*game.players, spectator):
        state = await guest.until(partial(with_clocks, guest), "clocks")
        first, second = game.invites
        assert state["clocks"]["running"] == [first]
        assert 55_000 < state["clocks"][first] <= 60_000
        assert state["clocks"][second] == 60_000
    assert watched["clocks"][game.invites[1]] == {"left": 60_000}
    assert watched["clocks"][game.invites[0]]["until"] > watched["createdAt"]


async def test_a_move_passes_the_running_clock_on(arena: Served) -> None:
    game = await sit_down(arena, "ultimatum", options={"clock": {"move": 60}})
    await game.act(0, "pass")

    def passed() -> Frame | None:
        states = [f for f in game.players[0].of("state") if f.get("clocks")]
        return next((f for f in states if f["clocks"]["running"] == [game.invites[1]]), None)

    assert await game.players[0].until(passed, "the other's clock")


async def test_a_game_without_limits_shows_no_clocks(arena: Served, caller: Caller) -> None:
    game = await sit_down(arena)
    await game.players[0].hear("state")

    assert all("clocks" not in frame for frame in game.players[0].of("state"))
    [shown] = (await caller.get("/challenges"))["challenges"]
    assert "clocks" not in shown


async def test_who_lets_the_time_go_by_has_lost(arena: Served) -> None:
    game = await sit_down(arena, users=("ada", "ben"), options={"clock": {"bank": 0.3}})
    await game.act(0, "guess", "1")

    ended = await game.players[1].hear("game_ended")

    assert ended["data"]["scores"][1]["utility"] == -1
    result = await result_of(arena)
    assert result.outcomes == [Outcome.PLAYED, Outcome.TIMEOUT]
    assert result.options["clock"] == {"bank": 0.3}


async def test_a_player_resigns_over_a_socket(arena: Served) -> None:
    game: Game = await sit_down(arena, users=("ada", "ben"))

    answer = await game.act(0, "resign")

    assert answer["result"] == {"ok": "Message sent"}
    assert (await game.players[1].hear("game_ended"))["data"]["status"] == "ended"
    assert (await result_of(arena)).outcomes == [Outcome.FORFEIT, Outcome.PLAYED]


async def test_a_player_resigns_over_rest(arena: Served, caller: Caller) -> None:
    session = await caller.sit_down("ada", "ben")

    told = await session.act(1, "", "resign")

    assert told == (200, {"ok": "Message sent"})
    assert (await session.operator())[-2]["content"] == "Player 2 has resigned."
    assert (await result_of(arena)).outcomes == [Outcome.PLAYED, Outcome.FORFEIT]


async def test_an_agent_resigns_with_a_tool(arena: Served) -> None:
    async with agent_at(arena) as agent:
        id_, invites = await agent.sit_down()

        await agent.call("act", challengeId=id_, from_=invites[0], method="resign", content="")
        news = await agent.call("read", challengeId=id_, from_=invites[1])

    assert news["session"]["status"] == "ended"
    assert (await result_of(arena)).outcomes == [Outcome.FORFEIT, Outcome.PLAYED]


@pytest.mark.parametrize("clock", [{"move": -1}, {"hourglass": 3}, 5])
async def test_limits_that_make_no_sense_are_refused_at_the_door(arena: Served, caller: Caller, clock: object) -> None:
    guest = await visit(arena)

    assert await guest.refusal("create", challengeType="psi", options={"clock": clock}) == "VALIDATION"
    assert (await caller.refusal("/challenges/psi", options={"clock": clock})).status == 400
