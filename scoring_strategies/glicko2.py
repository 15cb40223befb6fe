"""Glicko-2: a rating that knows how sure it is (Mark Glickman, "Example of the Glicko-2 system").

Every game is a rating period of its own, a table of n seats one with n-1 rivals. A full day without a game is an empty
period: the rating stays, and its deviation grows.
"""

from collections.abc import Sequence
from math import exp, log, pi, sqrt
from typing import NamedTuple

from pydantic import BaseModel

from arena import Fold, GameResult, Interval, MetricDescriptor
from arena.statistics import around, confidence_among

START, DEVIATION, VOLATILITY = 1500.0, 350.0, 0.06
TAU = 0.5  # how fast the volatility may change
FLOOR, CEILING = 45.0, 350.0  # of the deviation
PROVISIONAL = 110.0  # a deviation from which on nobody should believe the rating
SCALE = 400 / log(10)  # 173.7178…: from the scale of the method to the one that is shown
CLOSE = 1e-6  # where the search for the volatility ends
DAY = 86_400_000  # milliseconds


class Strength(BaseModel):
    """Rating, deviation and volatility, and when the player was last seen."""

    rating: float = START
    deviation: float = DEVIATION
    volatility: float = VOLATILITY
    last: int | None = None


class Rival(NamedTuple):
    """Who was met in a period, and the share of the game that was won."""

    rating: float
    deviation: float
    score: float


def rate(mine: Strength, rivals: Sequence[Rival]) -> Strength:
    """One rating period, by the steps of the paper; the deviation is as it comes, without floor and ceiling."""
    mu, phi = (mine.rating - START) / SCALE, mine.deviation / SCALE
    weights = [_weight(rival.deviation / SCALE) for rival in rivals]
    chances = [
        1 / (1 + exp(-g * (mu - (rival.rating - START) / SCALE))) for g, rival in zip(weights, rivals, strict=True)
    ]
    variance = 1 / sum(g * g * e * (1 - e) for g, e in zip(weights, chances, strict=True))
    surprise = sum(g * (rival.score - e) for g, e, rival in zip(weights, chances, rivals, strict=True))
    volatility = _volatility(phi, mine.volatility, variance, variance * surprise)
    grown = phi * phi + volatility * volatility
    shrunk = 1 / sqrt(1 / grown + 1 / variance)
    rating = START + SCALE * (mu + shrunk * shrunk * surprise)
    return Strength(rating=rating, deviation=SCALE * shrunk, volatility=volatility, last=mine.last)


def _weight(phi: float) -> float:
    """How much a game against a rival of that deviation says."""
    return 1 / sqrt(1 + 3 * phi * phi / (pi * pi))


def _volatility(phi: float, sigma: float, variance: float, change: float) -> float:
    """The new volatility: step 5 of the paper, by the Illinois algorithm."""
    start = log(sigma * sigma)

    def f(x: float) -> float:
        rest = phi * phi + variance + exp(x)
        return exp(x) * (change * change - rest) / (2 * rest * rest) - (x - start) / (TAU * TAU)

    a, b = start, start
    if change * change > phi * phi + variance:
        b = log(change * change - phi * phi - variance)
    else:
        steps = 1
        while f(start - steps * TAU) < 0:
            steps += 1
        b = start - steps * TAU
    at_a, at_b = f(a), f(b)
    while abs(b - a) > CLOSE:
        c = a + (a - b) * at_a / (at_b - at_a)
        at_c = f(c)
        if at_c * at_b <= 0:
            a, at_a = b, at_b
        else:
            at_a /= 2
        b, at_b = c, at_c
    return exp(a / 2)


def rested(strength: Strength, now: int) -> Strength:
    """After the full days that have gone by without a game."""
    days = 0 if strength.last is None else max(0, now - strength.last) // DAY
    grown = sqrt(strength.deviation**2 + days * (SCALE * strength.volatility) ** 2)
    return strength.model_copy(update={"deviation": min(CEILING, grown)})


class Glicko2(Fold[Strength]):
    """Games with a seat without identity do not count: nobody knows how strong that rival was."""

    name = "glicko2"
    metrics = (
        MetricDescriptor(key="glicko2:rating", label="Rating"),
        MetricDescriptor(key="glicko2:deviation", label="Deviation"),
        MetricDescriptor(key="glicko2:volatility", label="Volatility"),
    )
    parameters = {
        "start": [START, DEVIATION, VOLATILITY],
        "tau": TAU,
        "deviation": [FLOOR, CEILING],
        "provisionalFrom": PROVISIONAL,
    }
    anonymous = "skip game"
    fewest_seats = 2

    def fold(self, tallies: list[Strength], result: GameResult) -> list[Strength]:
        """A period for each seat, against all others as they were before it."""
        now, places = result.completed_at, result.places
        before = [rested(tally, now) for tally in tallies]
        return [self._rated(seat, before, places, now) for seat in range(len(before))]

    def _rated(self, seat: int, before: list[Strength], places: list[int], now: int) -> Strength:
        rivals = [
            Rival(rival.rating, rival.deviation, 0.5 if place == places[seat] else float(places[seat] < place))
            for other, (rival, place) in enumerate(zip(before, places, strict=True))
            if other != seat
        ]
        rated = rate(before[seat], rivals)
        last = max(now, before[seat].last or now)
        return rated.model_copy(update={"deviation": min(CEILING, max(FLOOR, rated.deviation)), "last": last})

    def read(self, tally: Strength) -> dict[str, float]:
        """As of the player's last game."""
        return {
            "glicko2:rating": tally.rating,
            "glicko2:deviation": tally.deviation,
            "glicko2:volatility": tally.volatility,
        }

    def intervals(self, tally: Strength, among: int = 1) -> dict[str, Interval]:
        """The rating, and as many deviations to either side as the confidence asks for."""
        return {"glicko2:rating": around(tally.rating, tally.deviation, confidence_among(among))}

    def is_provisional(self, tally: Strength) -> bool:
        """As long as the deviation is large."""
        return tally.deviation >= PROVISIONAL
