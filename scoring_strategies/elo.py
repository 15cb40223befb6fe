"""Elo: points that a player takes from those it beats, game by game.

A table of n seats is n-1 games at once, each with its share of K. Since K does not fall to nothing, the last value is
noisy for ever; the tally keeps how noisy, by following the error of the points through each game to first order.
"""

from math import log, sqrt

from pydantic import BaseModel

from arena import Fold, GameResult, Interval, MetricDescriptor
from arena.statistics import around, confidence_among

START = 1500.0
SCALE = 400.0  # points that make the odds ten to one
FRESH, SETTLED = 32.0, 16.0  # K
SETTLES = 30  # games after which K is the smaller one
DOUBT = 350.0  # standard error of a player that nobody has seen


class Points(BaseModel):
    """A player's points, how sure they are, and its games."""

    rating: float = START
    variance: float = DOUBT**2
    games: int = 0


def expected(rating: float, rival: float) -> float:
    """The share of a game that a player is expected to win."""
    return float(1 / (1 + 10 ** ((rival - rating) / SCALE)))


def share(place: int, rival: int) -> float:
    """The share of a game that a player has won."""
    return 0.5 if place == rival else float(place < rival)


class Elo(Fold[Points]):
    """Games with a seat without identity do not count: nobody knows how strong that rival was."""

    name = "elo"
    metrics = (MetricDescriptor(key="elo:rating", label="Elo"),)
    parameters = {"start": START, "scale": SCALE, "k": [FRESH, SETTLED], "settlesAfterGames": SETTLES}
    anonymous = "skip game"
    fewest_seats = 2

    def fold(self, tallies: list[Points], result: GameResult) -> list[Points]:
        """Move the points of all seats, by what they were before this game."""
        places = result.places
        return [self._moved(seat, tallies, places) for seat in range(len(tallies))]

    def _moved(self, seat: int, tallies: list[Points], places: list[int]) -> Points:
        mine, rivals = tallies[seat], len(tallies) - 1
        k = (FRESH if mine.games < SETTLES else SETTLED) / rivals
        gain, pull, noise, echo = 0.0, 0.0, 0.0, 0.0
        for rival, place in zip(tallies, places, strict=True):
            if rival is not mine:
                chance = expected(mine.rating, rival.rating)
                slope = log(10) / SCALE * chance * (1 - chance)
                gain += share(places[seat], place) - chance
                pull += slope
                noise += chance * (1 - chance)
                echo += slope * slope * rival.variance
        noise *= (rivals + 2) / 3  # the pairs of one table hang together: exact for equals, and for two seats
        variance = (1 - k * pull) ** 2 * mine.variance + k * k * (noise + echo)
        return Points(rating=mine.rating + k * gain, variance=variance, games=mine.games + 1)

    def read(self, tally: Points) -> dict[str, float]:
        """The points."""
        return {"elo:rating": tally.rating}

    def intervals(self, tally: Points, among: int = 1) -> dict[str, Interval]:
        """The points, and how far they may be off."""
        return {"elo:rating": around(tally.rating, sqrt(tally.variance), confidence_among(among))}
