"""Bradley-Terry: the fit against a general-purpose optimiser, and what it says of how sure it is."""

import itertools
import time
from collections.abc import Sequence
from math import log
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from arena import GameResult
from arena.models import UserId
from arena.paired import Floats
from arena.scoring import Fit
from arena.statistics import Interval
from scoring_strategies.bradley_terry import RATING, BradleyTerry, _bundled
from tests.results import game, tied, won

NUMBERS = itertools.count()


def numbered(games: Sequence[GameResult]) -> list[GameResult]:
    return [one.model_copy(update={"game_id": f"g{next(NUMBERS):06d}"}) for one in games]


def fit(*games: GameResult, bootstraps: int = 50, seed: int = 1) -> Fit:
    return BradleyTerry(bootstraps, seed).fit({"psi": numbered(games)})


def ratings(made: Fit) -> dict[UserId, float]:
    return {line.entry.player_id: line.entry.metrics[RATING] for line in made.lines}


def interval(made: Fit, player: str, among: int = 1) -> Interval:
    [kept] = [line.kept for line in made.lines if line.entry.player_id == player]
    return BradleyTerry().measure(kept, among).intervals[RATING]


def by_optimiser(games: Sequence[GameResult], weights: Sequence[float]) -> dict[UserId, float]:
    """The maximum of the formula itself, by a method that knows nothing of it."""
    players = list(dict.fromkeys(user for one in games for user in one.users))

    def loss(theta: Floats) -> float:
        total = 0.01 * float(theta @ theta)
        for one, weight in zip(games, weights, strict=True):
            for a, b in itertools.combinations(range(len(one.users)), 2):
                ahead = theta[players.index(one.users[a])] - theta[players.index(one.users[b])]
                y = 0.5 if one.places[a] == one.places[b] else float(one.places[a] < one.places[b])
                total -= weight * (y * ahead - float(np.logaddexp(0, ahead)))
        return total

    found = minimize(loss, np.zeros(len(players)), method="BFGS", options={"gtol": 1e-9}).x
    return {player: 1500 + 400 / log(10) * float(x) for player, x in zip(players, found - found.mean(), strict=True)}


def random_games(seed: int, count: int, seats: int) -> list[GameResult]:
    rng = Random(seed)
    strength = {f"p{n}": rng.gauss(0, 1) for n in range(6)}
    made = []
    for _ in range(count):
        table = rng.sample(sorted(strength), seats)
        made.append(game(table, [(0, round(strength[player] + rng.gauss(0, 1))) for player in table]))
    return made


@pytest.mark.parametrize(("seats", "count"), [(2, 60), (3, 30), (5, 15)])
def test_the_ratings_are_the_maximum_that_a_general_optimiser_finds(seats: int, count: int) -> None:
    games = random_games(seats, count, seats)

    expected = by_optimiser(games, [1 / (seats - 1)] * count)

    assert ratings(fit(*games)) == pytest.approx(expected, abs=0.01)


def test_three_wins_in_four_games_by_hand() -> None:
    found = ratings(fit(*[won("A", "B")] * 75, *[won("B", "A")] * 25))

    # Without the penalty the odds of 3 to 1 are 400·log10(3) = 190.85 points; λ = 0.01 takes a little away.
    assert found[UserId("A")] - found[UserId("B")] == pytest.approx(190.85, abs=0.3)
    assert found[UserId("A")] + found[UserId("B")] == pytest.approx(3000)


@pytest.mark.parametrize(("games", "half_width"), [(100, 68), (400, 34)])
def test_the_difference_of_two_equals_is_known_to_347_over_root_n(games: int, half_width: float) -> None:
    made = fit(*[won("A", "B"), won("B", "A")] * (games // 2), bootstraps=1000)

    # Both ratings move together, half of the difference each.
    found = interval(made, "A")
    assert found.high - found.low == pytest.approx(half_width, rel=0.05)


def test_a_tie_is_half_a_win() -> None:
    assert ratings(fit(*[tied("A", "B")] * 10)) == pytest.approx({"A": 1500, "B": 1500})
    ties = ratings(fit(*[won("A", "B")] * 10, *[tied("A", "B")] * 10))
    wins = ratings(fit(*[won("A", "B")] * 15, *[won("B", "A")] * 5))
    assert ties == pytest.approx(wins)


def test_a_player_who_won_everything_has_a_rating_but_nobody_knows_how_high() -> None:
    made = fit(*[won("A", "B")] * 30, bootstraps=200)

    found = interval(made, "A")
    assert 1700 < ratings(made)[UserId("A")] < 3000
    assert found.high - found.low > 500


def test_groups_who_never_met_are_fitted_apart_and_it_is_said() -> None:
    made = fit(*[won("A", "B"), won("C", "D"), won("C", "E"), won("E", "D")] * 5)

    assert made.notes == {"components": 2, "componentSizes": [3, 2]}
    found = ratings(made)
    assert found[UserId("A")] + found[UserId("B")] == pytest.approx(3000)
    assert found[UserId("C")] + found[UserId("D")] + found[UserId("E")] == pytest.approx(4500)


def test_many_small_groups_are_fitted_together_as_if_each_were_alone() -> None:
    groups = [[won(f"A{n}", f"B{n}")] * (5 + n % 3) + [won(f"B{n}", f"A{n}")] * 3 for n in range(150)]

    made = fit(*(one for group in groups for one in group), bootstraps=300)
    alone = [fit(*group, bootstraps=300) for group in groups[:3]]

    assert made.notes == {"components": 150, "componentSizes": [2] * 100}
    for number, one in enumerate(alone):
        player = f"A{number}"
        assert ratings(made)[UserId(player)] == pytest.approx(ratings(one)[UserId(player)])
        for among in (1, 300):
            assert interval(made, player, among) == pytest.approx(interval(one, player, among), abs=40)
    players = list(range(300))
    homes = {player: player // 2 for player in players}
    rows = [(2 * n, 2 * n + 1, 1.0, 1.0, n) for n in range(150)]
    bundles = list(_bundled([[2 * n, 2 * n + 1] for n in range(150)], homes, rows))
    assert [len(bundle) for bundle, _ in bundles] == [200, 100]  # not one fit for each
    assert [player for bundle, _ in bundles for player in bundle] == players
    assert [row for _, own in bundles for row in own] == rows


def test_games_on_a_seed_that_was_chosen_are_drawn_together_too() -> None:
    rng = Random(3)
    outcomes = [rng.random() < 0.5 for _ in range(200)]
    chosen: list[dict[str, Any]] = [{"seeded": True, "seedCommitment": f"c{n}"} for n in range(200)]
    twins = [won(*("AB" if a else "BA"), **seed) for a, seed in zip(outcomes, chosen, strict=True)]

    alone = fit(*(one.model_copy(update={"seeded": False}) for one in twins * 2), bootstraps=1000)
    together = fit(*twins * 2, bootstraps=1000)

    width = [interval(made, "A").high - interval(made, "A").low for made in (together, alone)]
    assert width[0] / width[1] == pytest.approx(2**0.5, rel=0.1)


def test_games_of_one_pair_are_drawn_together() -> None:
    rng = Random(3)
    outcomes = [rng.random() < 0.5 for _ in range(200)]
    twins = [won("A", "B", pair=f"p{n}") if a else won("B", "A", pair=f"p{n}") for n, a in enumerate(outcomes)]

    alone = fit(*(one.model_copy(update={"pair": None}) for one in twins * 2), bootstraps=1000)
    paired = fit(*twins * 2, bootstraps=1000)

    # Every game twice is no more evidence than once: the honest interval is √2 wider.
    width = [interval(made, "A").high - interval(made, "A").low for made in (paired, alone)]
    assert width[0] / width[1] == pytest.approx(2**0.5, rel=0.1)


def test_on_the_global_board_types_weigh_the_same_whatever_their_games() -> None:
    few, many = numbered([won("A", "B")] * 3 + [won("B", "A")]), numbered([won("A", "B")] * 10 + [won("B", "A")] * 30)

    found = BradleyTerry(20).fit({"few": few, "many": many})

    assert ratings(found) == pytest.approx({"A": 1500, "B": 1500}, abs=0.01)


def test_a_fit_is_reproducible_and_does_not_depend_on_the_order_of_games() -> None:
    games = numbered(random_games(9, 80, 2))
    strategy = BradleyTerry(100)

    first, again, turned = (strategy.fit({"psi": some}) for some in (games, games, games[::-1]))

    assert first == again
    assert ratings(turned) == pytest.approx(ratings(first))
    for player in ratings(first):
        assert interval(turned, player) == pytest.approx(interval(first, player), abs=0.5)
    assert interval(BradleyTerry(100, seed=2).fit({"psi": games}), "p1") != interval(first, "p1")


def test_the_interval_for_all_players_at_once_is_wider() -> None:
    made = fit(*random_games(5, 200, 2), bootstraps=300)

    for player in ratings(made):
        one, all_ = interval(made, player), interval(made, player, among=6)
        assert all_.low < one.low < ratings(made)[player] < one.high < all_.high


def test_void_games_self_play_and_unknown_players_do_not_count() -> None:
    some = [won("A", "B"), won("B", "A")]
    left_out = [won("A", "A"), game(["A", None], [(0, 1), (0, 0)]), won("A", "B", outcomes=["void", "void"])]

    assert ratings(fit(*some, *left_out)) == ratings(fit(*some)) == {"A": 1500, "B": 1500}


def test_no_games_are_an_empty_board() -> None:
    assert fit() == Fit([], {"components": 0, "componentSizes": []})


@pytest.mark.slow
def test_a_thousand_players_and_a_hundred_thousand_games_are_fitted_in_seconds() -> None:
    from arena.paired import Games, Meetings, chances, maximum

    rng = np.random.default_rng(1)
    theta, first = rng.normal(0, 1, 1000), rng.integers(1000, size=100_000)
    second = (first + 1 + rng.integers(999, size=100_000)) % 1000
    share = (rng.random(100_000) < chances(theta[first] - theta[second])).astype(float)
    meetings = Meetings.of(Games(first, second, share, np.ones(100_000), np.arange(100_000), np.zeros(1000, int)))
    begun = time.perf_counter()

    found = maximum(meetings, *meetings.totals())

    assert np.corrcoef(found, theta)[0, 1] > 0.97
    assert time.perf_counter() - begun < 20
