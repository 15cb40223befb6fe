"""Packs and runs of strangers: read and scored in a worker, and a validator that never ends is told from the rest."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from arena.packs.blocks import Bundle
from arena.packs.errors import FieldError, InvalidPack
from arena.packs.evaluate import checked_spec, score
from arena.packs.events import collect_evidence
from arena.packs.evidence import Evidence, case_evidence
from arena.packs.isolate import Isolate, Stopped, TooDeep
from arena.packs.read import parse_bundle
from arena.packs.results import EvaluationResult, JudgeResult, ValidatorResult
from arena.packs.spec import EvaluationSpec, Validator
from arena.packs.validators.check import evaluate_validator


async def parse_isolated(isolate: Isolate, text: str | bytes) -> Bundle:
    """Read a pack as `parse_bundle` does; one that is made to take long is refused like any other bad one."""
    try:
        return await isolate.run(parse_bundle, text)
    except Stopped as stopped:
        raise InvalidPack([FieldError("bundle", f"cannot be checked, the check was {stopped}")]) from None


async def evaluate_isolated(
    isolate: Isolate,
    spec: EvaluationSpec,
    case: Mapping[str, Any] | None,
    events: Iterable[Any],
    judge_results: Iterable[JudgeResult] = (),
    human_preference: float | None = None,
    version_assets: Iterable[Mapping[str, Any]] = (),
) -> EvaluationResult:
    """Score a run as `evaluate` does; neither the log nor the spec can hold up this process."""
    checked = await isolate.run(checked_spec, spec)
    cases = [] if case is None else [case_evidence(case, version_assets)]
    log = list(events)
    try:
        evidence = await isolate.run(collect_evidence, log, cases)
    except TooDeep:
        evidence = collect_evidence(log, cases)  # which cuts what is deep, and takes no longer than the log is
    return await score_isolated(isolate, checked, evidence, judge_results, human_preference)


async def score_isolated(
    isolate: Isolate,
    spec: EvaluationSpec,
    evidence: Evidence,
    judge_results: Iterable[JudgeResult] = (),
    human_preference: float | None = None,
) -> EvaluationResult:
    """Score evidence in one call, and only if that is stopped validator by validator."""
    judges = list(judge_results)
    try:
        return await isolate.run(score, spec, evidence, judges, human_preference)
    except Stopped:
        verdicts = await asyncio.gather(*(_verdict(isolate, each, evidence) for each in spec.validators))
    return await isolate.run(score, spec, evidence, judges, human_preference, list(verdicts))


async def _verdict(isolate: Isolate, validator: Validator, evidence: Evidence) -> ValidatorResult:
    try:
        return await isolate.run(evaluate_validator, validator, evidence)
    except Stopped as stopped:
        return ValidatorResult(
            key=validator.key,
            type=validator.type,
            target=validator.target,
            expected_from=validator.expected_from,
            state="error",
            verdict="error",
            outcome_class="evaluator_error",
            reason=f"the validator was {stopped}",
        )
