"""Clocks and adjudication: whose time runs, what everybody sees of it, and what becomes of who is late or gives up."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from arena import AtLimit, Effects, Operator, Outcome, Refused, Score, Seat, action, deadline, end, say, score
from arena.clocks import Clock, Limits, as_frame, deadlines, wind
from arena.errors import GameNotRunning, Invalid
from arena.models import Millis, Status
from arena.session import challenge_view, times
from arena.testing import START, Table
from challenges.moles.rules import Moles
from challenges.psi.rules import PrivateSetIntersection
from challenges.ultimatum.rules import Ultimatum


class Count(BaseModel):
    moves: list[int] = [0, 0]


class Race(Operator[Count]):
    """Who has made three moves first, in any order."""

    utility = (-2, 5)

    def deal(self, rng: Random) -> Count:
        return Count()

    def to_move(self, count: Count) -> list[Seat]:
        return [0, 1]

    @action
    def step(self, count: Count, seat: Seat) -> Effects:
        """One more."""
        count.moves[seat] += 1
        yield score(seat, utility=count.moves[seat], security=1)
        if count.moves[seat] == 3:
            yield end()

    @action
    def stumble(self, count: Count, seat: Seat) -> Effects:
        """Not allowed."""
        raise Refused("STUMBLED", "Mind your step.")


class VoidRace(Race):
    at_limit = AtLimit.VOID


class Stubborn(Race):
    """Its default move changes nothing."""

    at_limit = AtLimit.DEFAULT

    def default_move(self, count: Count, seat: Seat) -> Effects:
        yield say("Nothing happens.")


class Broken(Race):
    at_limit = AtLimit.DEFAULT

    def default_move(self, count: Count, seat: Seat) -> Effects:
        raise ZeroDivisionError


class Silent(Operator[Count]):
    """Does not say who is to move."""

    def deal(self, rng: Random) -> Count:
        return Count()

    @action
    def step(self, count: Count, seat: Seat) -> Effects:
        """One more."""
        yield score(seat, utility=1)


def clocked(
    operator: type[Operator[Any, Any]], options: dict[str, Any] | None = None, **clock: float
) -> Table[Any, Any]:
    return Table(operator({**(options or {}), "clock": clock}))


# Whose clock runs


def test_without_limits_there_are_no_clocks_and_no_deadlines() -> None:
    table = Table(Race())

    assert table.session.standing.clocks == []
    assert table.session.due is None
    assert times(table.session) is None
    assert "clock" not in table.session.header.options


def test_only_the_seat_that_is_to_move_uses_up_its_time() -> None:
    table = clocked(Ultimatum, bank=60)
    table.advance(10)
    table.act(0, "pass")
    table.advance(25)
    table.act(1, "pass")

    assert [clock.spent for clock in table.session.standing.clocks] == [10_000, 25_000]
    assert [clock.since is not None for clock in table.session.standing.clocks] == [True, False]


def test_in_a_game_of_simultaneous_moves_several_clocks_run() -> None:
    table = clocked(PrivateSetIntersection, bank=60)
    table.advance(10)
    table.act(0, "guess", "1")
    table.advance(5)

    assert [clock.since is not None for clock in table.session.standing.clocks] == [False, True]
    assert table.session.due == ("clock:seat:1", Millis(START + 60_000))


def test_a_limit_per_move_begins_anew_with_each_move() -> None:
    table = clocked(Race, move=10)
    for _ in range(2):
        table.advance(9)
        table.act(0, "step")
        table.act(1, "step")

    table.advance(9)
    late = table.session.standing.completed_at
    table.advance(1)

    assert late is None
    assert table.status is Status.ENDED


def test_a_refused_move_does_not_stop_the_clock() -> None:
    table = clocked(Race, move=10)
    table.advance(9)
    with pytest.raises(Refused):
        table.act(0, "stumble")
    table.act(1, "step")

    table.advance(1)

    assert table.result.outcomes == [Outcome.TIMEOUT, Outcome.PLAYED]


def test_talk_does_not_stop_the_clock() -> None:
    table = clocked(Ultimatum, {"maxRounds": 1}, move=10)
    table.advance(9)
    table.chat(0, "a moment, please")
    table.advance(1)

    assert table.session.standing.marks == {0: Outcome.TIMEOUT}


@given(
    spent=st.lists(st.integers(0, 100_000), min_size=3, max_size=3),
    waiting=st.sets(st.integers(0, 2)),
    acted=st.none() | st.integers(0, 2),
    running=st.sets(st.integers(0, 2)),
    elapsed=st.integers(0, 50_000),
)
def test_winding_never_gives_time_back(
    spent: list[int], waiting: set[int], acted: int | None, running: set[int], elapsed: int
) -> None:
    before = [Clock(spent=s, since=START if n in running else None) for n, s in enumerate(spent)]

    after = wind(before, waiting, acted, Millis(START + elapsed))

    for seat, (old, new) in enumerate(zip(before, after, strict=True)):
        assert (new.since is not None) == (seat in waiting)
        gone = 0 if new.since is None else START + elapsed - new.since
        used = 0 if old.since is None else elapsed
        assert new.spent + gone == old.spent + used


# What happens at the limit


def test_who_runs_out_of_time_forfeits_where_the_challenge_says_nothing_else() -> None:
    table = clocked(Race, bank=30)
    table.act(1, "step")
    table.act(1, "step")

    table.advance(30)

    assert table.status is Status.ENDED
    assert table.result.outcomes == [Outcome.TIMEOUT, Outcome.PLAYED]
    assert table.scores == [Score(utility=-2), Score(utility=2, security=1)]
    assert table.said[-2] == "Player 1 has run out of time."
    assert table.result.completed_at == START + 30_000
    assert table.result.counts


def test_a_void_game_counts_nowhere() -> None:
    table = clocked(VoidRace, move=5)
    table.act(1, "step")
    table.advance(5)

    assert table.result.outcomes == [Outcome.VOID, Outcome.VOID]
    assert table.scores == [Score(), Score()]
    assert not table.result.counts


def test_a_default_move_keeps_the_game_going_and_is_marked() -> None:
    table = clocked(Ultimatum, {"maxRounds": 2, "reservationValues": [0, 0]}, move=10)
    table.advance(10)
    assert "Player 1 passes." in table.said
    table.act(1, "submit_offer", "50 50")
    table.act(0, "accept")

    assert table.scores == [Score(utility=0.5), Score(utility=0.5)]
    assert table.result.outcomes == [Outcome.TIMEOUT, Outcome.PLAYED]


def test_when_nobody_does_anything_default_moves_bring_the_game_to_its_end() -> None:
    table = clocked(Moles, bank=20)

    table.advance(1000)

    assert table.status is Status.ENDED
    assert set(table.result.outcomes) == {Outcome.TIMEOUT}
    assert table.again() == table.session


def test_the_limit_of_a_game_falls_on_those_who_are_waited_for() -> None:
    table = clocked(PrivateSetIntersection, game=60)
    table.act(0, "guess", "1")

    table.advance(60)

    assert table.result.outcomes == [Outcome.PLAYED, Outcome.TIMEOUT]
    assert table.scores[1].utility == -1
    assert table.said[-2] == "The time of this game is up."


def test_at_the_limit_of_a_game_with_default_moves_they_end_it() -> None:
    table = clocked(Ultimatum, game=60)
    table.act(0, "submit_offer", "50 50")

    table.advance(60)

    assert table.status is Status.ENDED
    assert table.result.outcomes == [Outcome.PLAYED, Outcome.TIMEOUT]
    assert table.said[-2].startswith("Deadlock")


def test_a_challenge_that_does_not_say_who_is_to_move_can_be_limited_as_a_whole() -> None:
    table = clocked(Silent, game=60)
    table.act(0, "step")

    table.advance(60)

    assert table.scores == [Score(utility=1), Score()]
    assert table.result.outcomes == [Outcome.TIMEOUT, Outcome.TIMEOUT]
    with pytest.raises(Invalid, match="who is to move"):
        Silent({"clock": {"move": 5}})


def test_default_moves_that_lead_nowhere_do_not_stop_time() -> None:
    table = clocked(Stubborn, bank=5, game=6)

    table.advance(6)

    assert table.status is Status.ENDED
    assert not table.result.counts  # it would never have ended by itself


def test_a_default_move_that_fails_voids_the_game() -> None:
    table = clocked(Broken, move=5)
    table.advance(5)

    assert table.status is Status.ENDED
    assert table.result.outcomes == [Outcome.VOID, Outcome.VOID]


# Resignation


def test_a_player_can_resign_in_any_challenge() -> None:
    table = Table(PrivateSetIntersection())
    table.act(0, "guess", "1")

    table.resign(1)

    assert table.result.outcomes == [Outcome.PLAYED, Outcome.FORFEIT]
    assert table.scores[1].utility == -1
    assert table.said[-2] == "Player 2 has resigned."
    with pytest.raises(GameNotRunning):
        table.resign(0)


def test_a_void_challenge_cannot_be_undone_by_resigning() -> None:
    table = Table(VoidRace())
    table.resign(0)

    assert table.result.outcomes == [Outcome.FORFEIT, Outcome.PLAYED]
    assert table.result.counts


def test_where_there_are_default_moves_the_others_play_on() -> None:
    table = Table(Ultimatum({"players": 3, "reservationValues": [0, 0, 0], "maxRounds": 3}))
    table.resign(1)
    with pytest.raises(Refused, match="You have resigned"):
        table.act(1, "accept")
    with pytest.raises(Refused, match="You have resigned"):
        table.resign(1)
    table.act(0, "pass")
    assert table.said[-1] == "Player 3's turn. (Round 1/3)"
    for _ in range(2):
        table.act(2, "pass")
        table.act(0, "pass")
    table.act(2, "pass")

    assert table.status is Status.ENDED
    assert table.result.outcomes == [Outcome.PLAYED, Outcome.FORFEIT, Outcome.PLAYED]
    assert table.again() == table.session


def test_when_all_have_resigned_the_game_is_over() -> None:
    table = Table(Moles())
    for seat in range(7):
        if table.status is Status.ACTIVE:
            table.resign(seat)

    assert table.status is Status.ENDED
    assert table.result.outcomes == [Outcome.FORFEIT] * 7


def test_default_moves_that_lead_nowhere_refuse_the_resignation_and_change_nothing() -> None:
    table = Table(Stubborn())
    before = table.session

    with pytest.raises(Exception, match="never come to an end"):
        table.resign(0)

    assert table.session == before


def test_resigning_is_for_games_that_run() -> None:
    with pytest.raises(GameNotRunning):
        Table(Race(), seated=1).resign(0)


def test_a_challenge_may_have_a_move_of_its_own_called_resign() -> None:
    class Office(Race):
        @action
        def resign(self, count: Count, seat: Seat) -> Effects:
            """Leave the office, not the game."""
            yield say("The minister has resigned.")

    table = Table(Office())
    table.resign(0)

    assert table.said == ["The minister has resigned."]


def test_an_outcome_that_the_challenge_gives_itself_stays() -> None:
    class Judge(Race):
        @action
        def halt(self, count: Count, seat: Seat) -> Effects:
            """Stop it."""
            yield end(outcomes=[Outcome.VOID, Outcome.PLAYED])

    table = Table(Judge())
    table.act(0, "halt")

    assert table.result.outcomes == [Outcome.VOID, Outcome.PLAYED]


# What can be seen


def test_everybody_can_see_how_much_time_is_left() -> None:
    table = clocked(Ultimatum, move=30, bank=40)
    table.advance(20)
    table.act(0, "pass")
    table.advance(5)

    shown = challenge_view(table.session).wire()["clocks"]
    now = as_frame(times(table.session) or {}, table.now)

    assert shown == {"inv_0": {"left": 20_000}, "inv_1": {"left": 30_000, "until": START + 50_000}}
    assert now == {"inv_0": 20_000, "inv_1": 25_000, "running": ["inv_1"]}


def test_the_limit_of_the_game_is_seen_too() -> None:
    table = clocked(Ultimatum, move=30, game=40)
    table.advance(20)
    table.act(0, "pass")

    assert as_frame(times(table.session) or {}, table.now) == {"inv_0": 30_000, "inv_1": 20_000, "running": ["inv_1"]}


def test_after_the_end_no_clock_is_shown() -> None:
    table = clocked(Race, game=5)
    table.advance(5)

    assert challenge_view(table.session).clocks is None


# Options


@pytest.mark.parametrize(
    "clock",
    [{"move": 0}, {"move": -1}, {"bank": "long"}, {"game": 1e9}, {"turn": 5}, [], "fast", {"move": None, "x": 1}],
)
def test_limits_that_make_no_sense_are_refused(clock: object) -> None:
    with pytest.raises(Invalid, match="options: clock"):
        Race({"clock": clock})


def test_limits_are_part_of_what_a_session_promises() -> None:
    assert Race({"clock": {"move": 5}}).canonical == {"clock": {"move": 5}}
    assert Ultimatum({"clock": {"bank": 90.5}}).canonical["clock"] == {"bank": 90.5}
    assert Race({"clock": None}).canonical == {"clock": None}  # where limits are the default, this is a choice too


def test_names_of_deadlines_that_are_the_arenas_cannot_be_taken() -> None:
    with pytest.raises(ValueError, match="arena's own"):
        deadline("clock:game", after=5)


def test_a_bank_that_is_used_up_leaves_a_millisecond() -> None:
    assert deadlines(Limits(bank=5), [Clock(spent=9_000, since=START)], START) == {"clock:seat:0": START + 1}
