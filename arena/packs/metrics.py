"""Metrics: what a run took, counted and timed."""

from collections.abc import Callable
from typing import Any, NamedTuple

from arena.packs.behavior import Scores, behavioral_signal
from arena.packs.evidence import Evidence, Moment
from arena.packs.pricing import model_cost
from arena.packs.results import MetricResult, ValidatorResult
from arena.packs.spec.models import EvaluationSpec, Metric, PricingModel

_MS = 1_000_000


class Reading(NamedTuple):
    """What a collector looks at."""

    evidence: Evidence
    prices: list[PricingModel]
    validators: list[ValidatorResult]

    @property
    def scores(self) -> Scores:
        """The scores of the validators in declared order."""
        return [score_of(result) for result in self.validators]


class Measure(NamedTuple):
    """A value, or the reason why there is none."""

    value: float | bool | None
    reason: str = ""


Collector = Callable[[Reading], Measure]


def score_of(result: ValidatorResult) -> float | None:
    """The score of a validator, if it is available."""
    return result.normalized_score if result.state == "available" else None


def elapsed_ms(start: Moment | None, end: Moment | None) -> float | None:
    """Whole milliseconds from one moment to another, towards zero."""
    if start is None or end is None:
        return None
    took = end - start
    return float(took // _MS if took >= 0 else -(-took // _MS))


def latency_ms(evidence: Evidence) -> float | None:
    """How long the run took."""
    return elapsed_ms(evidence.started_at, evidence.terminal_at)


def _latency(reading: Reading) -> Measure:
    return Measure(latency_ms(reading.evidence), "latency evidence is unavailable")


def _first_output(reading: Reading) -> Measure:
    evidence = reading.evidence
    took = elapsed_ms(evidence.started_at, evidence.first_output_at)
    return Measure(took, "time-to-first-output evidence is unavailable")


def _tokens(kind: str) -> Collector:
    def collect(reading: Reading) -> Measure:
        return Measure(getattr(reading.evidence, f"{kind}_tokens"), f"{kind} token usage is unavailable")

    return collect


def _agent_tokens(reading: Reading) -> Measure:
    total = reading.evidence.total_tokens
    if total is None:
        return Measure(None, "total token usage is unavailable")
    return Measure(max(0.0, total - reading.evidence.race_context_tokens))


def _race_tokens(reading: Reading) -> Measure:
    return Measure(reading.evidence.race_context_tokens)


def _cost(reading: Reading) -> Measure:
    return Measure(*model_cost(reading.prices, reading.evidence))


def _completed(reading: Reading) -> Measure:
    return Measure(reading.evidence.completed, "terminal run evidence is unavailable")


def _failures(reading: Reading) -> Measure:
    return Measure(float(reading.evidence.failure_count))


def _tool_calls(reading: Reading) -> Measure:
    return Measure(reading.evidence.tool_call_count, "tool call evidence is unavailable")


def _signal(key: str) -> Collector:
    def collect(reading: Reading) -> Measure:
        return Measure(*behavioral_signal(key, reading.evidence, reading.scores))

    return collect


def _pass_rate(reading: Reading) -> Measure:
    known = [score for score in reading.scores if score is not None]
    if not known or len(known) < len(reading.validators):
        return Measure(None, "the pass rate needs every validator to be available")
    return Measure(sum(known) / len(known))


COLLECTORS: dict[str, Collector] = {
    "run_total_latency_ms": _latency,
    "run_ttft_ms": _first_output,
    "run_input_tokens": _tokens("input"),
    "run_output_tokens": _tokens("output"),
    "run_total_tokens": _tokens("total"),
    "run_agent_tokens": _agent_tokens,
    "run_race_context_tokens": _race_tokens,
    "run_model_cost_usd": _cost,
    "run_completed_successfully": _completed,
    "run_failure_count": _failures,
    "run_tool_call_count": _tool_calls,
    "behavioral_recovery_score": _signal("recovery_behavior"),
    "behavioral_exploration_efficiency_score": _signal("exploration_efficiency"),
    "behavioral_error_cascade_score": _signal("error_cascade"),
    "behavioral_scope_adherence_score": _signal("scope_adherence"),
    "behavioral_confidence_calibration_score": _signal("confidence_calibration"),
    "validator_pass_rate": _pass_rate,
}


def collect_metrics(spec: EvaluationSpec, evidence: Evidence, validators: list[ValidatorResult]) -> list[MetricResult]:
    """The metrics of a spec, in declared order."""
    reading = Reading(evidence, spec.pricing.models, validators)
    return [_collect(metric, reading) for metric in spec.metrics]


def _collect(metric: Metric, reading: Reading) -> MetricResult:
    collector = COLLECTORS.get(metric.collector)
    if collector is None:
        return _result(metric, state="error", reason=f'collector "{metric.collector}" is not supported')
    value, reason = collector(reading)
    if value is None:
        return _result(metric, state="unavailable", reason=reason)
    kind = "boolean_value" if isinstance(value, bool) else "numeric_value"
    return _result(metric, state="available", **{kind: value})


def _result(metric: Metric, **members: Any) -> MetricResult:
    return MetricResult(key=metric.key, type=metric.type, collector=metric.collector, unit=metric.unit, **members)
