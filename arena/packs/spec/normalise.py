"""One form for every way to write the same spec; doing it twice changes nothing more."""

from typing import Any, TypeVar

from arena.packs.spec.models import Dimension, EvaluationSpec, Judge, Normalization, Part
from arena.packs.text import trim

DEFAULT_SAMPLES = 3
BUILT_IN = {
    "correctness": ("validators", "higher"),
    "reliability": ("reliability", "higher"),
    "latency": ("latency", "lower"),
    "cost": ("cost", "lower"),
    "behavioral": ("behavioral", "higher"),
}
_UPWARD = frozenset({"validators", "reliability", "behavioral", "llm_judge"})

P = TypeVar("P", bound=Part)


def normalise_spec(spec: EvaluationSpec) -> EvaluationSpec:
    """The spec trimmed, with defaults filled in and built-in dimensions spelt out."""
    lists: dict[str, Any] = {
        "validators": [_trimmed(item, "key", "target", "expected_from") for item in spec.validators],
        "metrics": [_trimmed(item, "key", "collector", "unit") for item in spec.metrics],
        "llm_judges": [_judge(item) for item in spec.llm_judges],
        "post_execution_checks": [_trimmed(item, "key", "path") for item in spec.post_execution_checks],
    }
    given = {name: items for name, items in lists.items() if name in spec.model_fields_set}
    return spec.model_copy(
        update={
            **given,
            "name": trim(spec.name),
            "behavioral": _behavioral(spec),
            "pricing": _pricing(spec),
            "scorecard": _scorecard(spec),
        }
    )


def _trimmed(part: P, *names: str) -> P:
    return part.model_copy(update={name: trim(getattr(part, name)) for name in names})


def _judge(judge: Judge) -> Judge:
    judge = _trimmed(judge, "key", "model", "reference_from")
    models = {"models": [trim(model) for model in judge.models]} if judge.models else {}
    return judge.model_copy(update={**models, "samples": judge.samples or DEFAULT_SAMPLES})


def _behavioral(spec: EvaluationSpec) -> Part | None:
    if spec.behavioral is None:
        return None
    return spec.behavioral.model_copy(update={"signals": [_trimmed(item, "key") for item in spec.behavioral.signals]})


def _pricing(spec: EvaluationSpec) -> Part:
    models = [_trimmed(model, "provider_key", "provider_model_id") for model in spec.pricing.models]
    return spec.pricing.model_copy(update={"models": models})


def _scorecard(spec: EvaluationSpec) -> Part:
    scorecard = spec.scorecard
    update: dict[str, Any] = {"strategy": scorecard.strategy or "weighted"}
    if "dimensions" in scorecard.model_fields_set:
        update["dimensions"] = [_dimension(item, spec) for item in scorecard.dimensions]
    return scorecard.model_copy(update=update)


def _dimension(dimension: Dimension, spec: EvaluationSpec) -> Dimension:
    dimension = _trimmed(dimension, "key", "metric", "judge_key")
    if not dimension.source and dimension.key in BUILT_IN:
        source, direction = BUILT_IN[dimension.key]
        scale = dimension.normalization or _shared_scale(source, spec)
        return dimension.model_copy(update={"source": source, "better_direction": direction, "normalization": scale})
    if not dimension.better_direction and dimension.source in _UPWARD:
        return dimension.model_copy(update={"better_direction": "higher"})
    return dimension


def _shared_scale(source: str, spec: EvaluationSpec) -> Normalization | None:
    """The scale of a built-in dimension from the block that all of them share."""
    shared, limits = spec.scorecard.normalization, spec.runtime_limits
    if source == "latency" and shared.latency is not None:
        block, limit = shared.latency, limits.max_duration_ms
        return Normalization(target=block.target_ms, max=_or(block.max_ms, limit))
    if source == "cost" and shared.cost is not None:
        return Normalization(target=shared.cost.target_usd, max=_or(shared.cost.max_usd, limits.max_cost_usd))
    return None


def _or(value: float | None, fallback: float | None) -> float | None:
    return fallback if value is None else value
