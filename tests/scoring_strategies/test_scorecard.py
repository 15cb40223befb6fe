"""Scorecard: overall score, pass rate, dimensions, cost and latency of evaluated games."""

from typing import Any

import pytest

from arena.statistics import wilson
from scoring_strategies.scorecard import Cards, Scorecard
from tests.results import board_of, game


def cards(*seats: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"overall": 0, "passed": False, "cases": 2, "passes": 0, **seat} for seat in seats]


def played(users: list[str | None], *seats: dict[str, Any]) -> Any:
    return game(users, [(0, 0)] * len(users), scorecards=cards(*seats))


async def test_each_number_is_the_mean_over_what_it_is_known_of() -> None:
    board = await board_of(
        Scorecard(),
        played(
            ["A", "B"],
            {"overall": 0.5, "passes": 1, "costUsd": 0.2, "latencyMs": 1000, "dimensions": {"correctness": 0.5}},
            {"overall": 1, "passes": 2},
        ),
        played(["A"], {"overall": 1, "passes": 2, "cases": 4, "costUsd": 0.4, "dimensions": {"style": 1}}),
    )

    assert board.of("A") == pytest.approx(
        {
            "scorecard:overall": 0.75,
            "scorecard:pass-rate": 0.5,
            "scorecard:cost": -0.1,
            "scorecard:latency": -500,
            "scorecard:dimension:correctness": 0.5,
            "scorecard:dimension:style": 1,
        }
    )
    assert board.of("B") == {"scorecard:overall": 1, "scorecard:pass-rate": 1}


async def test_a_game_without_scorecards_changes_no_number() -> None:
    board = await board_of(Scorecard(), game(["A", None], [(1, 1), (0, 0)]), played(["A"], {"overall": 0.25}))

    assert board.of("A")["scorecard:overall"] == 0.25


def test_the_interval_of_the_pass_rate_is_that_of_wilson() -> None:
    found = Scorecard().intervals(Cards(games=1, overall=0.5, cases=10, passes=8))

    assert found["scorecard:pass-rate"] == wilson(8, 10)
    assert Scorecard().intervals(Cards()) == {}
