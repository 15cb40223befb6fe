"""Dimensions: results of validators, metrics, judges and people, each brought to a score from 0 to 1."""

from collections.abc import Callable
from typing import NamedTuple

from arena.packs.behavior import behavioral_score
from arena.packs.evidence import Evidence
from arena.packs.metrics import latency_ms, score_of
from arena.packs.pricing import model_cost
from arena.packs.results import DimensionResult, JudgeResult, MetricResult, State, ValidatorResult
from arena.packs.spec.models import Dimension, EvaluationSpec


class Findings(NamedTuple):
    """Everything that dimensions are made of."""

    spec: EvaluationSpec
    evidence: Evidence
    validators: list[ValidatorResult]
    metrics: list[MetricResult]
    judges: list[JudgeResult]
    human_preference: float | None = None


class _Score(NamedTuple):
    score: float | None
    reason: str = ""
    state: State = "unavailable"  # of a dimension without a score


def lower_is_better(value: float, target: float, worst: float) -> float:
    """1 up to the target, 0 from the worst value on, a straight line between them."""
    if value <= target:
        return 1.0
    if value >= worst or worst <= target:
        return 0.0
    return 1 - (value - target) / (worst - target)


def higher_is_better(value: float, target: float, worst: float) -> float:
    """1 from the target on, 0 down to the worst value, a straight line between them."""
    if value >= target:
        return 1.0
    if value <= worst or target <= worst:
        return 0.0
    return (value - worst) / (target - worst)


def score_dimensions(findings: Findings) -> list[DimensionResult]:
    """The dimensions of the scorecard, in declared order."""
    return [_scored(dimension, findings) for dimension in findings.spec.scorecard.dimensions]


def _scored(dimension: Dimension, findings: Findings) -> DimensionResult:
    source = _SOURCES.get(dimension.source)
    unknown = f'unsupported dimension source "{dimension.source}"'
    score, reason, state = source(dimension, findings) if source else _Score(None, unknown, "error")
    return DimensionResult(
        dimension=dimension.key,
        score=score,
        state=state if score is None else "available",
        reason=reason,
        better_direction=dimension.better_direction,
    )


def _validators(dimension: Dimension, findings: Findings) -> _Score:
    scope = set(dimension.validators)
    listed = [result for result in findings.validators if not scope or result.key in scope]
    if not listed:
        return _Score(None, "no validators in scope")
    total = 0.0
    for result in listed:
        if result.state == "error":
            return _Score(None, f'validator "{result.key}" errored: {result.reason}', "error")
        score = score_of(result)
        if score is None:
            why = result.reason or "missing validator evidence"
            return _Score(None, f'validator "{result.key}" is unavailable: {why}')
        total += score
    return _Score(total / len(listed))


def _reliability(_dimension: Dimension, findings: Findings) -> _Score:
    metrics = {metric.collector: metric for metric in reversed(findings.metrics)}
    done, failures = metrics.get("run_completed_successfully"), metrics.get("run_failure_count")
    if done is None or failures is None:
        return _Score(None, "reliability requires completion and failure-count metrics")
    if done.state != "available" or done.boolean_value is None:
        return _Score(None, "completion metric is unavailable")
    if failures.state != "available" or failures.numeric_value is None:
        return _Score(None, "failure-count metric is unavailable")
    return _Score(float(done.boolean_value and failures.numeric_value == 0))


def _latency(dimension: Dimension, findings: Findings) -> _Score:
    return _on_scale(dimension, latency_ms(findings.evidence), "lower", "latency evidence is unavailable")


def _cost(dimension: Dimension, findings: Findings) -> _Score:
    usd, reason = model_cost(findings.spec.pricing.models, findings.evidence)
    return _on_scale(dimension, usd, "lower", reason)


def _metric(dimension: Dimension, findings: Findings) -> _Score:
    found = (metric for metric in findings.metrics if metric.key == dimension.metric and metric.state == "available")
    value = next((metric.numeric_value for metric in found), None)
    return _on_scale(dimension, value, dimension.better_direction, f'metric "{dimension.metric}" is unavailable')


def _on_scale(dimension: Dimension, value: float | None, direction: str, reason: str) -> _Score:
    if value is None:
        return _Score(None, reason)
    scale = dimension.normalization
    if scale is None or scale.target is None or scale.max is None:
        return _Score(None, "dimension normalization is unavailable")
    better = lower_is_better if direction == "lower" else higher_is_better
    return _Score(better(value, scale.target, scale.max))


def _behavioral(_dimension: Dimension, findings: Findings) -> _Score:
    scores = [score_of(result) for result in findings.validators]
    return _Score(*behavioral_score(findings.spec.behavioral, findings.evidence, scores))


def _judge(dimension: Dimension, findings: Findings) -> _Score:
    if not dimension.judge_key:
        return _Score(None, "dimension judge_key is not set", "error")
    judge = next((judge for judge in findings.judges if judge.judge_key == dimension.judge_key), None)
    if judge is not None and judge.normalized_score is not None:
        return _Score(judge.normalized_score)
    reason = judge.reason if judge is not None else ""
    return _Score(None, reason or f'llm judge "{dimension.judge_key}" is unavailable')


def _preference(_dimension: Dimension, findings: Findings) -> _Score:
    return _Score(
        findings.human_preference,
        "" if findings.human_preference is not None else "human preference evidence is unavailable",
    )


def preference(wins: float, votes: int) -> float | None:
    """The share of pairwise votes that an agent won; nothing without votes."""
    return wins / votes if votes > 0 else None


_SOURCES: dict[str, Callable[[Dimension, Findings], _Score]] = {
    "validators": _validators,
    "reliability": _reliability,
    "latency": _latency,
    "cost": _cost,
    "metric": _metric,
    "behavioral": _behavioral,
    "llm_judge": _judge,
    "human_preference": _preference,
}
