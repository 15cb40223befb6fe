"""Measures: what repetitions say of an agent, and of the difference between two. Pure functions on plain numbers.

Cases are taken as they are: an interval says where the number would lie if the same cases were played for ever, not how
the agent would do on others. So only the scatter between repetitions of a case counts, never that between cases.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import comb, sqrt
from statistics import fmean, variance
from typing import NamedTuple

from arena.evals.runs import Run
from arena.statistics import CONFIDENCE, Interval, t_quantile, wilson

Samples = Mapping[str, Sequence[float]]  # by case, one number per repetition


class Estimate(NamedTuple):
    """A number and where it lies; no interval where nothing is known of its scatter."""

    value: float
    interval: Interval | None


def pass_at_k(trials: int, passes: int, k: int) -> float:
    """The chance that at least one of k repetitions passes, estimated without bias from more of them."""
    return 1 - comb(trials - passes, k) / comb(trials, k)


def pass_hat_k(trials: int, passes: int, k: int) -> float:
    """The chance that all of k repetitions pass, estimated without bias from more of them."""
    return comb(passes, k) / comb(trials, k)


def mean(samples: Samples, confidence: float = CONFIDENCE) -> Estimate:
    """The mean over cases of the mean over repetitions."""
    return difference(samples, {}, confidence)


def difference(ours: Samples, theirs: Samples, confidence: float = CONFIDENCE) -> Estimate:
    """How much higher one mean is than another, case by case; both are to have the same cases, or the other none."""
    sides = [(1.0, ours), (-1.0, theirs)]
    value = sum(sign * fmean(map(fmean, side.values())) for sign, side in sides if side)
    parts = [_Part.of(values, len(side)) for _, side in sides for values in side.values()]
    if not all(parts):
        return Estimate(value, None)
    known = [part for part in parts if part is not None]
    error = sqrt(sum(part.variance for part in known))
    if not error:
        return Estimate(value, Interval(value, value))
    reach = t_quantile(confidence, _freedom(known)) * error
    return Estimate(value, Interval(value - reach, value + reach))


class _Part(NamedTuple):
    """What one case of one side adds to the variance of the mean."""

    variance: float
    freedom: int

    @classmethod
    def of(cls, values: Sequence[float], cases: int) -> "_Part | None":
        if len(values) < 2:
            return None
        return cls(variance(values) / len(values) / cases**2, len(values) - 1)


def _freedom(parts: Sequence[_Part]) -> int:
    """Welch and Satterthwaite's degrees of freedom, rounded down."""
    total = sum(part.variance for part in parts)
    return max(1, int(total**2 / sum(part.variance**2 / part.freedom for part in parts)))


class Measures(NamedTuple):
    """A run in numbers."""

    repetitions: int
    errors: int
    score: Estimate
    pass_rate: Estimate  # over all repetitions of all cases, with Wilson's interval
    pass_at: dict[int, float]  # mean over cases, by k
    pass_hat: dict[int, float]
    dimensions: dict[str, float]
    cost_usd: float | None  # mean of a repetition
    latency_ms: float | None
    tokens: float | None


def scores(run: Run, cases: Sequence[str] | None = None) -> Samples:
    """The scores of a run, by case."""
    return {case: run.scores(case) for case in (run.keys if cases is None else cases)}


def passes(run: Run, cases: Sequence[str] | None = None) -> Samples:
    """Which repetitions passed, by case."""
    return {case: run.passes(case) for case in (run.keys if cases is None else cases)}


def measure(run: Run, confidence: float = CONFIDENCE) -> Measures | None:
    """A run in numbers; none if no repetition came to anything."""
    found = passes(run)
    if not found:
        return None
    hits, trials = sum(map(sum, found.values())), sum(map(len, found.values()))
    most = min(map(len, found.values()))
    return Measures(
        repetitions=len(run.valid),
        errors=len(run.trials) - len(run.valid),
        score=mean(scores(run), confidence),
        pass_rate=Estimate(hits / trials, wilson(hits, trials, confidence)),
        pass_at={k: _over_cases(found, pass_at_k, k) for k in range(1, most + 1)},
        pass_hat={k: _over_cases(found, pass_hat_k, k) for k in range(1, most + 1)},
        dimensions={
            key: fmean(trial.dimensions[key] for trial in run.valid if key in trial.dimensions)
            for key in dict.fromkeys(key for trial in run.valid for key in trial.dimensions)
        },
        cost_usd=_mean(trial.cost_usd for trial in run.valid),
        latency_ms=_mean(trial.latency_ms for trial in run.valid),
        tokens=_mean(trial.tokens for trial in run.valid),
    )


def _over_cases(found: Samples, chance: Callable[[int, int, int], float], k: int) -> float:
    return fmean(chance(len(values), round(sum(values)), k) for values in found.values())


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def more_repetitions(now: int, reach: float, room: float) -> int:
    """How many repetitions would make an interval small enough, if the scatter stays what it is."""
    return max(now + 1, round(now * (reach / room) ** 2 + 0.5)) if room > 0 else now + 1
