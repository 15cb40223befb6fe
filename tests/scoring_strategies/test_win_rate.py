"""Win rate: the share of games with a score of at least 1."""

import pytest

from scoring_strategies.win_rate import WinRate, Wins
from tests.results import EXAMPLE, board_of, game


async def test_the_example_of_the_protocol() -> None:
    board = await board_of(WinRate(), EXAMPLE)

    assert board.metrics == {
        "A": {"win-rate:security": 1, "win-rate:utility": 1},
        "B": {"win-rate:security": 0, "win-rate:utility": 1},
    }


async def test_a_game_is_won_from_a_score_of_one_on() -> None:
    scores = [(1, 0.99), (2.5, 1), (0.5, -1), (1.0, 7)]

    board = await board_of(WinRate(), *(game(["A", "B"], [score, (0, 0)]) for score in scores))

    assert board.of("A") == {"win-rate:security": 0.75, "win-rate:utility": 0.5}
    assert board.of("B") == {"win-rate:security": 0, "win-rate:utility": 0}


async def test_a_seat_without_identity_is_left_out_and_the_others_count() -> None:
    board = await board_of(WinRate(), game([None, "B", "C"], [(1, 1), (1, 0), (0, 1)]))

    assert board.metrics == {
        "B": {"win-rate:security": 1, "win-rate:utility": 0},
        "C": {"win-rate:security": 0, "win-rate:utility": 1},
    }


def test_the_interval_of_a_share_is_that_of_wilson() -> None:
    found = WinRate().intervals(Wins(games=10, security=8, utility=0))

    # By hand: (8/10 + z²/20 ± z·√(0.016 + z²/400)) / (1 + z²/10) with z = 1.959964.
    assert found["win-rate:security"] == pytest.approx((0.490162, 0.943318), abs=1e-6)
    assert found["win-rate:utility"] == pytest.approx((0, 0.277533), abs=1e-6)
