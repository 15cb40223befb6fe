"""Paired comparisons: strengths that explain best who beat whom, and how far they can be believed. Needs NumPy.

The strengths θ maximise Σ w·[y·(θa-θb) - log(1+e^(θa-θb))] - λ‖θ‖². They are found by Newton's method. The bootstraps
start from that maximum and share its Hessian, which leaves a product of matrices for each step of all of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.statistics import z_quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RIDGE = 0.01  # λ
EXACT = 1e-10  # of the maximum: the largest step that is still worth taking
CLOSE = 1e-3  # of a bootstrap; a fifth of a point on the scale that is shown
STEPS = 100
BLOCK = 4_000_000  # numbers that the bootstraps of one block may need at a time


@dataclass(frozen=True)
class Games:
    """Comparisons as columns: who, with whom, the share that the first one won, its weight, and what hangs together."""

    first: Ints
    second: Ints
    share: Floats
    weight: Floats
    cluster: Ints
    group: Ints  # of each player: only those of one group have met, over whatever number of others

    @property
    def players(self) -> int:
        """How many there are."""
        return len(self.group)

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, float, float, int]], groups: Sequence[int]) -> "Games":
        """From rows, and the group of each player."""
        columns = list(zip(*rows, strict=True)) or [()] * 5
        whole, real = np.int64, np.float64
        return cls(
            np.array(columns[0], whole),
            np.array(columns[1], whole),
            np.array(columns[2], real),
            np.array(columns[3], real),
            np.array(columns[4], whole),
            np.unique(np.array(groups, whole), return_inverse=True)[1].ravel(),
        )


@dataclass(frozen=True)
class Meetings:
    """Games summed up by pair of players, the smaller number first."""

    first: Ints
    second: Ints
    players: int
    index: Ints  # of each game's pair
    won: Floats  # what each game adds to the first one's wins
    weight: Floats

    @classmethod
    def of(cls, games: Games) -> "Meetings":
        """Whoever met, once."""
        low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
        met, index = np.unique(low * games.players + high, return_inverse=True)
        share = np.where(games.first == low, games.share, 1 - games.share)
        first, second = np.divmod(met, games.players)
        return cls(first, second, games.players, index.ravel(), share * games.weight, games.weight)

    def totals(self, times: Floats | None = None) -> tuple[Floats, Floats]:
        """Wins and games of each pair, with each game taken so many times."""
        won, weight = (self.won, self.weight) if times is None else (self.won * times, self.weight * times)
        size = len(self.first)
        return _sums(self.index, won, size), _sums(self.index, weight, size)

    def slope(self, theta: Floats, won: Floats, weight: Floats) -> Floats:
        """The gradient of what is maximised."""
        surplus = won - weight * chances(theta[self.first] - theta[self.second])
        return self._spread(surplus, -surplus) - 2 * RIDGE * theta

    def diagonal(self, theta: Floats, weight: Floats) -> Floats:
        """The diagonal of the Hessian, with the sign turned."""
        bend = self._bend(theta, weight)
        return self._spread(bend, bend) + 2 * RIDGE

    def hessian(self, theta: Floats, weight: Floats) -> Floats:
        """All of it, with the sign turned."""
        bend = self._bend(theta, weight)
        matrix = np.zeros((self.players, self.players))
        matrix[self.first, self.second] = matrix[self.second, self.first] = -bend
        np.fill_diagonal(matrix, self._spread(bend, bend) + 2 * RIDGE)
        return matrix

    def value(self, theta: Floats, won: Floats, weight: Floats) -> float:
        """What is maximised."""
        ahead = theta[self.first] - theta[self.second]
        return float(np.sum(won * ahead - weight * np.logaddexp(0, ahead)) - RIDGE * np.sum(theta * theta))

    def _bend(self, theta: Floats, weight: Floats) -> Floats:
        chance = chances(theta[self.first] - theta[self.second])
        return weight * chance * (1 - chance)

    def _spread(self, to_first: Floats, to_second: Floats) -> Floats:
        size = self.players
        return _sums(self.first, to_first, size) + _sums(self.second, to_second, size)


def _sums(index: Ints, values: Floats, size: int) -> Floats:
    return np.bincount(index, values, size).astype(np.float64, copy=False)


def chances(ahead: Floats) -> Floats:
    """The chance to win of one who is so far ahead."""
    return 0.5 + 0.5 * np.tanh(0.5 * ahead)


def maximum(meetings: Meetings, won: Floats, weight: Floats, start: Floats | None = None) -> Floats:
    """The strengths that explain these games best; the penalty makes the sum of each group 0."""
    theta = np.zeros(meetings.players) if start is None else start.copy()
    for _ in range(STEPS):
        step = np.linalg.solve(meetings.hessian(theta, weight), meetings.slope(theta, won, weight))
        before = meetings.value(theta, won, weight)
        while meetings.value(theta + step, won, weight) < before - 1e-12 * abs(before):
            step = step / 2
        theta = theta + step
        if np.max(np.abs(step), initial=0) < EXACT:
            break
    return theta


def bootstraps(games: Games, theta: Floats, count: int, seed: int) -> Floats:
    """The maximum of so many samples of the games, drawn by cluster with replacement: a row for each.

    Each group is drawn for itself, so that it has as many clusters in every sample.
    """
    meetings, rng = Meetings.of(games), np.random.default_rng(seed)
    span = int(games.cluster.max(initial=0)) + 1
    named, clusters = np.unique(games.group[games.first] * span + games.cluster, return_inverse=True)
    clusters, number, home = clusters.ravel(), len(named), named // span
    size = np.bincount(home)
    first, width = (np.cumsum(size) - size)[home], size[home].astype(np.float64)
    inverse: Floats = np.linalg.inv(meetings.hessian(theta, meetings.totals()[1])).astype(np.float64, copy=False)
    found: Floats = np.empty((count, games.players))
    block = max(1, min(count, BLOCK // max(1, games.players)))
    for begin in range(0, count, block):
        samples = []
        for _ in range(begin, min(count, begin + block)):
            drawn = first + (rng.random(number) * width).astype(np.int64)
            times = np.bincount(drawn, minlength=number)[clusters]
            samples.append(meetings.totals(times.astype(np.float64)))
        found[begin : begin + len(samples)] = _refit(meetings, theta, inverse, samples)
    middles = np.stack([np.bincount(games.group, row) for row in found]) / np.bincount(games.group)
    centred: Floats = found - middles[:, games.group]
    return centred


def _refit(meetings: Meetings, theta: Floats, inverse: Floats, samples: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The maxima of samples: a shared step for all, then one of its own for each strength, until all stand still.

    The shared step alone is slow for a player who won all its games in a sample but not in truth, or the other way.
    """
    thetas = np.tile(theta, (len(samples), 1))
    moving = list(range(len(samples)))
    for _ in range(STEPS):
        slopes = np.stack([meetings.slope(thetas[i], *samples[i]) for i in moving])
        shared = np.clip(slopes @ inverse, -1, 1)
        thetas[moving] += shared
        own = np.stack([_own_step(meetings, thetas[i], *samples[i]) for i in moving])
        thetas[moving] += own
        far = np.maximum(np.abs(shared), np.abs(own)).max(axis=1) > CLOSE
        moving = [i for i, is_far in zip(moving, far, strict=True) if is_far]
        if not moving:
            return thetas
    for i in moving:
        won, weight = samples[i]
        thetas[i] = maximum(meetings, won, weight, thetas[i])
    return thetas


def _own_step(meetings: Meetings, theta: Floats, won: Floats, weight: Floats) -> Floats:
    slope = meetings.slope(theta, won, weight)
    return np.clip(0.5 * slope / meetings.diagonal(theta, weight), -1, 1)


def components(pairs: Iterable[tuple[int, int]], players: int) -> list[list[int]]:
    """Players who can be compared with one another, over whatever number of others; the largest group first."""
    leader = list(range(players))

    def find(one: int) -> int:
        while leader[one] != one:
            leader[one] = one = leader[leader[one]]
        return one

    for a, b in pairs:
        leader[find(a)] = find(b)
    groups: dict[int, list[int]] = {}
    for player in range(players):
        groups.setdefault(find(player), []).append(player)
    return sorted(groups.values(), key=lambda group: (-len(group), group))


@dataclass(frozen=True)
class Strengths:
    """What a set of games says of its players."""

    theta: Floats
    error: Floats
    reach: Floats  # errors to either side that hold 95 % of the time for all players of a group at once


def fit(games: Games, count: int, seed: int) -> Strengths:
    """The maximum, its standard errors by bootstrap, and how far they must reach to hold for all players together.

    A player who won in every sample would get an error of almost nothing. So none is smaller than the bend of the
    likelihood allows.
    """
    meetings = Meetings.of(games)
    won, weight = meetings.totals()
    theta = maximum(meetings, won, weight)
    samples = bootstraps(games, theta, count, seed)
    inverse = np.linalg.inv(meetings.hessian(theta, weight))
    group, home = games.group, games.group[games.first]
    size = np.bincount(group)
    share = np.bincount(home, games.weight**2) / np.bincount(home, games.weight)  # a weight scales evidence, not games
    least = np.sqrt(np.maximum(np.diag(inverse) - 1 / (2 * RIDGE * size[group]), 0) * share[group])
    error = np.maximum(samples.std(axis=0), least)
    order = np.argsort(group, kind="stable")
    off = (np.abs(samples - theta) / np.maximum(error, 1e-12))[:, order]
    farthest = np.maximum.reduceat(off, np.cumsum(size) - size, axis=1)
    reach = np.maximum(np.quantile(farthest, 0.95, axis=0), z_quantile())
    return Strengths(theta, error, reach[group])
