"""Glicko-2: Glickman's worked example, and what the arena adds to it."""

from math import sqrt

import pytest

from arena.models import UserId
from scoring_strategies.glicko2 import DAY, Glicko2, Rival, Strength, rate, rested
from tests.results import board_of, game, tied, won


def test_the_worked_example_of_the_paper() -> None:
    mine = Strength(rating=1500, deviation=200, volatility=0.06)

    rated = rate(mine, [Rival(1400, 30, 1), Rival(1550, 100, 0), Rival(1700, 300, 0)])

    assert rated.rating == pytest.approx(1464.06, abs=0.01)
    assert rated.deviation == pytest.approx(151.52, abs=0.01)
    assert rated.volatility == pytest.approx(0.05999, abs=0.00001)


def test_a_great_surprise_raises_the_volatility() -> None:
    settled = Strength(rating=1500, deviation=50, volatility=0.06)

    assert rate(settled, [Rival(2600, 45, 1)]).volatility > 0.06001
    assert rate(settled, [Rival(1500, 45, 1)]).volatility < 0.06


async def test_a_table_of_four_is_one_period_against_three_rivals() -> None:
    board = await board_of(Glicko2(), game(["A", "B", "C", "D"], [(0, 3), (0, 2), (0, 2), (0, 0)]))

    fresh = Strength()
    rivals = [Rival(1500, 350, score) for score in (0, 0.5, 1)]
    assert board.of("B")["glicko2:rating"] == pytest.approx(rate(fresh, rivals).rating)
    assert board.of("B")["glicko2:rating"] == pytest.approx(1500)
    assert board.of("A")["glicko2:rating"] - 1500 == pytest.approx(1500 - board.of("D")["glicko2:rating"])


def test_a_full_day_without_a_game_is_an_empty_period() -> None:
    seen = Strength(rating=1600, deviation=100, volatility=0.06, last=1000)

    step = (173.7178 * 0.06) ** 2

    assert rested(seen, 1000 + DAY - 1).deviation == 100
    assert rested(seen, 1000 + 3 * DAY).deviation == pytest.approx(sqrt(100**2 + 3 * step))
    assert rested(seen, 1000 + 10_000 * DAY).deviation == 350
    assert rested(seen, 0).deviation == 100  # results may come out of order
    assert rested(Strength(), 10**12).deviation == 350


def test_the_deviation_never_falls_below_its_floor() -> None:
    tallies = [Strength(deviation=46, last=1), Strength(deviation=46, last=1)]
    for _ in range(50):
        tallies = Glicko2().fold(tallies, tied("A", "B"))
        assert all(tally.deviation >= 45 for tally in tallies)


async def test_a_player_is_provisional_as_long_as_its_deviation_is_large() -> None:
    strategy = Glicko2()

    assert strategy.is_provisional(Strength())
    assert strategy.is_provisional(Strength(deviation=110))
    assert not strategy.is_provisional(Strength(deviation=109.9))
    board = await board_of(strategy, *[won("A", "B") if n % 2 else won("B", "A") for n in range(40)])
    assert not strategy.measure(await board.get(UserId("A"))).provisional


def test_the_interval_reaches_almost_two_deviations_to_either_side() -> None:
    found = Glicko2().intervals(Strength(rating=1600, deviation=100))["glicko2:rating"]

    assert found == pytest.approx((1600 - 195.996, 1600 + 195.996), abs=0.01)
