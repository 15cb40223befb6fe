"""Bradley-Terry: the strengths that explain all games at once, for the ranking that is published.

It does not depend on the order of the games. A table of n seats is reduced to its pairs, each with a weight of 1/(n-1),
which fits the Plackett-Luce model of a ranking. On the global board all challenge types weigh the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue

from arena import Fit, GameResult, Interval, MetricDescriptor, ScoringEntry
from arena.models import UserId
from arena.scoring import Certainty, FittedLine
from arena.statistics import around

if TYPE_CHECKING:
    from arena.paired import Strengths

START = 1500.0
SCALE = 400 / log(10)
BOOTSTRAPS = 1000
SEED = 1
BUNDLE = 200  # players that are fitted at a time, if they fall into groups
SHOWN = 100  # groups whose sizes are told
RATING = "bradley-terry:rating"

Row = tuple[int, int, float, float, int]  # two players, the share that the first one won, weight, cluster


class BradleyTerry:
    """Games with a seat without identity do not count: nobody knows who that rival was."""

    name = "bradley-terry"
    metrics = (MetricDescriptor(key=RATING, label="Rating"),)

    def __init__(self, bootstraps: int = BOOTSTRAPS, seed: int = SEED) -> None:
        self.bootstraps = bootstraps
        self.seed = seed

    @property
    def parameters(self) -> Mapping[str, JsonValue]:
        """Shown with the board."""
        from arena.paired import RIDGE

        return {"start": START, "scale": 400, "lambda": RIDGE, "bootstraps": self.bootstraps, "seed": self.seed}

    def fit(self, results: Mapping[str, Sequence[GameResult]]) -> Fit:
        """Fit each group of players who can be compared; ratings of two groups say nothing of each other."""
        from arena.paired import components

        counted = {type_: [one for one in some if _counts(one)] for type_, some in results.items()}
        played: dict[UserId, int] = {}
        for some in counted.values():
            for result in some:
                for user in result.users:
                    played[user] = played.get(user, 0) + 1
        numbers = {user: number for number, user in enumerate(played)}
        rows = list(_rows(counted, numbers))
        groups = components(((row[0], row[1]) for row in rows), len(numbers))
        home = {player: number for number, group in enumerate(groups) for player in group}
        found: dict[int, tuple[float, float, float]] = {}
        for bundle, own in _bundled(groups, home, rows):
            found |= self._fit_groups(bundle, home, own)
        lines = [_line(user, played[user], home[n], *found[n]) for user, n in numbers.items()]
        sizes: list[JsonValue] = [len(group) for group in groups[:SHOWN]]
        return Fit(lines, {"components": len(groups), "componentSizes": sizes})

    def _fit_groups(
        self, players: list[int], home: Mapping[int, int], rows: list[Row]
    ) -> "dict[int, tuple[float, float, float]]":
        from arena.paired import Games, fit

        inside = {player: number for number, player in enumerate(players)}
        own = [(inside[a], inside[b], share, weight, cluster) for a, b, share, weight, cluster in rows]
        made: Strengths = fit(Games.of(own, [home[player] for player in players]), self.bootstraps, self.seed)
        return {
            player: (float(made.theta[n]), float(made.error[n]), float(made.reach[n])) for player, n in inside.items()
        }

    def measure(self, kept: JsonValue, among: int = 1) -> Certainty:
        """The interval of a player for itself, or the one that holds together with all others of the fit."""
        line = cast(dict[str, Any], kept)
        bounds = line["interval"] if among == 1 else line["together"]
        return Certainty({RATING: Interval(*bounds)}, group=line["component"])


def _bundled(
    groups: Sequence[list[int]], home: Mapping[int, int], rows: Iterable[Row]
) -> Iterator[tuple[list[int], list[Row]]]:
    """Groups with their games, small ones many at a time: a thousand pairs of strangers cost no more than a crowd."""
    apart: list[list[Row]] = [[] for _ in groups]
    for row in rows:
        apart[home[row[0]]].append(row)
    players: list[int] = []
    own: list[Row] = []
    for group, games in zip(groups, apart, strict=True):
        if players and len(players) + len(group) > BUNDLE:
            yield players, own
            players, own = [], []
        players, own = players + group, own + games
    if players:
        yield players, own


def _counts(result: GameResult) -> bool:
    return result.counts and len(result.players) == len(result.users) >= 2


def _rows(counted: Mapping[str, Sequence[GameResult]], numbers: Mapping[UserId, int]) -> Iterator[Row]:
    """The pairs of all tables, in an order that has nothing to do with that of the games."""
    total, types = sum(map(len, counted.values())), sum(map(bool, counted.values()))
    clusters: dict[tuple[str, str], int] = {}
    for type_, some in sorted(counted.items()):
        for result in sorted(some, key=lambda one: one.game_id):
            seats, places = [numbers[user] for user in result.users], result.places
            weight = total / (types * len(some)) / (len(seats) - 1)
            cluster = clusters.setdefault((type_, result.deal or result.game_id), len(clusters))
            for a in range(len(seats)):
                for b in range(a + 1, len(seats)):
                    share = 0.5 if places[a] == places[b] else float(places[a] < places[b])
                    yield seats[a], seats[b], share, weight, cluster


def _line(user: UserId, games: int, component: int, theta: float, error: float, reach: float) -> FittedLine:
    rating, spread = START + SCALE * theta, SCALE * error
    kept: JsonValue = {
        "component": component,
        "interval": list(around(rating, spread)),
        "together": [rating - reach * spread, rating + reach * spread],
    }
    return FittedLine(ScoringEntry(player_id=user, games_played=games, metrics={RATING: rating}), kept)
