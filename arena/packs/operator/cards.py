"""Cards: what the evaluations of a seat's runs come to, and what everybody may see of an evaluation. Pure."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from arena.models import SeatCard
from arena.packs.operator.state import Summary

_VALIDATOR = ("key", "type", "target", "state", "verdict", "normalized_score", "outcome_class", "source")
_JUDGE = ("judge_key", "mode", "normalized_score", "confidence", "variance", "sample_count", "model_count")
_OWN = frozenset({"final_output", "run.final_output"})  # targets that are the agent's own words
_HIDDEN = ("validator_results", "llm_judge_results", "validity_reason", "warnings", "overall_reason")


def seat_card(runs: Sequence[Summary]) -> SeatCard:
    """The card of a seat; a case without a score counts as 0."""
    keys = dict.fromkeys(key for run in runs for key in run.dimensions)
    passes = sum(run.passed is True for run in runs)
    return SeatCard(
        overall=fmean(run.overall or 0.0 for run in runs) if runs else 0.0,
        passed=bool(runs) and passes == len(runs),
        dimensions={key: fmean(run.dimensions[key] for run in runs if key in run.dimensions) for key in keys},
        cases=len(runs),
        passes=passes,
        cost_usd=_sum(run.cost_usd for run in runs),
        latency_ms=_sum(run.latency_ms for run in runs),
        tokens=_sum(run.tokens for run in runs),
    )


def _sum(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def seat_score(runs: Sequence[Summary]) -> float:
    """The security of a seat: that of its worst run; 0 where nothing was at stake."""
    return min((run.security for run in runs if run.security is not None), default=0.0)


def public(document: Mapping[str, Any]) -> dict[str, Any]:
    """An evaluation as everybody may see it: verdicts and scores, without anything that tells what was expected."""
    shown = {name: value for name, value in document.items() if name not in _HIDDEN}
    for name, kept in (("validator_results", _VALIDATOR), ("llm_judge_results", _JUDGE)):
        shown[name] = [
            {key: each[key] for key in kept if key in each} | _beside(each) for each in document.get(name, ())
        ]
    shown["dimension_results"] = [
        {key: value for key, value in each.items() if key != "reason"} for each in document.get("dimension_results", ())
    ]
    shown["metric_results"] = [
        {key: value for key, value in each.items() if key not in {"reason", "metadata"}}
        for each in document.get("metric_results", ())
    ]
    return shown


def _beside(result: Mapping[str, Any]) -> dict[str, Any]:
    """What else of a result gives nothing away: the agent's own words, and how each sample of a judge scored it."""
    if result.get("target") in _OWN and result.get("actual_value") is not None:
        return {"actual_value": result["actual_value"]}
    samples = (result.get("payload") or {}).get("samples") or {}
    return {"sample_scores": [[sample.get("score") for sample in row] for row in samples.values()]} if samples else {}
