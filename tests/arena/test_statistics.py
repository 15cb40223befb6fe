"""Statistics against published values and a library that is not ours."""

import math
from random import Random
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from arena.statistics import (
    Interval,
    RankInterval,
    Spread,
    can_be_told_apart,
    confidence_among,
    rank_intervals,
    t_quantile,
    wilson,
)


def spread_of(values: list[float], pairs: list[str | None] | None = None) -> Spread:
    spread = Spread()
    for value, pair in zip(values, pairs or [None] * len(values), strict=True):
        spread = spread.add(value, pair)
    return spread


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 10, 30, 100, 5000])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99, 1 - 0.05 / 1000])
def test_students_t_is_that_of_a_library(freedom: int, confidence: float) -> None:
    assert t_quantile(confidence, freedom) == pytest.approx(stats.t.ppf(0.5 + confidence / 2, freedom), rel=1e-9)


@given(st.integers(1, 500), st.data(), st.sampled_from([0.9, 0.95, 0.999]))
def test_wilsons_interval_is_that_of_a_library(trials: int, data: st.DataObject, confidence: float) -> None:
    hits = data.draw(st.integers(0, trials))

    expected = stats.binomtest(hits, trials).proportion_ci(confidence, method="wilson")

    assert wilson(hits, trials, confidence) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_the_interval_of_a_mean_by_hand() -> None:
    values = [1.0, 2.0, 4.0, 5.0]

    found = spread_of(values).interval(fmean(values))

    reach = 3.182446 * stdev(values) / 2  # t with three degrees of freedom
    assert found == pytest.approx((3 - reach, 3 + reach), abs=1e-5)


def test_games_of_one_pair_are_one_observation() -> None:
    values = [1.0, 3.0, 2.0, 8.0]
    twice = [value for value in values for _ in range(2)]
    pairs: list[str | None] = [f"p{n}" for n in range(4) for _ in range(2)]

    assert spread_of(twice, pairs).interval(3.5) == pytest.approx(spread_of(values).interval(3.5))
    assert spread_of(twice, pairs[::-1]) != spread_of(twice)


@given(st.lists(st.tuples(st.floats(-9, 9), st.sampled_from([None, "a", "b", "c"])), min_size=3, max_size=30))
def test_a_spread_kept_game_by_game_is_that_of_all_games_at_once(rows: list[tuple[float, str | None]]) -> None:
    values = [value for value, _ in rows]
    mean = fmean(values)
    clusters: dict[object, list[float]] = {}
    for number, (value, pair) in enumerate(rows):
        clusters.setdefault(number if pair is None else pair, []).append(value)
    sums = [sum(value - mean for value in cluster) for cluster in clusters.values()]

    found = spread_of(values, [pair for _, pair in rows]).interval(mean)

    scatter = sum(one * one for one in sums)
    if len(clusters) < 2 or scatter < 1e-6:
        return
    error = math.sqrt(scatter * len(clusters) / (len(clusters) - 1)) / len(rows)
    assert found is not None
    assert (found.high - found.low) / 2 == pytest.approx(t_quantile(0.95, len(clusters) - 1) * error, rel=1e-4)


def test_equal_values_and_single_games_have_no_interval() -> None:
    assert spread_of([1.0]).interval(1) is None
    assert spread_of([0.1] * 7).interval(0.1) is None
    assert spread_of([0.0] * 7).interval(0) is None
    assert spread_of([1.0, 2.0], ["p", "p"]).interval(1.5) is None


def test_a_spread_forgets_the_oldest_pairs_that_never_came_to_their_end() -> None:
    spread = spread_of([1.0] * 200, [f"p{n}" for n in range(200)])

    assert len(spread.open) == 64
    assert list(spread.open)[-1] == "p199"


def test_ranks_are_certain_where_intervals_do_not_touch() -> None:
    intervals = [Interval(10, 12), Interval(5, 9), Interval(8, 11), Interval(0, 4), None]

    found = rank_intervals(intervals)

    assert found == [
        RankInterval(1, 3),  # certainly above the second and the fourth
        RankInterval(2, 4),
        RankInterval(1, 4),
        RankInterval(4, 5),
        RankInterval(1, 5),  # nothing is known
    ]


@given(st.lists(st.tuples(st.floats(-99, 99), st.floats(0, 50)), min_size=1, max_size=20))
def test_a_rank_interval_is_what_counting_one_by_one_gives(rows: list[tuple[float, float]]) -> None:
    intervals = [Interval(middle - reach, middle + reach) for middle, reach in rows]

    for mine, found in zip(intervals, rank_intervals(intervals), strict=True):
        above = sum(other.low > mine.high for other in intervals)
        below = sum(other.high < mine.low for other in intervals)
        assert found == RankInterval(1 + above, len(intervals) - below)
        assert 1 <= found.best <= found.worst <= len(intervals)


def test_players_are_told_apart_only_by_intervals_that_do_not_touch() -> None:
    assert can_be_told_apart(Interval(0, 1), Interval(1.1, 2))
    assert can_be_told_apart(Interval(1.1, 2), Interval(0, 1))
    assert not can_be_told_apart(Interval(0, 1), Interval(1, 2))
    assert not can_be_told_apart(Interval(0, 1), None)


def test_intervals_for_many_players_hold_together() -> None:
    rng, players, games, missed = Random(4), 20, 30, 0
    for _ in range(300):
        for _ in range(players):
            values = [rng.gauss(0, 1) for _ in range(games)]
            mean = fmean(values)
            found = spread_of(values).interval(mean, confidence_among(players))
            assert found is not None
            if not found.low <= 0 <= found.high:
                missed += 1
                break

    assert missed / 300 < 0.09  # at most 5 % in the long run
