"""Adapters for the vectors of evaluation: specs, evidence, validators, metrics, judges, scorecards."""

from collections.abc import Mapping
from typing import Any

from arena.packs.behavior import Signal, behavioral_score, behavioral_signal
from arena.packs.counts import Counts, count_tests
from arena.packs.dimensions import Findings, score_dimensions
from arena.packs.errors import DecodeError, FieldError, InvalidPack
from arena.packs.evaluate import evaluate
from arena.packs.events import collect_evidence
from arena.packs.evidence import case_evidence
from arena.packs.judges.answers import Sample, read_answer
from arena.packs.judges.consensus import aggregate
from arena.packs.metrics import collect_metrics
from arena.packs.posture import judge_posture
from arena.packs.references import is_supported
from arena.packs.resolve import BadReference, resolve_evidence
from arena.packs.results import DimensionResult, JudgeResult, MetricResult, Result, ValidatorResult
from arena.packs.scorecard import overall
from arena.packs.spec import EvaluationSpec, decode_spec, normalise_spec, validate_spec
from arena.packs.spec.models import Behavioral, Judge, Scorecard, Validator
from arena.packs.validators.check import evaluate_validator
from tests.vectors_runner.adapters import Adapter
from tests.vectors_runner.evidence import read_evidence

Given = Mapping[str, Any]


def _shown(errors: Any) -> list[dict[str, str]]:
    return [{"field": error.path, "message": error.message} for error in errors]


def _spec_validation(given: Given) -> Any:
    try:
        spec = decode_spec(given["spec"])
    except DecodeError as error:
        return {"ok": False, "decode_error": str(error)}
    errors: list[FieldError] = validate_spec(spec)
    return (
        {"ok": False, "errors": _shown(errors)}
        if errors
        else {"ok": True, "definition": normalise_spec(spec).document()}
    )


def _evidence_references(given: Given) -> Any:
    if not is_supported(given["ref"]):
        return {"supported": False}
    try:
        value, reason = resolve_evidence(given["ref"], read_evidence(given["evidence"]))
        return {"supported": True, "value": value, "reason": reason, "is_error": False}
    except BadReference as error:
        return {"supported": True, "value": None, "is_error": True, "error": str(error)}


def _validator(given: Given) -> Any:
    result = evaluate_validator(Validator.model_validate(given["validator"]), read_evidence(given["evidence"]))
    members = ("state", "verdict", "normalized_score", "outcome_class", "reason", "actual_value", "expected_value")
    return {name: getattr(result, name) for name in members}


def _test_counts(given: Given) -> Any:
    found = count_tests(given["stdout"], given["stderr"])
    return {"ok": found is not None, **(found or Counts())._asdict()}


def _metrics(given: Given) -> Any:
    spec = normalise_spec(decode_spec(given["spec"]))
    evidence = collect_evidence(given["events"], _cases(given))
    validators = [evaluate_validator(each, evidence) for each in spec.validators]
    return {"metrics": [_metric(each) for each in collect_metrics(spec, evidence, validators)]}


def _cases(given: Given) -> list[Any]:
    return [case_evidence(given["case"])] if given.get("case") is not None else []


def _metric(result: MetricResult) -> dict[str, Any]:
    values = ("key", "state", "numeric_value", "text_value", "boolean_value", "reason")
    return {name: getattr(result, name) for name in values}


def _signal(signal: Signal) -> dict[str, Any]:
    return {
        "score": signal.score,
        "state": "unavailable" if signal.score is None else "available",
        "reason": signal.reason,
    }


def _behavioral_signals(given: Given) -> Any:
    evidence = read_evidence(given["evidence"])
    return {key: _signal(behavioral_signal(key, evidence, given["validator_scores"])) for key in given["signals"]}


def _behavioral_dimension(given: Given) -> Any:
    behavioral = Behavioral.model_validate(given["behavioral"])
    return _signal(behavioral_score(behavioral, read_evidence(given["evidence"]), given["validator_scores"]))


def _dimensions(given: Given) -> Any:
    findings = Findings(
        spec=normalise_spec(decode_spec(given["spec"])),
        evidence=collect_evidence(given.get("events") or ()),
        validators=[ValidatorResult.model_validate(each) for each in given.get("validator_results") or ()],
        metrics=[MetricResult.model_validate(each) for each in given.get("metric_results") or ()],
        judges=[JudgeResult.model_validate(each) for each in given.get("judge_results") or ()],
        human_preference=given.get("human_preference"),
    )
    return [_dimension(each) for each in score_dimensions(findings)]


def _dimension(result: Result) -> dict[str, Any]:
    return {name: value for name, value in result.document().items() if value != ""}


def _overall(given: Given) -> Any:
    results = [DimensionResult.model_validate(each) for each in given["dimension_results"]]
    score, passed, reason = overall(Scorecard.model_validate(given["scorecard"]), results)
    return {"overall_score": score, "passed": passed, "reason": reason}


def _evaluation(given: Given) -> Any:
    try:
        spec: EvaluationSpec = decode_spec(given["spec"])
    except DecodeError as error:
        return {"ok": False, "decode_error": str(error)}
    judges = [JudgeResult.model_validate(each) for each in given.get("judge_results") or ()]
    try:
        result = evaluate(spec, given.get("case"), given["events"], judges, given.get("human_preference"))
    except InvalidPack as error:
        return {"ok": False, "errors": _shown(error.errors)}
    seen = ("key", "state", "verdict", "normalized_score", "outcome_class")
    plain = result.model_dump(exclude={"validator_results", "metric_results", "dimension_results", "llm_judge_results"})
    return {
        "ok": True,
        **plain,
        "validators": [
            {name: value for name in seen if (value := getattr(each, name)) != ""} for each in result.validator_results
        ],
        "metrics": [_metric(each) for each in result.metric_results],
        "dimensions": [_dimension(each) for each in result.dimension_results],
    }


def _judges(given: Given) -> Any:
    judge = Judge.model_validate(given["judge"])
    about = (given.get("candidates") or (), given.get("run_agent_id") or "")
    samples = {
        model: [read_answer(judge, text, *about) for text in texts] for model, texts in given["responses"].items()
    }
    result = aggregate(judge, samples)
    return {
        "samples": {model: [_sample(each) for each in row] for model, row in samples.items()},
        "model_scores": result.payload["model_scores"],
        "normalized_score": result.normalized_score,
        "variance": result.variance,
        "confidence": result.confidence,
    }


def _sample(sample: Sample) -> dict[str, Any]:
    return {"score": sample.score, "error": sample.error}


def _posture(given: Given) -> Any:
    found = judge_posture(given["security"], given["artifact"])
    incidents = [{name: value for name, value in each._asdict().items() if value} for each in found.incidents]
    return {**found._asdict(), "incidents": incidents}


ADAPTERS: dict[str, Adapter] = {
    "spec_validation": _spec_validation,
    "evidence_references": _evidence_references,
    "validators_": _validator,
    "test_counts": _test_counts,
    "metrics": _metrics,
    "behavioral_signals": _behavioral_signals,
    "behavioral_dimension": _behavioral_dimension,
    "dimensions": _dimensions,
    "overall_strategies": _overall,
    "evaluations": _evaluation,
    "judges": _judges,
    "security_posture": _posture,
}
