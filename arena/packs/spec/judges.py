"""The rules for judges in a spec."""

import re
from collections.abc import Iterator

from arena.packs.errors import FieldError
from arena.packs.providers import infer_provider
from arena.packs.references import UNSUPPORTED, is_supported
from arena.packs.schemas import BadSchema, decode_schema
from arena.packs.spec.models import EvaluationSpec, Judge
from arena.packs.text import is_blank
from arena.packs.validators.rules import NOT_NEGATIVE, POSITIVE, SHARE

MODES = ("rubric", "assertion", "n_wise", "reference")
AGGREGATIONS = ("median", "mean", "majority_vote", "unanimous")
MAX_SAMPLES = 10
_SECRET = re.compile(r"\$\{(?:secrets\.| secrets\.|secrets \.)")
_TASKS = {"rubric": "rubric", "reference": "rubric", "assertion": "assertion", "n_wise": "prompt"}

Errors = Iterator[FieldError]


def judge_errors(spec: EvaluationSpec, at: str) -> Errors:
    """Everything that is wrong with the judges of a spec and with what they may use up."""
    if spec.judge_mode == "deterministic" and spec.llm_judges:
        yield FieldError(f"{at}.llm_judges", "must be empty when judge_mode is deterministic")
    if spec.judge_mode in {"llm_judge", "hybrid"} and not spec.llm_judges:
        yield FieldError(f"{at}.llm_judges", f"must contain at least one judge when judge_mode is {spec.judge_mode}")
    seen: set[str] = set()
    for index, judge in enumerate(spec.llm_judges):
        path = f"{at}.llm_judges[{index}]"
        stopped = next(_identity(judge, spec, seen, path), None)
        seen.add(judge.key)
        yield from [stopped] if stopped else _judge(judge, path)
    yield from _limits(spec, f"{at}.scorecard.judge_limits")


def _identity(judge: Judge, spec: EvaluationSpec, seen: set[str], path: str) -> Errors:
    """The first reason why a judge cannot be told from others or run at all."""
    if not judge.key:
        yield FieldError(f"{path}.key", "is required")
    if judge.key in seen:
        yield FieldError(f"{path}.key", "must be unique")
    for kind, others in (("validator", spec.validators), ("metric", spec.metrics)):
        if any(judge.key == other.key for other in others):
            yield FieldError(f"{path}.key", f'collides with {kind} key "{judge.key}"')
    if judge.mode not in MODES:
        yield FieldError(f"{path}.mode", f"must be one of {', '.join(MODES)}")


def _judge(judge: Judge, path: str) -> Errors:
    yield from _task(judge, path)
    yield from _models(judge, path)
    if not 0 <= judge.samples <= MAX_SAMPLES:
        yield FieldError(f"{path}.samples", f"must be between 0 and {MAX_SAMPLES}")
    yield from _consensus(judge, path)
    for index, reference in enumerate(judge.context_from):
        if not is_supported(reference):
            yield FieldError(f"{path}.context_from[{index}]", UNSUPPORTED)
    yield from _output_schema(judge, path)
    if judge.score_scale is not None and judge.score_scale.min >= judge.score_scale.max:
        yield FieldError(f"{path}.score_scale", "needs a min below its max")
    if judge.timeout_ms is not None and judge.timeout_ms <= 0:
        yield FieldError(f"{path}.timeout_ms", POSITIVE)


def _task(judge: Judge, path: str) -> Errors:
    task = _TASKS[judge.mode]
    if is_blank(getattr(judge, task)):
        yield FieldError(f"{path}.{task}", f"is required for {judge.mode} mode")
    if judge.mode == "reference":
        if not judge.reference_from:
            yield FieldError(f"{path}.reference_from", "is required for reference mode")
        elif not is_supported(judge.reference_from):
            yield FieldError(f"{path}.reference_from", UNSUPPORTED)
    for name in ("rubric", "assertion", "prompt"):
        if _SECRET.search(getattr(judge, name)):
            yield FieldError(f"{path}.{name}", "must not refer to secrets")


def _models(judge: Judge, path: str) -> Errors:
    if not judge.model and not judge.models:
        yield FieldError(f"{path}.model", "is required, or models")
    if judge.model and judge.models:
        yield FieldError(f"{path}.models", "must not be set together with model")
    if judge.model and infer_provider(judge.model) is None:
        yield FieldError(f"{path}.model", "must name a model of a known provider")
    for index, model in enumerate(judge.models):
        if not model:
            yield FieldError(f"{path}.models[{index}]", "must not be empty")
        elif infer_provider(model) is None:
            yield FieldError(f"{path}.models[{index}]", "must name a model of a known provider")


def _consensus(judge: Judge, path: str) -> Errors:
    several, consensus = len(judge.models) > 1, judge.consensus
    if several and consensus is None:
        yield FieldError(f"{path}.consensus", "is required when there are several models")
    if consensus is None:
        return
    if not several:
        yield FieldError(f"{path}.consensus", "is only valid when there are several models")
        return
    if consensus.aggregation not in _aggregations(judge.mode):
        yield FieldError(f"{path}.consensus.aggregation", f"must be one of {', '.join(_aggregations(judge.mode))}")
    elif not 0 <= consensus.min_agreement_threshold <= 1:
        yield FieldError(f"{path}.consensus.min_agreement_threshold", SHARE)


def _aggregations(mode: str) -> tuple[str, ...]:
    barred = {"median", "mean"} if mode == "assertion" else {"majority_vote"}
    return tuple(name for name in AGGREGATIONS if name not in barred)


def _output_schema(judge: Judge, path: str) -> Errors:
    if judge.output_schema is None:
        return
    try:
        decode_schema(judge.output_schema)
    except BadSchema as error:
        yield FieldError(f"{path}.output_schema", f"must be a JSON Schema: {error}")


def _limits(spec: EvaluationSpec, at: str) -> Errors:
    limits = spec.scorecard.judge_limits
    if limits is None:
        return
    if not 0 <= limits.max_samples_per_judge <= MAX_SAMPLES:
        yield FieldError(f"{at}.max_samples_per_judge", f"must be between 0 and {MAX_SAMPLES}")
    for name in ("max_calls_usd", "max_tokens"):
        if (getattr(limits, name) or 0) < 0:
            yield FieldError(f"{at}.{name}", NOT_NEGATIVE)
