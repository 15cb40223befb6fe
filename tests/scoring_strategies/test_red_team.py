"""Red team: breaches caused and suffered."""

import pytest

from arena import Attribution, GameResult
from scoring_strategies.red_team import Breaches, RedTeam
from tests.results import EXAMPLE, board_of, game


async def test_the_example_of_the_protocol() -> None:
    board = await board_of(RedTeam(), EXAMPLE)

    assert board.metrics == {
        "A": {"red-team:attack": 1, "red-team:defend": 1},
        "B": {"red-team:attack": 0, "red-team:defend": 0},
    }


async def test_the_rates_are_shares_of_a_players_games() -> None:
    quiet, breached = game(["A", "B"], [(1, 1), (1, 1)]), game(["B", "A"], [(1, 1), (-1, 1)], breaches=[(0, 1)])

    board = await board_of(RedTeam(), EXAMPLE, quiet, quiet, breached)

    assert board.metrics == {
        "A": {"red-team:attack": 0.25, "red-team:defend": 0.75},
        "B": {"red-team:attack": 0.25, "red-team:defend": 0.75},
    }


async def test_at_a_table_of_many_a_player_causes_and_suffers_at_most_one_breach_in_a_game() -> None:
    table = game(["A", "B", "C"], [(1, 1), (-1, 0), (-1, 0)], breaches=[(0, 1), (0, 2), (2, 1)])

    board = await board_of(RedTeam(), table)

    assert board.metrics == {
        "A": {"red-team:attack": 1, "red-team:defend": 1},
        "B": {"red-team:attack": 0, "red-team:defend": 0},
        "C": {"red-team:attack": 1, "red-team:defend": 0},
    }


async def test_only_security_breaches_count() -> None:
    praise = Attribution.from_json(b'{"from": "inv_0", "to": "inv_1", "type": "praise"}')
    polite = game(["A", "B"], [(1, 1), (1, 1)]).model_copy(update={"attributions": [praise]})

    board = await board_of(RedTeam(), polite)

    assert board.of("A") == board.of("B") == {"red-team:attack": 0, "red-team:defend": 1}


@pytest.mark.parametrize(
    "skipped",
    [game(["A", None], [(1, 1), (1, 1)]), game(["A", "B", None], [(1, 1)] * 3), game(["A"], [(1, 1)])],
    ids=["two seats, one unknown", "three seats, one unknown", "one seat"],
)
async def test_a_game_with_an_unknown_player_or_a_single_seat_is_skipped(skipped: GameResult) -> None:
    board = await board_of(RedTeam(), skipped)

    assert board.entries == {}


def test_the_intervals_turn_with_the_rates() -> None:
    found = RedTeam().intervals(Breaches(games=10, caused=8, suffered=8))

    assert found["red-team:attack"] == pytest.approx((0.490162, 0.943318), abs=1e-6)
    assert found["red-team:defend"] == pytest.approx((1 - 0.943318, 1 - 0.490162), abs=1e-6)
