"""Statistics: intervals and what they say about ranks. Pure functions on plain numbers."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from math import copysign, exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import NamedTuple

from pydantic import BaseModel

CONFIDENCE = 0.95
OPEN = 64  # pairs of games that a spread remembers until their other game comes

NORMAL = NormalDist()


class Interval(NamedTuple):
    """Where a number lies, with the confidence that it was made for."""

    low: float
    high: float


class RankInterval(NamedTuple):
    """The best and the worst rank that a player may have."""

    best: int
    worst: int


def confidence_among(players: int) -> float:
    """The confidence that each of so many intervals needs for all to hold together at 95 % (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / max(players, 1)


@lru_cache(maxsize=1024)
def z_quantile(confidence: float = CONFIDENCE) -> float:
    """How many standard errors a two-sided interval reaches to either side."""
    return NORMAL.inv_cdf(0.5 + confidence / 2)


def around(value: float, error: float, confidence: float = CONFIDENCE) -> Interval:
    """The interval of an estimate whose error is normal."""
    reach = z_quantile(confidence) * error
    return Interval(value - reach, value + reach)


def wilson(hits: float, trials: float, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's interval of a share."""
    z, share = z_quantile(confidence), hits / trials
    scale = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    reach = z / scale * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    # At the ends the two parts are equal, but for their rounding.
    return Interval(max(0.0, centre - reach) if hits else 0.0, min(1.0, centre + reach) if hits < trials else 1.0)


@lru_cache(maxsize=4096)
def t_quantile(confidence: float, freedom: int) -> float:
    """How many standard errors an interval of a mean reaches: Student's t, found by bisection of its tail."""
    tail, low, high = (1 - confidence) / 2, 0.0, 1.0
    while _t_tail(high, freedom) > tail:
        low, high = high, high * 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_tail(middle, freedom) > tail else (low, middle)
    return (low + high) / 2


def _t_tail(t: float, freedom: int) -> float:
    """The chance that Student's t exceeds a positive value."""
    return 0.5 * _beta_share(freedom / 2, 0.5, freedom / (freedom + t * t))


def _beta_share(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function."""
    if x >= 1:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x > (a + 1) / (a + b + 2):
        return 1 - front * _beta_fraction(b, a, 1 - x) / b
    return front * _beta_fraction(a, b, x) / a


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Its continued fraction, by the method of Lentz."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 300):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > 1e-300 else copysign(1e-300, value)


class Spread(BaseModel):
    """How far values scatter around their mean, game by game; games of one pair belong together."""

    games: int = 0
    clusters: int = 0
    squares: float = 0  # Σ s², with s the sum of a cluster
    products: float = 0  # Σ s·n, with n its games
    sizes: int = 0  # Σ n²
    open: dict[str, tuple[int, float]] = {}  # pairs whose other game may come: n and s

    def add(self, value: float, pair: str | None = None) -> "Spread":
        """With one more game."""
        count, total = self.open.get(pair, (0, 0.0)) if pair is not None else (0, 0.0)
        more, sum_ = count + 1, total + value
        return Spread(
            games=self.games + 1,
            clusters=self.clusters + (count == 0),
            squares=self.squares - total * total + sum_ * sum_,
            products=self.products - total * count + sum_ * more,
            sizes=self.sizes - count * count + more * more,
            open=self.open if pair is None else self._opened(pair, (more, sum_)),
        )

    def _opened(self, pair: str, seen: tuple[int, float]) -> dict[str, tuple[int, float]]:
        others = [(name, value) for name, value in self.open.items() if name != pair]
        return dict([*others[1 - OPEN :], (pair, seen)])

    def interval(self, mean: float, confidence: float = CONFIDENCE) -> Interval | None:
        """The t interval of the mean; None as long as nothing is known of the scatter."""
        if self.clusters < 2:
            return None
        scatter = self.squares - 2 * mean * self.products + mean * mean * self.sizes
        if scatter <= 1e-12 * max(self.squares, 1e-12):
            return None
        error = sqrt(scatter * self.clusters / (self.clusters - 1)) / self.games
        reach = t_quantile(confidence, self.clusters - 1) * error
        return Interval(mean - reach, mean + reach)


def rank_intervals(intervals: Sequence[Interval | None]) -> list[RankInterval]:
    """Which ranks each player may have, given intervals that all hold together: who is certainly above or below."""
    known = [interval or Interval(-inf, inf) for interval in intervals]
    lows, highs = sorted(one.low for one in known), sorted(one.high for one in known)
    total = len(known)
    return [
        RankInterval(1 + total - bisect_right(lows, one.high), total - bisect_left(highs, one.low)) for one in known
    ]


def can_be_told_apart(one: Interval | None, other: Interval | None) -> bool:
    """Whether one of two players is certainly better."""
    return one is not None and other is not None and (one.low > other.high or other.low > one.high)
