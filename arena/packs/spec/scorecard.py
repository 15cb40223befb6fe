"""The rules for the scorecard of a spec."""

from collections.abc import Iterator

from arena.packs.errors import FieldError
from arena.packs.spec.models import Dimension, EvaluationSpec, Scorecard
from arena.packs.spec.normalise import BUILT_IN
from arena.packs.validators.rules import NOT_NEGATIVE, SHARE

SOURCES = ("validators", "metric", "reliability", "latency", "cost", "behavioral", "llm_judge", "human_preference")
STRATEGIES = ("weighted", "binary", "hybrid")
_UPWARD = frozenset({"validators", "reliability", "behavioral", "llm_judge"})
_SCALED = frozenset({"metric", "latency", "cost"})

Errors = Iterator[FieldError]


def scorecard_errors(spec: EvaluationSpec, at: str) -> Errors:
    """Everything that is wrong with the scorecard of a spec."""
    scorecard, path = spec.scorecard, f"{at}.scorecard"
    if not scorecard.dimensions:
        yield FieldError(f"{path}.dimensions", "must contain at least one dimension")
    yield from _strategy(scorecard, path)
    yield from _overall_threshold(scorecard, path)
    seen: set[str] = set()
    for index, dimension in enumerate(scorecard.dimensions):
        yield from _dimension(dimension, seen, spec, f"{path}.dimensions[{index}]")
        if _is_sound(dimension, seen) and dimension.source == "behavioral" and spec.behavioral is None:
            yield FieldError(f"{at}.behavioral", "is required when a dimension has the source behavioral")
        seen.add(dimension.key)


def _strategy(scorecard: Scorecard, path: str) -> Errors:
    if scorecard.strategy not in STRATEGIES:
        yield FieldError(f"{path}.strategy", f"must be one of {', '.join(STRATEGIES)}")
    if scorecard.strategy == "hybrid" and not any(dimension.gate for dimension in scorecard.dimensions):
        yield FieldError(f"{path}.strategy", "hybrid needs at least one dimension that is a gate")


def _overall_threshold(scorecard: Scorecard, path: str) -> Errors:
    threshold = scorecard.pass_threshold
    if threshold is None:
        return
    if scorecard.strategy == "binary":
        yield FieldError(f"{path}.pass_threshold", "must not be set for binary; each dimension has its own")
    elif not 0 <= threshold <= 1:
        yield FieldError(f"{path}.pass_threshold", SHARE)


def _dimension(dimension: Dimension, seen: set[str], spec: EvaluationSpec, path: str) -> Errors:
    if not dimension.key:
        yield FieldError(f"{path}.key", "is required")
    elif not _is_sound(dimension, seen):
        yield FieldError(path, "must be unique")
    elif not dimension.source:
        yield FieldError(f"{path}.source", f"is required, unless the key is one of {', '.join(BUILT_IN)}")
    elif dimension.source not in SOURCES:
        yield FieldError(f"{path}.source", f"must be one of {', '.join(SOURCES)}")
    else:
        yield from _origin(dimension, spec, path)
        yield from _direction(dimension, path)
        yield from _scale(dimension, path)
        yield from _weight(dimension, spec.scorecard.strategy, path)


def _is_sound(dimension: Dimension, seen: set[str]) -> bool:
    return bool(dimension.key) and dimension.key not in seen


def _origin(dimension: Dimension, spec: EvaluationSpec, path: str) -> Errors:
    """Whether what a dimension is made of is declared."""
    if dimension.source == "validators":
        known = {validator.key for validator in spec.validators}
        for index, key in enumerate(dimension.validators):
            if key not in known:
                yield FieldError(f"{path}.validators[{index}]", f'references unknown validator key "{key}"')
    if dimension.source == "metric":
        yield from _named("metric", dimension.metric, {metric.key for metric in spec.metrics}, path)
    if dimension.source == "llm_judge":
        yield from _named("judge_key", dimension.judge_key, {judge.key for judge in spec.llm_judges}, path)
    elif dimension.judge_key:
        yield FieldError(f"{path}.judge_key", "must be empty unless the source is llm_judge")


def _named(field: str, key: str, known: set[str], path: str) -> Errors:
    if not key:
        yield FieldError(f"{path}.{field}", "is required for this source")
    elif key not in known:
        yield FieldError(f"{path}.{field}", f'references unknown key "{key}"')


def _direction(dimension: Dimension, path: str) -> Errors:
    direction = dimension.better_direction
    if dimension.source in _UPWARD and direction != "higher":
        yield FieldError(f"{path}.better_direction", f'must be "higher" for the source {dimension.source}')
    if dimension.source in _SCALED and direction not in {"higher", "lower"}:
        yield FieldError(f"{path}.better_direction", "must be higher or lower")


def _scale(dimension: Dimension, path: str) -> Errors:
    scale = dimension.normalization
    if dimension.source not in _SCALED:
        return
    if scale is None:
        yield FieldError(f"{path}.normalization", f"is required for the source {dimension.source}")
        return
    for name in ("target", "max"):
        if getattr(scale, name) is None:
            yield FieldError(f"{path}.normalization.{name}", "is required")
    if scale.target is None or scale.max is None:
        return
    if dimension.better_direction == "lower" and scale.max <= scale.target:
        yield FieldError(f"{path}.normalization.max", "must be greater than target when lower is better")
    if dimension.better_direction == "higher" and scale.max >= scale.target:
        yield FieldError(f"{path}.normalization.max", "must be less than target when higher is better")


def _weight(dimension: Dimension, strategy: str, path: str) -> Errors:
    if (dimension.weight or 0) < 0:
        yield FieldError(f"{path}.weight", NOT_NEGATIVE)
    threshold = dimension.pass_threshold
    if threshold is None:
        if dimension.gate or strategy == "binary":
            yield FieldError(f"{path}.pass_threshold", "is required for a gate and for the strategy binary")
    elif not 0 <= threshold <= 1:
        yield FieldError(f"{path}.pass_threshold", SHARE)
