"""Pace: how long players take to answer, and what a board shows of it."""

from random import Random
from statistics import quantiles

import orjson
import pytest

from arena.errors import Refused
from arena.models import Millis, UserId
from arena.pace import MOST, binned, merged, quantile, waits, with_time
from arena.record import Facts, Record
from arena.testing import Table
from challenges.psi.rules import PrivateSetIntersection
from challenges.ultimatum.rules import Ultimatum
from tests.plugins.tally import Tally
from tests.results import won


def test_a_seat_is_waited_for_from_the_moment_at_which_it_is_to_move() -> None:
    before = {0: Millis(10), 1: Millis(10)}

    assert waits(before, [1], moved=0, now=Millis(30)) == {1: 10}
    assert waits({1: Millis(10)}, [0], moved=1, now=Millis(40)) == {0: 40}
    assert waits({1: Millis(10)}, [1, 0], moved=1, now=Millis(40)) == {0: 40, 1: 40}


def test_only_so_many_moves_of_a_game_are_timed() -> None:
    times: list[list[int]] = []
    for number in range(MOST + 5):
        times = with_time(times, 1, 2, number)

    assert times == [[], list(range(MOST))]


def test_quantiles_are_right_to_within_a_twentieth() -> None:
    rng = Random(4)
    times = [round(rng.lognormvariate(7, 1.5)) for _ in range(4_000)]
    half = binned(times[:2_000], {})

    bins = merged(half, binned(times[2_000:], {}))

    cuts = quantiles(times, n=100)
    for share in (5, 50, 95):
        assert quantile(bins, share / 100) == pytest.approx(cuts[share - 1], rel=0.06)
    assert bins == binned(times, {})
    assert quantile({}, 0.5) is None
    assert quantile(binned([0], {}), 0.5) == 0


def test_moves_at_the_same_time_are_each_timed_from_the_start() -> None:
    table = Table(PrivateSetIntersection(), seed=1)
    table.advance(2)
    table.act(0, "guess", "100")
    table.advance(3)
    table.act(1, "guess", "100")

    assert table.result.response_times == [[2_000], [5_000]]


def test_in_turns_a_move_is_timed_from_the_one_before_and_a_refused_one_stops_nothing() -> None:
    table = Table(Ultimatum(), seed=1)
    for seat, seconds in ((0, 1), (1, 4), (0, 2)):
        table.advance(seconds)
        with pytest.raises(Refused):
            table.act(seat, "submit_offer", "1 2")
        table.advance(seconds)
        table.act(seat, "pass", "")

    assert table.session.standing.times == [[2_000, 4_000], [8_000]]


def test_giving_up_is_no_answer() -> None:
    table = Table(PrivateSetIntersection(), seed=1)
    table.advance(9)
    table.act(0, "resign", "")

    assert table.result.response_times is None


def test_rules_that_do_not_say_whom_they_wait_for_tell_no_times() -> None:
    table = Table(Tally(), seed=1)
    table.act(0, "add", "1")

    assert table.session.standing.times == []


def test_the_record_keeps_the_times_of_known_players_over_all_challenges() -> None:
    record = Record({}, {})
    for _ in range(3):
        record.add(won("ada", "ben", responseTimes=[[1_000, 3_000], [50]]))
    record.add(won("ada", "ben"))
    record.add(won("ada", "ben", responseTimes=[[9_000], [9_000]], outcomes=["void", "void"]))

    ada = Facts.read(orjson.dumps(record.facts[UserId("ada")]))

    assert sum(ada.paces.values()) == 6
    assert quantile(ada.paces, 0.95) == pytest.approx(3_000, rel=0.06)
    assert sum(ada.plus(ada).paces.values()) == 12
