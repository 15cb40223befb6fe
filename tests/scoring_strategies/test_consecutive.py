"""Consecutive: streaks that one bad game ends."""

import pytest

from arena import GameResult
from arena.models import UserId
from scoring_strategies.consecutive import Consecutive
from tests.results import EXAMPLE, board_of, game

SECURITY, UTILITY, ATTACK = "consecutive:security", "consecutive:utility", "consecutive:attack"


async def test_the_example_of_the_protocol() -> None:
    board = await board_of(Consecutive(), EXAMPLE)

    assert board.metrics == {
        "A": {SECURITY: 1, UTILITY: 1, ATTACK: 1},
        "B": {SECURITY: 0, UTILITY: 1, ATTACK: 0},
    }


async def test_each_streak_grows_game_by_game_and_falls_back_to_nothing() -> None:
    course = [(1, 1, True), (2, 0.9, True), (1, 1, False), (-1, 1, True)]
    expected = [(1, 1, 1), (2, 0, 2), (3, 1, 0), (0, 2, 1)]

    for games in range(1, 5):
        played = [game(["A", "B"], [(s, u), (0, 0)], breaches=[(0, 1)] * attack) for s, u, attack in course[:games]]
        board = await board_of(Consecutive(), *played)

        assert tuple(board.of("A").values()) == expected[games - 1]
        assert board.entries[UserId("A")].games_played == games


async def test_two_breaches_in_one_game_are_one_step_of_a_streak() -> None:
    board = await board_of(Consecutive(), game(["A", "B", "C"], [(0, 0)] * 3, breaches=[(0, 1), (0, 2)]))

    assert board.of("A")[ATTACK] == 1


@pytest.mark.parametrize(
    "skipped", [game(["A", None], [(0, 0), (1, 1)]), game(["A"], [(0, 0)])], ids=["unknown player", "one seat"]
)
async def test_a_skipped_game_neither_adds_to_a_streak_nor_ends_it(skipped: GameResult) -> None:
    board = await board_of(Consecutive(), EXAMPLE, skipped, EXAMPLE)

    assert board.of("A") == {SECURITY: 2, UTILITY: 2, ATTACK: 2}
