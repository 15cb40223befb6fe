"""Average: the mean of a player's scores."""

import pytest
from pydantic_core import from_json

from arena.models import UserId
from scoring_strategies.average import Average
from tests.results import EXAMPLE, board_of, game


async def test_the_average_of_one_game_is_its_scores() -> None:
    board = await board_of(Average(), EXAMPLE)

    assert board.metrics == {
        "A": {"average:security": 1, "average:utility": 1},
        "B": {"average:security": -1, "average:utility": 1},
    }
    assert [entry.games_played for entry in board.entries.values()] == [1, 1]


async def test_the_average_is_the_mean_of_a_players_games() -> None:
    games = [
        game(["A", "B"], [(1, 1), (-1, 1)]),
        game(["B", "A"], [(1, 0), (-1, -1)]),
        game(["A", "C"], [(0, 0.5), (1, 0)]),
        game(["C", "A"], [(0, 0), (1, 1)]),
    ]

    board = await board_of(Average(), *games)

    assert board.metrics == {
        "A": {"average:security": 0.25, "average:utility": 0.375},
        "B": {"average:security": 0, "average:utility": 0.5},
        "C": {"average:security": 0.5, "average:utility": 0},
    }
    assert {player: entry.games_played for player, entry in board.entries.items()} == {"A": 4, "B": 2, "C": 2}


async def test_the_average_leaves_a_seat_without_identity_out_and_counts_the_others() -> None:
    board = await board_of(Average(), game([None, "B"], [(1, 1), (-1, 0.5)]), game([None, None], [(1, 1), (1, 1)]))

    assert board.metrics == {"B": {"average:security": -1, "average:utility": 0.5}}


@pytest.mark.parametrize("seats", [1, 3, 8])
async def test_the_average_counts_tables_of_any_size(seats: int) -> None:
    users = [f"user {seat}" for seat in range(seats)]

    board = await board_of(Average(), game([*users], [(seat, -seat) for seat in range(seats)]))

    assert [board.metrics[UserId(user)]["average:security"] for user in users] == list(range(seats))


async def test_folding_the_same_games_again_gives_identical_numbers() -> None:
    games = [game(["A", "B"], [(0.1 * n, 0.7), (0.3, -0.2 * n)]) for n in range(50)]

    first, second = await board_of(Average(), *games), await board_of(Average(), *games)

    assert first.kept == second.kept
    assert first.entries == second.entries


async def test_the_metrics_that_the_average_announces_are_those_it_keeps() -> None:
    board = await board_of(Average(), EXAMPLE)

    assert [metric.key for metric in Average.metrics] == list(board.metrics[UserId("A")])


async def test_games_on_one_deal_are_one_observation() -> None:
    scores = [1.0, 1.0, -1.0, -1.0, 1.0, 1.0, 0.0, 0.0]
    played = [
        game(["A"], [(0, score)], seeded=True, seedCommitment=f"deal {number // 2}")
        for number, score in enumerate(scores)
    ]
    alone = [one.model_copy(update={"seeded": False}) for one in played]

    together, apart = [(await board_of(Average(), *some)).kept[UserId("A")] for some in (played, alone)]

    strategy, key = Average(), "average:utility"
    wide, narrow = [strategy.measure(from_json(kept)).intervals[key] for kept in (together, apart)]
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
