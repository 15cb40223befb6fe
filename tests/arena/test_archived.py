"""What an archive may hold: results that an arena can have written, and nothing that would stop a board."""

from typing import Any

import orjson
import pytest

from arena.archived import check_profile, check_result
from arena.errors import Invalid
from arena.models import LONGEST, GameResult, UserId, UserProfile
from tests.results import game

SCORES: list[tuple[float, float]] = [(1, 1), (-1, 0.5)]
IMPOSSIBLE: list[dict[str, Any]] = [
    {"scores": [{"security": 0, "utility": 0}]},
    {"outcomes": ["played"]},
    {"players": ["inv_a", "inv_a"]},
    {"players": [], "scores": [], "outcomes": [], "playerIdentities": {}},
    {"playerIdentities": {"inv_stranger": "eve"}},
    {"completedAt": 2**53},
    {"scores": [{"security": 0, "utility": 1e300}, {"security": 0, "utility": 0}]},
    {"responseTimes": [[1]]},
    {"responseTimes": [[1], [-1]]},
    {"responseTimes": [[1], [0] * 101]},
    {"challengeType": "global"},
    {"challengeType": "a}b"},
]


@pytest.mark.parametrize("change", IMPOSSIBLE, ids=str)
def test_a_game_that_cannot_have_been_is_refused(change: dict[str, Any]) -> None:
    made = GameResult.from_json(orjson.dumps({**game(["ada", "ben"], SCORES).wire(), **change}))

    with pytest.raises(Invalid, match="no result of a game"):
        check_result(made)


def test_a_game_that_can_have_been_is_taken_whoever_played() -> None:
    check_result(game(["ada", None], SCORES))
    check_result(game(["u" * LONGEST], [(0, 0)], gameId="g" * LONGEST))


@pytest.mark.parametrize("told", [{"username": "x" * 129}, {"model": "x" * 129}, {"user_id": ""}])
def test_names_that_no_door_would_take_are_refused(told: dict[str, str]) -> None:
    with pytest.raises(Invalid, match="1 to 128 characters"):
        check_profile(UserProfile.model_validate({"user_id": "ada", **told}))

    check_profile(UserProfile(user_id=UserId("ada"), username="x" * 128))
