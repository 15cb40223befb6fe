"""One validator against the evidence of a run: resolve, compare, say what came of it."""

from collections.abc import Callable
from typing import Any

from arena.packs.evidence import Evidence, Origin
from arena.packs.resolve import BadReference, resolve_evidence
from arena.packs.results import Source, ValidatorResult, bounded
from arena.packs.spec.models import Validator
from arena.packs.text import well_formed
from arena.packs.validators import documents, files, maths, numbers, overlap, texts
from arena.packs.validators.execution import PassAtK, Undecided, code_execution
from arena.packs.validators.outcome import Fault, Outcome
from arena.packs.validators.postcondition import ABOUT_PRESENCE, about_absence, about_content, read_postcondition
from arena.packs.validators.tool_calls import tool_call_assertion

Compare = Callable[[Any, str, Any], Outcome]

TYPES: dict[str, Compare] = {
    "exact_match": texts.exact_match,
    "contains": texts.contains,
    "regex_match": texts.regex_match,
    "boolean_assert": texts.boolean_assert,
    "fuzzy_match": texts.fuzzy_match,
    "normalized_match": texts.normalized_match,
    "numeric_match": numbers.numeric_match,
    "json_schema": documents.json_schema,
    "json_path_match": documents.json_path_match,
    "token_f1": overlap.token_f1,
    "bleu_score": overlap.bleu_score,
    "rouge_score": overlap.rouge_score,
    "chrf_score": overlap.chrf_score,
    "math_equivalence": maths.math_equivalence,
    "file_exists": files.file_exists,
    "file_content_match": files.file_content_match,
    "file_json_schema": files.file_json_schema,
    "directory_structure": files.directory_structure,
}
_ALONE = frozenset({"file_exists", "file_json_schema", "directory_structure"})


def evaluate_validator(validator: Validator, evidence: Evidence) -> ValidatorResult:
    """The verdict of a validator; whatever goes wrong is told in the result."""
    try:
        if validator.type == "code_execution":
            return _code(validator, evidence)
        if validator.type == "tool_call_assertion":
            return _tools(validator, evidence)
        if validator.type == "postcondition":
            return _postcondition(validator, evidence)
        return _generic(validator, evidence)
    except BadReference as error:
        return _result(validator, state="error", outcome_class="evaluator_error", reason=str(error))
    except RecursionError:
        reason = "the evidence is nested too deeply"
        return _result(validator, state="error", verdict="error", outcome_class="evaluator_error", reason=reason)


def _result(validator: Validator, **members: Any) -> ValidatorResult:
    return ValidatorResult(
        key=validator.key,
        type=validator.type,
        target=validator.target,
        expected_from=validator.expected_from,
        **members,
    )


def _decided(validator: Validator, outcome: Outcome, **members: Any) -> ValidatorResult:
    word = "pass" if outcome.passed else "fail"
    return _result(
        validator,
        state="available",
        verdict=word,
        outcome_class=word,
        normalized_score=outcome.score,
        reason=outcome.reason,
        details=bounded(outcome.details),
        **members,
    )


def _faulty(validator: Validator, fault: Fault, verdict: str = "error", **members: Any) -> ValidatorResult:
    said = {
        "verdict": verdict,
        "outcome_class": fault.outcome_class,
        "reason": fault.reason,
        "details": bounded(fault.details),
    }
    return _result(validator, state="error", **said, **members)


def _unavailable(validator: Validator, reason: str, **members: Any) -> ValidatorResult:
    return _result(validator, state="unavailable", outcome_class="unavailable", reason=reason, **members)


def _generic(validator: Validator, evidence: Evidence) -> ValidatorResult:
    compare = TYPES.get(validator.type)
    if compare is None:
        reason = f'unsupported validator type "{validator.type}"'
        return _result(validator, state="error", verdict="error", outcome_class="pack_error", reason=reason)
    actual, reason = resolve_evidence(validator.target, evidence)
    expected: str | None = ""
    if validator.type not in _ALONE:
        expected, why = resolve_evidence(validator.expected_from, evidence)
        reason = reason or why
    if expected is None or (actual is None and validator.type != "file_exists"):
        return _unavailable(validator, reason)
    members: dict[str, Any] = {"actual_value": actual, "source": _source(validator.target, evidence)}
    if validator.type not in _ALONE:
        members["expected_value"] = expected
    try:
        said = None if actual is None else well_formed(actual)
        return _decided(validator, compare(said, well_formed(expected), validator.config), **members)
    except Fault as fault:
        return _faulty(validator, fault, "error", **members)


def _source(target: str, evidence: Evidence) -> Source | None:
    if target in {"final_output", "run.final_output"} and evidence.final_output_origin is not None:
        kind, origin = evidence.final_output_origin
        return _seen(kind, origin, target)
    if target.startswith("file:"):
        key = target.removeprefix("file:")
        found = evidence.files.get(key) or evidence.directories.get(key)
        return _seen("tool_call", found.origin if found else None, target)
    return None


def _seen(kind: str, origin: Origin | None, path: str) -> Source | None:
    if origin is None or origin.sequence <= 0:
        return None
    return Source(kind=kind, sequence=origin.sequence, event_type=origin.event_type, field_path=path)


def _code(validator: Validator, evidence: Evidence) -> ValidatorResult:
    execution = evidence.executions.get(validator.key)
    if execution is None:
        return _unavailable(validator, "code execution evidence is unavailable")
    source = _seen("tool_call", execution.origin, validator.target)
    try:
        return _decided(validator, code_execution(execution, validator.config), source=source)
    except Undecided as undecided:
        return _unavailable(validator, str(undecided), details=undecided.details, source=source)
    except Fault as fault:
        told = fault.outcome_class == "infra_error" or isinstance(fault, PassAtK) or bool(fault.details.get("scoring"))
        return _faulty(validator, fault, "error" if told else "", source=source)


def _tools(validator: Validator, evidence: Evidence) -> ValidatorResult:
    try:
        outcome, first = tool_call_assertion(evidence.tool_calls, validator.config)
    except Fault as fault:
        return _faulty(validator, fault, "")
    return _decided(validator, outcome, source=_seen("tool_call", first.origin if first else None, "tool_calls"))


def _postcondition(validator: Validator, evidence: Evidence) -> ValidatorResult:
    try:
        config = read_postcondition(validator.config)
    except Fault as fault:
        return _faulty(validator, fault, "")
    actual, reason = resolve_evidence(validator.target, evidence)
    source = _source(validator.target, evidence)
    if actual is None:
        captured = evidence.files.get(validator.target.removeprefix("file:"))
        if captured is None or config.condition not in ABOUT_PRESENCE:
            return _unavailable(validator, reason, details={"condition": config.condition}, source=source)
        return _decided(validator, about_absence(config), source=source)
    try:
        return _decided(validator, about_content(config, well_formed(actual)), actual_value=actual, source=source)
    except Fault as fault:
        return _faulty(validator, fault, actual_value=actual, source=source)
