"""Many samples of several models made one judge result."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

from arena.packs.judges.answers import Sample
from arena.packs.results import JudgeResult
from arena.packs.spec.models import Judge, JudgeLimits

MAX_SAMPLES = 10
AGREEMENT = 0.25


def judge_models(judge: Judge) -> list[str]:
    """The models that a judge asks."""
    return [judge.model] if judge.model else [model for model in judge.models if model]


def samples_per_model(judge: Judge, limits: JudgeLimits | None = None) -> int:
    """How often each model is asked; no limit raises it."""
    ceiling = limits.max_samples_per_judge if limits and limits.max_samples_per_judge > 0 else MAX_SAMPLES
    return min(judge.samples or 3, ceiling, MAX_SAMPLES)


def aggregate(judge: Judge, samples: Mapping[str, Sequence[Sample]]) -> JudgeResult:
    """The result of a judge from the samples of each of its models."""
    everything = [sample for each in samples.values() for sample in each]
    scores = model_scores(judge, samples)
    known = [sample.score for sample in everything if sample.score is not None]
    result = JudgeResult(
        judge_key=judge.key,
        mode=judge.mode,
        payload=_payload(judge, samples, scores),
        variance=_variance(known),
        sample_count=len(everything),
        model_count=len(samples),
    )
    if not scores:
        return result.model_copy(update={"reason": _why(everything)})
    score, confidence = _combined(judge, list(scores.values())), _confidence(judge, samples, scores)
    return result.model_copy(update={"normalized_score": score, "confidence": confidence})


def model_scores(judge: Judge, samples: Mapping[str, Sequence[Sample]]) -> dict[str, float]:
    """The score of each model that answered at all."""
    known = {model: [each.score for each in row if each.score is not None] for model, row in samples.items()}
    return {model: _of_model(judge, scores) for model, scores in known.items() if scores}


def _of_model(judge: Judge, scores: list[float]) -> float:
    if judge.mode == "assertion":
        return float(sum(score >= 0.5 for score in scores) * 2 >= len(scores))
    return median(scores)


def _combined(judge: Judge, scores: list[float]) -> float:
    if len(scores) == 1:
        return scores[0]
    default = "majority_vote" if judge.mode == "assertion" else "mean"
    match judge.consensus.aggregation if judge.consensus else default:
        case "median":
            return median(scores)
        case "majority_vote":
            return float(sum(score >= 0.5 for score in scores) * 2 >= len(scores))
        case "unanimous":
            return float(all(score >= 0.5 for score in scores))
        case _:
            return fmean(scores)


def _variance(scores: list[float]) -> float | None:
    if len(scores) < 2:
        return None
    mean = fmean(scores)
    return fmean((score - mean) ** 2 for score in scores)


def _spread(scores: Mapping[str, float]) -> float:
    return max(scores.values()) - min(scores.values())


def _threshold(judge: Judge) -> float:
    given = judge.consensus.min_agreement_threshold if judge.consensus else 0
    return given if given > 0 else AGREEMENT


def _confidence(judge: Judge, samples: Mapping[str, Sequence[Sample]], scores: Mapping[str, float]) -> str:
    if any(sample.score is None for row in samples.values() for sample in row):
        return "low"
    if len(samples) == 1:
        return "single-model"
    spread = _spread(scores)
    if spread == 0:
        return "high"
    return "low" if spread > _threshold(judge) else "medium"


def _why(samples: list[Sample]) -> str:
    first = next((sample.error for sample in samples if sample.error), "")
    return f"no judge sample has a score: {first}" if first else "no judge sample has a score"


def _payload(judge: Judge, samples: Mapping[str, Sequence[Sample]], scores: Mapping[str, float]) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "model_scores": dict(scores),
        "samples": {model: [_told(sample) for sample in row] for model, row in samples.items()},
    }
    if judge.consensus and judge.consensus.flag_on_disagreement and scores and _spread(scores) > _threshold(judge):
        payload["warnings"] = [f"the models disagree by {_spread(scores):.4f}"]
    return payload


def _told(sample: Sample) -> dict[str, Any]:
    return {name: value for name, value in sample._asdict().items() if name == "score" or value}
