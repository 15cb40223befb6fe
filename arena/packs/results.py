"""What scoring says: results of validators, metrics, judges, dimensions and of the whole evaluation."""

import math
from itertools import islice
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

_LONG, _MANY = 2000, 200
_SMALL = frozenset({int, float, bool, type(None)})

State = Literal["available", "unavailable", "error"]
OutcomeClass = Literal["pass", "fail", "unavailable", "infra_error", "pack_error", "evaluator_error"]


class Result(BaseModel):
    """A result, which never changes."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    def document(self) -> dict[str, Any]:
        """The result as plain JSON, without what is unset."""
        return self.model_dump(mode="json", exclude_none=True)


class Source(Result):
    """The event that a verdict rests on."""

    kind: str
    sequence: int
    event_type: str
    field_path: str = ""


class ValidatorResult(Result):
    """The verdict of one validator, with its evidence."""

    key: str
    type: str
    target: str = ""
    expected_from: str = ""
    state: State
    verdict: Literal["", "pass", "fail", "error"] = ""
    normalized_score: float | None = None
    outcome_class: OutcomeClass = "unavailable"
    reason: str = ""
    actual_value: str | None = None
    expected_value: str | None = None
    source: Source | None = None
    details: dict[str, Any] = {}

    @property
    def raw_output(self) -> dict[str, Any]:
        """Everything about the verdict in one flat object."""
        if not is_finite(self.details):
            return {"outcome_class": self.outcome_class}
        base = self.model_dump(exclude={"key", "type", "source", "details"})
        return {**{f"evidence_{name}" if name in base else name: item for name, item in self.details.items()}, **base}


class MetricResult(Result):
    """The value of one metric."""

    key: str
    type: str = ""
    collector: str = ""
    unit: str = ""
    state: State
    numeric_value: float | None = None
    text_value: str | None = None
    boolean_value: bool | None = None
    reason: str = ""
    metadata: dict[str, Any] = {}


class JudgeResult(Result):
    """What a judge said, over all its models and samples."""

    judge_key: str
    mode: str = ""
    normalized_score: float | None = None
    payload: dict[str, Any] = {}
    confidence: str | None = None
    variance: float | None = None
    sample_count: int = 0
    model_count: int = 0
    reason: str = ""


class DimensionResult(Result):
    """The score of one dimension."""

    dimension: str
    score: float | None = None
    state: State
    reason: str = ""
    better_direction: str = ""

    @property
    def scored(self) -> float | None:
        """The score, if the dimension is available."""
        return self.score if self.state == "available" else None


class EvaluationResult(Result):
    """The whole evaluation of one run on one case."""

    status: Literal["complete", "partial"]
    validator_results: list[ValidatorResult]
    llm_judge_results: list[JudgeResult]
    metric_results: list[MetricResult]
    dimension_results: list[DimensionResult]
    dimension_scores: dict[str, float | None]
    overall_score: float | None = None
    passed: bool | None = None
    overall_reason: str = ""
    validity: Literal["valid", "degraded", "invalid"]
    validity_reason: str = ""
    strategy: str
    warnings: list[str] = []


def is_finite(value: Any) -> bool:
    """Whether JSON can hold every number inside a value."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    return all(map(is_finite, value)) if isinstance(value, list | tuple) else True


def bounded(value: Any, depth: int = 8) -> Any:
    """Evidence of a size that can be kept: long texts and lists cut, deep values left out."""
    if isinstance(value, str):
        return value if len(value) <= _LONG else value[:_LONG] + "…"
    if not isinstance(value, dict | list | tuple):
        return value
    if not depth:
        return "…"
    if isinstance(value, dict):
        members = islice(value.items(), _MANY)
        return {_name(key): item if type(item) in _SMALL else bounded(item, depth - 1) for key, item in members}
    return [item if type(item) in _SMALL else bounded(item, depth - 1) for item in value[:_MANY]]


def _name(key: Any) -> str:
    return key if isinstance(key, str) and len(key) <= _LONG else str(key)[:_LONG]
