"""What must hold for every strategy, whatever the games."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import Fold, GameResult
from arena.scoring import ScoringStrategy
from scoring_strategies.average import Average
from scoring_strategies.bradley_terry import BradleyTerry
from scoring_strategies.consecutive import Consecutive
from scoring_strategies.elo import Elo
from scoring_strategies.glicko2 import Glicko2
from scoring_strategies.openskill import OpenSkill
from scoring_strategies.red_team import RedTeam
from scoring_strategies.win_rate import WinRate
from tests.results import board_of, game

Make = Callable[[], Fold[Any]]
ONLINE: list[Make] = [Average, WinRate, RedTeam, Consecutive, Elo, Glicko2, OpenSkill]
IN_ANY_ORDER: list[Make] = [Average, WinRate, RedTeam]
WHOLE_TABLE: list[Make] = [RedTeam, Consecutive, Elo, Glicko2, OpenSkill]
NAMES = ["ada", "ben", "cyd", "dan", "eve"]


def random_game(rng: Random, number: int, anonymous: bool = False) -> GameResult:
    seats = rng.choice([2, 2, 2, 3, 4])
    users: list[str | None] = list(rng.sample(NAMES, seats))
    if anonymous and rng.random() < 0.3:
        users[rng.randrange(seats)] = None
    scores = [(float(rng.choice([-1, 0, 1])), rng.choice([-1, 0, 0.5, 1])) for _ in users]
    breaches = [(by, of) for by in range(seats) for of in range(seats) if by != of and rng.random() < 0.2]
    outcomes = [rng.choice(["played"] * 8 + ["forfeit", "timeout"]) for _ in users]
    pair = rng.choice([None, None, f"pair {number // 2}"])
    more: dict[str, Any] = {"gameId": f"g{number:05d}", "completedAt": number * 9_000_000, "outcomes": outcomes}
    return game(users, scores, breaches, **more, **({"pair": pair} if pair else {}))


def random_games(seed: int, count: int = 30, anonymous: bool = False) -> list[GameResult]:
    rng = Random(seed)
    return [random_game(rng, number, anonymous) for number in range(count)]


def renamed(result: GameResult, names: dict[str, str]) -> GameResult:
    known = {invite: names[user] for invite, user in result.player_identities.items()}
    return result.model_copy(update={"player_identities": known})


async def metrics_of(strategy: ScoringStrategy, games: list[GameResult]) -> dict[str, dict[str, float]]:
    board = await board_of(strategy, *(one for one in games if one.counts))
    return {str(player): metrics for player, metrics in board.metrics.items()}


@pytest.mark.parametrize("make", ONLINE)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
async def test_other_names_give_the_same_numbers(make: Make, seed: int) -> None:
    games, names = random_games(seed, anonymous=True), dict(zip(NAMES, ["x", "", "ж", "ada", "7"], strict=True))

    plain = await metrics_of(make(), games)
    other = await metrics_of(make(), [renamed(one, names) for one in games])

    assert other == {names[player]: metrics for player, metrics in plain.items()}


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_other_names_give_the_same_fit(seed: int) -> None:
    games, names = random_games(seed), dict(zip(NAMES, ["x", "", "ж", "ada", "7"], strict=True))

    plain = BradleyTerry(20).fit({"psi": games})
    other = BradleyTerry(20).fit({"psi": [renamed(one, names) for one in games]})

    assert [(names[line.entry.player_id], line.entry.metrics, line.kept) for line in plain.lines] == [
        (line.entry.player_id, line.entry.metrics, line.kept) for line in other.lines
    ]


@pytest.mark.parametrize("make", IN_ANY_ORDER)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
async def test_means_and_rates_do_not_depend_on_the_order_of_games(make: Make, seed: int) -> None:
    games = random_games(seed, anonymous=True)

    plain = await metrics_of(make(), games)
    turned = await metrics_of(make(), Random(seed).sample(games, len(games)))

    assert set(turned) == set(plain)
    for player, metrics in plain.items():
        assert turned[player] == pytest.approx(metrics)


@pytest.mark.parametrize("make", ONLINE)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
async def test_the_numbers_are_finite_and_within_their_intervals(make: Make, seed: int) -> None:
    strategy = make()
    board = await board_of(strategy, *random_games(seed))

    for player, metrics in board.metrics.items():
        kept = await board.get(player)
        one, many = strategy.measure(kept), strategy.measure(kept, among=50)
        for key, (low, high) in one.intervals.items():
            assert low - 1e-9 <= metrics[key] <= high + 1e-9
            assert many.intervals[key].low <= low
            assert high <= many.intervals[key].high


@pytest.mark.parametrize("make", WHOLE_TABLE)
async def test_a_table_with_an_unknown_player_is_left_out(make: Make) -> None:
    games = random_games(7, anonymous=True)
    whole = [one for one in games if len(one.users) == len(one.players)]
    assert len(whole) < len(games)

    assert await metrics_of(make(), games) == await metrics_of(make(), whole)


@pytest.mark.parametrize("make", [Average, WinRate])
async def test_at_a_table_with_an_unknown_player_the_others_count(make: Make) -> None:
    [unknown] = [one for one in random_games(7, anonymous=True) if len(one.users) < len(one.players)][:1]

    assert set(await metrics_of(make(), [unknown])) == set(unknown.users)


@pytest.mark.parametrize("make", [Elo, OpenSkill, Glicko2])
async def test_a_rating_that_only_wins_goes_up_and_one_that_only_loses_goes_down(make: Make) -> None:
    strategy = make()
    key = next(metric.key for metric in strategy.metrics if metric.key.partition(":")[2] in {"rating", "mu"})
    games = [game(["ada", "ben"], [(0, 1), (0, 0)])] * 20

    values = [(await metrics_of(strategy, games[:n]))["ada"][key] for n in range(1, 21)]
    losses = [(await metrics_of(strategy, games[:n]))["ben"][key] for n in range(1, 21)]

    assert values == sorted(values)
    assert losses == sorted(losses, reverse=True)
