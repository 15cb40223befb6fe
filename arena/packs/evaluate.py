"""The whole evaluation of a run: evidence in, verdicts, metrics, dimensions and one score out."""

from collections.abc import Iterable, Mapping
from typing import Any

from arena.packs.dimensions import Findings, score_dimensions
from arena.packs.errors import InvalidPack
from arena.packs.events import collect_evidence
from arena.packs.evidence import Evidence, case_evidence
from arena.packs.metrics import collect_metrics
from arena.packs.results import DimensionResult, EvaluationResult, JudgeResult, MetricResult, ValidatorResult
from arena.packs.scorecard import overall
from arena.packs.spec import EvaluationSpec, normalise_spec, validate_spec
from arena.packs.validators.check import evaluate_validator

_WARNED = frozenset({"latency", "cost", "behavioral", "metric", "llm_judge"})


def evaluate(
    spec: EvaluationSpec,
    case: Mapping[str, Any] | None,
    events: Iterable[Any],
    judge_results: Iterable[JudgeResult] = (),
    human_preference: float | None = None,
    version_assets: Iterable[Mapping[str, Any]] = (),
) -> EvaluationResult:
    """Score a run on one case; a spec that breaks rules is refused with all of them."""
    checked = checked_spec(spec)
    cases = [] if case is None else [case_evidence(case, version_assets)]
    return score(checked, collect_evidence(events, cases), judge_results, human_preference)


def checked_spec(spec: EvaluationSpec) -> EvaluationSpec:
    """The spec normalised and found to keep every rule; enough once for many runs."""
    errors = validate_spec(spec)
    if errors:
        raise InvalidPack(errors)
    return normalise_spec(spec)


def score(
    spec: EvaluationSpec,
    evidence: Evidence,
    judge_results: Iterable[JudgeResult] = (),
    human_preference: float | None = None,
    validator_results: list[ValidatorResult] | None = None,
) -> EvaluationResult:
    """Score evidence by a checked spec; verdicts that were made elsewhere may be handed in."""
    validators = (
        [evaluate_validator(each, evidence) for each in spec.validators]
        if validator_results is None
        else validator_results
    )
    metrics = collect_metrics(spec, evidence, validators)
    judges = sorted(judge_results, key=lambda judge: judge.judge_key)
    dimensions = score_dimensions(Findings(spec, evidence, validators, metrics, judges, human_preference))
    total = overall(spec.scorecard, dimensions)
    validity, why = _validity(validators, metrics, dimensions)
    return EvaluationResult(
        status=_status(dimensions),
        validator_results=validators,
        llm_judge_results=judges,
        metric_results=metrics,
        dimension_results=dimensions,
        dimension_scores={result.dimension: result.scored for result in dimensions},
        overall_score=total.score,
        passed=total.passed,
        overall_reason=total.reason,
        validity=validity,
        validity_reason=why,
        strategy=spec.scorecard.strategy,
        warnings=_warnings(spec, evidence, dimensions),
    )


def _status(dimensions: list[DimensionResult]) -> Any:
    complete = all(result.state == "available" for result in dimensions)
    return "complete" if complete and any(result.scored is not None for result in dimensions) else "partial"


def _validity(
    validators: list[ValidatorResult], metrics: list[MetricResult], dimensions: list[DimensionResult]
) -> tuple[Any, str]:
    """Whether the result can be trusted, and the first thing that speaks against it."""
    checks = [("validator", each.key, each.state, each.reason) for each in validators]
    measures = [("metric", each.key, each.state, each.reason) for each in metrics]
    scores = [("dimension", each.dimension, each.state, each.reason) for each in dimensions]
    for kind, key, state, reason in (*checks, *measures, *scores):
        if state == "error":
            return "invalid", f'{kind} "{key}" errored: {reason}'
    for kind, key, state, reason in (*scores, *checks, *measures):
        if state == "unavailable":
            return "degraded", f'{kind} "{key}" unavailable: {reason}'
    return "valid", ""


def _warnings(spec: EvaluationSpec, evidence: Evidence, dimensions: list[DimensionResult]) -> list[str]:
    pairs = zip(spec.scorecard.dimensions, dimensions, strict=True)
    missing = {result.reason for each, result in pairs if each.source in _WARNED and result.state == "unavailable"}
    return sorted(missing | set(evidence.warnings))
