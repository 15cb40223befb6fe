"""The overall score: dimensions put together by the strategy of the scorecard."""

from collections.abc import Iterable
from typing import NamedTuple

from arena.packs.results import DimensionResult
from arena.packs.spec.models import Dimension, Scorecard


class Overall(NamedTuple):
    """The score and whether it passes; None for what is undecided."""

    score: float | None
    passed: bool | None
    reason: str = ""


class _Card(NamedTuple):
    """A scorecard with the results of its dimensions."""

    scorecard: Scorecard
    results: list[DimensionResult]

    def weighed(self, *, gates: bool) -> list[tuple[float, float]]:
        """Weight and score of every available dimension; `gates` includes those."""
        declared = {dimension.key: dimension for dimension in self.scorecard.dimensions}
        known = [(declared[each.dimension], each.scored) for each in self.results if each.dimension in declared]
        return [
            (1.0 if dimension.weight is None else dimension.weight, score)
            for dimension, score in known
            if score is not None and (gates or not dimension.gate)
        ]

    def missing(self, required: Iterable[Dimension]) -> tuple[str, str] | None:
        """The first required dimension without a score, and what is wrong with it."""
        by_key = {result.dimension: result for result in self.results}
        for dimension in required:
            result = by_key.get(dimension.key)
            if result is None or result.scored is None:
                errored = result is not None and result.state == "error"
                return dimension.key, "has evaluator error" if errored else "is unavailable"
        return None

    def failed(self, required: Iterable[Dimension]) -> str | None:
        """The first result below the threshold of its required dimension."""
        limits = {dimension.key: dimension.pass_threshold for dimension in required}
        for result in self.results:
            limit = limits.get(result.dimension)
            if limit is not None and result.scored is not None and result.scored < limit:
                return result.dimension
        return None


def overall(scorecard: Scorecard, results: list[DimensionResult]) -> Overall:
    """What all dimensions together come to."""
    card = _Card(scorecard, results)
    gates = [dimension for dimension in scorecard.dimensions if dimension.gate]
    if scorecard.strategy == "binary":
        return _binary(card)
    return _hybrid(card, gates) if scorecard.strategy == "hybrid" else _weighted(card, gates)


def _mean(weighed: list[tuple[float, float]]) -> float:
    total = sum(weight for weight, _ in weighed)
    if total == 0:
        return sum(score for _, score in weighed) / len(weighed)
    return sum(weight * score for weight, score in weighed) / total


def _weighted(card: _Card, gates: list[Dimension]) -> Overall:
    missing = card.missing(gates)
    weighed = card.weighed(gates=True)
    if not weighed:
        return Overall(None, False if missing else None, _none_available(missing, "weighted"))
    score = _mean(weighed)
    if missing:
        return Overall(score, False, f'weighted: gated dimension "{missing[0]}" {missing[1]}')
    if (failed := card.failed(gates)) is not None:
        return Overall(score, False, f'weighted: gated dimension "{failed}" is below its pass_threshold')
    return _against(card, score, "weighted")


def _none_available(missing: tuple[str, str] | None, strategy: str) -> str:
    return (
        f'{strategy}: gated dimension "{missing[0]}" {missing[1]}' if missing else "no dimension has an available score"
    )


def _against(card: _Card, score: float, strategy: str) -> Overall:
    limit = card.scorecard.pass_threshold
    if limit is not None and score < limit:
        return Overall(score, False, f"{strategy}: overall score {score:.4f} is below the pass_threshold {limit:.4f}")
    return Overall(score, True)


def _binary(card: _Card) -> Overall:
    required = card.scorecard.dimensions
    if missing := card.missing(required):
        return Overall(0.0, False, f'binary: dimension "{missing[0]}" {missing[1]}')
    if (failed := card.failed(required)) is not None:
        return Overall(0.0, False, f'binary: dimension "{failed}" is below its pass_threshold')
    if not card.weighed(gates=True):
        return Overall(0.0, False, "no dimension has an available score")
    return Overall(1.0, True)


def _hybrid(card: _Card, gates: list[Dimension]) -> Overall:
    if missing := card.missing(gates):
        return Overall(0.0, False, f'hybrid: gated dimension "{missing[0]}" {missing[1]}')
    if (failed := card.failed(gates)) is not None:
        return Overall(0.0, False, f'hybrid: gated dimension "{failed}" is below its pass_threshold')
    if not card.weighed(gates=True):
        return Overall(None, None, "no dimension has an available score")
    graded = card.weighed(gates=False)
    if not graded:
        return Overall(1.0, True, "hybrid: every available dimension is a gate, and all passed")
    return _against(card, _mean(graded), "hybrid")
