"""Elo: points by hand, at tables of two and more."""

from math import log
from typing import Any

import pytest

from arena import Outcome
from scoring_strategies.elo import Elo, Points, expected
from tests.results import board_of, game, tied, won


def points(*ratings: float, games: int = 0) -> list[Points]:
    return [Points(rating=rating, games=games) for rating in ratings]


def after(before: list[Points], scores: list[float], **more: Any) -> list[float]:
    result = game([f"u{seat}" for seat in range(len(scores))], [(0, score) for score in scores], **more)
    return [tally.rating for tally in Elo().fold(before, result)]


async def test_the_first_game_of_two_equals_moves_sixteen_points() -> None:
    board = await board_of(Elo(), won("A", "B"))

    assert board.metrics == {"A": {"elo:rating": 1516}, "B": {"elo:rating": 1484}}


def test_a_favourite_of_two_hundred_points_is_expected_to_win_three_quarters() -> None:
    assert expected(1700, 1500) == pytest.approx(0.759747, abs=1e-6)  # 1 / (1 + 10^-0.5)


def test_a_favourite_gains_little_and_loses_much() -> None:
    assert after(points(1700, 1500), [1, 0]) == pytest.approx([1700 + 32 * 0.240253, 1500 - 32 * 0.240253], abs=1e-4)
    assert after(points(1700, 1500), [0, 1]) == pytest.approx([1700 - 32 * 0.759747, 1500 + 32 * 0.759747], abs=1e-4)
    assert after(points(1700, 1500), [1, 1]) == pytest.approx([1700 - 32 * 0.259747, 1500 + 32 * 0.259747], abs=1e-4)


def test_after_thirty_games_a_player_moves_half_as_far() -> None:
    fresh, settled = Points(games=29), Points(games=30)

    moved = Elo().fold([fresh, settled], won("A", "B"))

    assert [tally.rating for tally in moved] == [1516, 1492]


def test_a_table_of_four_is_three_games_with_a_third_of_k_each() -> None:
    moved = after(points(1500, 1500, 1500, 1500), [3, 2, 2, 0])

    assert moved == pytest.approx([1500 + 16, 1500 + 32 / 3 * (1 + 0.5 - 1.5), 1500, 1500 - 16])


def test_security_decides_between_equal_utilities_and_a_challenge_may_declare_otherwise() -> None:
    result = game(["A", "B"], [(1, 0), (0, 0)])
    utility_alone = result.model_copy(update={"decided_by": ["utility"]})

    assert [tally.rating for tally in Elo().fold(points(1500, 1500), result)] == [1516, 1484]
    assert [tally.rating for tally in Elo().fold(points(1500, 1500), utility_alone)] == [1500, 1500]


@pytest.mark.parametrize("outcome", [Outcome.FORFEIT, Outcome.TIMEOUT])
def test_who_forfeits_or_runs_out_of_time_has_lost_whatever_the_scores(outcome: Outcome) -> None:
    assert after(points(1500, 1500), [9, -1], outcomes=[outcome, "played"]) == [1484, 1516]


def test_two_equals_have_an_error_of_347_over_root_n_if_k_falls_as_one_over_n() -> None:
    """The step that is best for n games gives the error that n games allow, and K's own noise is what is beyond it."""
    assert 2 * 400 / log(10) == pytest.approx(347.4, abs=0.1)
    tallies = points(1500, 1500)
    for _ in range(400):
        tallies = Elo().fold(tallies, tied("A", "B"))

    noise = (16**2 / 4 / (2 * 16 * log(10) / 1600)) ** 0.5  # K²·p(1-p) per game against a pull of 2·K·slope
    assert tallies[0].variance ** 0.5 == pytest.approx(noise, rel=0.03)
    assert noise > 347.4 / 400**0.5


async def test_games_with_an_unknown_player_do_not_count() -> None:
    board = await board_of(Elo(), game(["A", None], [(0, 1), (0, 0)]), game(["A"], [(0, 1)]))

    assert board.entries == {}
