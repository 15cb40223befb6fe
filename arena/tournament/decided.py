"""Decided: whether more games could still change a ranking, however often one looks. Pure.

A mean of values between 0 and 1 is tested by betting against it (Waudby-Smith and Ramdas, "Estimating means of bounded
random variables by betting", JRSS B 86, 2024): as long as the mean is what is claimed, nobody's wealth grows by much,
and by Ville's inequality it ever reaches 1/d with a chance of at most d. So one may look after every game and stop at
will. The bets are their predictable plug-in ones, hedged over both sides.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log, sqrt

from arena.statistics import CONFIDENCE, Interval

GRID = 200  # means that an interval tells apart
SAFE = 0.5  # share of the wealth that a bet may risk

Unit = Mapping[str, tuple[float, int]]  # what each agent won in one piece of evidence, and in how many games


def bets(values: Sequence[float], doubt: float) -> list[float]:
    """The stake before each value, which depends on the values before it alone."""
    made, total, squares = [], 0.5, 0.25
    for number, value in enumerate(values, 1):
        made.append(sqrt(2 * log(2 / doubt) / (squares * log(number + 1))))
        total += value
        squares += (value - total / (number + 1)) ** 2
    return made


def is_above(values: Sequence[float], mean: float, doubt: float) -> bool | None:
    """Whether the mean of the values lies above or below another; none as long as it cannot be told."""
    up = down = 1.0
    for value, stake in zip(values, bets(values, doubt), strict=True):
        up *= 1 + min(stake, SAFE / mean) * (value - mean)
        down *= 1 - min(stake, SAFE / (1 - mean)) * (value - mean)
        if max(up, down) / 2 >= 1 / doubt:
            return up > down
    return None


def sequence(values: Sequence[float], doubt: float = 1 - CONFIDENCE) -> Interval:
    """The means that cannot be ruled out: an interval that holds for all lengths of the sequence at once."""
    kept = [at / GRID for at in range(1, GRID) if is_above(values, at / GRID, doubt) is None]
    if not kept:
        return Interval(0.0, 1.0)
    low, high = kept[0] - 1 / GRID, kept[-1] + 1 / GRID
    return Interval(0.0 if low <= 1 / GRID else low, 1.0 if high >= 1 - 1 / GRID else high)


def is_decided(units: Sequence[Unit], left: Mapping[str, int], winner_only: bool = False) -> bool:
    """Whether the order of the agents is certain, all pairs together with 95 %, or cannot change any more.

    A unit is one turn of all against all. What two agents won in it differs by at most 1, whatever they have in common.
    """
    names = sorted({name for unit in units for name in unit})
    pairs = list(combinations(names, 2))
    doubt = (1 - CONFIDENCE) / max(len(pairs), 1)
    if winner_only:
        best = max(names, key=lambda name: sum(unit[name][0] for unit in units if name in unit))
        pairs = [pair for pair in pairs if best in pair]
    return bool(pairs) and all(_is_clear(units, left, pair, doubt) for pair in pairs)


def _is_clear(units: Sequence[Unit], left: Mapping[str, int], pair: tuple[str, str], doubt: float) -> bool:
    both = [(unit[pair[0]], unit[pair[1]]) for unit in units if pair[0] in unit and pair[1] in unit]
    ahead = sum(one[0] - other[0] for one, other in both)
    if (ahead > 0 and ahead > left.get(pair[1], 0)) or (ahead < 0 and -ahead > left.get(pair[0], 0)):
        return True  # not even by winning everything
    return is_above([(1 + a[0] / a[1] - b[0] / b[1]) / 2 for a, b in both], 0.5, doubt) is not None
