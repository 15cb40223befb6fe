"""The rules of an evaluation spec, all of them checked, each breach told with the path of its field."""

from collections.abc import Callable, Iterator

from arena.packs.errors import FieldError
from arena.packs.references import UNSUPPORTED, is_supported
from arena.packs.spec.judges import judge_errors
from arena.packs.spec.models import EvaluationSpec, Validator
from arena.packs.spec.normalise import normalise_spec
from arena.packs.spec.scorecard import scorecard_errors
from arena.packs.validators.rules import NOT_NEGATIVE, POSITIVE, SHARE, config_problems

VALIDATOR_TYPES = [
    "exact_match",
    "contains",
    "regex_match",
    "boolean_assert",
    "fuzzy_match",
    "numeric_match",
    "json_schema",
    "json_path_match",
    "normalized_match",
    "token_f1",
    "bleu_score",
    "rouge_score",
    "chrf_score",
    "math_equivalence",
    "file_exists",
    "file_content_match",
    "file_json_schema",
    "directory_structure",
    "code_execution",
    "tool_call_assertion",
    "postcondition",
]
SIGNALS = (
    "recovery_behavior",
    "exploration_efficiency",
    "error_cascade",
    "scope_adherence",
    "confidence_calibration",
)
JUDGE_MODES = ("deterministic", "llm_judge", "hybrid")
FILE_TYPES = frozenset(
    ["file_content_match", "file_exists", "file_json_schema", "directory_structure", "code_execution", "postcondition"]
)
ALONE = frozenset(  # types that compare with nothing from the evidence
    ["file_exists", "file_json_schema", "directory_structure", "code_execution", "tool_call_assertion", "postcondition"]
)

Errors = Iterator[FieldError]
Rules = Callable[[EvaluationSpec, str], Errors]


def validate_spec(spec: EvaluationSpec, path_prefix: str = "evaluation_spec") -> list[FieldError]:
    """Everything that is wrong with a spec; an empty list means that it can be used."""
    spec = normalise_spec(spec)
    parts = (_head, _limits, _validators, _checks, _metrics, _behavioral, _pricing, judge_errors, scorecard_errors)
    return [error for rules in parts for error in rules(spec, path_prefix)]


def _head(spec: EvaluationSpec, at: str) -> Errors:
    if not spec.name:
        yield FieldError(f"{at}.name", "is required")
    if spec.version_number <= 0:
        yield FieldError(f"{at}.version_number", POSITIVE)
    if spec.judge_mode not in JUDGE_MODES:
        yield FieldError(f"{at}.judge_mode", f"must be one of {', '.join(JUDGE_MODES)}")
    if not spec.validators:
        yield FieldError(f"{at}.validators", "must contain at least one validator")


def _limits(spec: EvaluationSpec, at: str) -> Errors:
    limits = spec.runtime_limits
    for name in ("max_total_tokens", "max_cost_usd", "max_duration_ms"):
        value = getattr(limits, name)
        if value is not None and value <= 0:
            yield FieldError(f"{at}.runtime_limits.{name}", POSITIVE)
    if limits.max_iterations is not None and not 1 <= limits.max_iterations <= 1000:
        yield FieldError(f"{at}.runtime_limits.max_iterations", "must be between 1 and 1000")


def _validators(spec: EvaluationSpec, at: str) -> Errors:
    seen: set[str] = set()
    for index, validator in enumerate(spec.validators):
        path = f"{at}.validators[{index}]"
        yield from _key(validator.key, seen, f"{path}.key")
        if validator.type not in VALIDATOR_TYPES:
            yield FieldError(f"{path}.type", f"must be one of {', '.join(VALIDATOR_TYPES)}")
        for suffix, message in config_problems(validator.type, validator.config):
            yield FieldError(f"{path}.config{suffix}", message)
        for message in _target_problems(validator, spec):
            yield FieldError(f"{path}.target", message)
        for message in _expected_problems(validator):
            yield FieldError(f"{path}.expected_from", message)


def _key(key: str, seen: set[str], path: str) -> Errors:
    if not key:
        yield FieldError(path, "is required")
    elif key in seen:
        yield FieldError(path, "must be unique")
    seen.add(key)


def _target_problems(validator: Validator, spec: EvaluationSpec) -> Iterator[str]:
    target = validator.target
    if not target:
        yield "is required"
    elif validator.type == "tool_call_assertion":
        if target != "tool_calls":
            yield 'must be "tool_calls" for tool_call_assertion validators'
    elif not is_supported(target):
        yield UNSUPPORTED
    if validator.type in FILE_TYPES and not target.startswith("file:"):
        yield "must begin with file: for file validators"
    yield from _check_problems(validator, spec)


def _check_problems(validator: Validator, spec: EvaluationSpec) -> Iterator[str]:
    """What is wrong with the post-execution check that a target names."""
    checks = {check.key: check for check in spec.post_execution_checks}
    is_file = validator.target.startswith("file:")
    key = validator.target.removeprefix("file:")
    unknown = f'references unknown post_execution_check key "{key}"'
    if validator.type == "code_execution":
        if key not in checks:
            yield unknown
        elif checks[key].type != "file_capture":
            yield "must reference a file_capture post_execution_check"
    if is_file and key not in checks and (checks or validator.type == "postcondition"):
        yield unknown


def _expected_problems(validator: Validator) -> Iterator[str]:
    expected = validator.expected_from
    if validator.type in {"tool_call_assertion", "postcondition"}:
        if expected:
            yield f"must be omitted for {validator.type} validators"
    elif validator.type not in ALONE:
        if not expected:
            yield "is required"
        elif not is_supported(expected):
            yield UNSUPPORTED


def _checks(spec: EvaluationSpec, at: str) -> Errors:
    seen: set[str] = set()
    for index, check in enumerate(spec.post_execution_checks):
        path = f"{at}.post_execution_checks[{index}]"
        yield from _key(check.key, seen, f"{path}.key")
        if check.type not in {"file_capture", "directory_listing"}:
            yield FieldError(f"{path}.type", "must be file_capture or directory_listing")
        if not check.path:
            yield FieldError(f"{path}.path", "is required")
        if check.max_size_bytes < 0:
            yield FieldError(f"{path}.max_size_bytes", NOT_NEGATIVE)


def _metrics(spec: EvaluationSpec, at: str) -> Errors:
    seen: set[str] = set()
    validators = {validator.key for validator in spec.validators if validator.key}
    for index, metric in enumerate(spec.metrics):
        path = f"{at}.metrics[{index}]"
        yield from _key(metric.key, seen, f"{path}.key")
        if metric.key in validators:
            yield FieldError(f"{path}.key", f'collides with validator key "{metric.key}"')
        if metric.type not in {"numeric", "text", "boolean"}:
            yield FieldError(f"{path}.type", "must be one of numeric, text, boolean")
        if not metric.collector:
            yield FieldError(f"{path}.collector", "is required")


def _behavioral(spec: EvaluationSpec, at: str) -> Errors:
    if spec.behavioral is None:
        return
    if not spec.behavioral.signals:
        yield FieldError(f"{at}.behavioral.signals", "must contain at least one signal")
    seen: set[str] = set()
    for index, signal in enumerate(spec.behavioral.signals):
        path = f"{at}.behavioral.signals[{index}]"
        if signal.key not in SIGNALS:
            yield FieldError(f"{path}.key", f"must be one of {', '.join(SIGNALS)}")
        elif signal.key in seen:
            yield FieldError(f"{path}.key", "must be unique")
        seen.add(signal.key)
        if signal.weight <= 0:
            yield FieldError(f"{path}.weight", POSITIVE)
        if signal.pass_threshold is None:
            if signal.gate:
                yield FieldError(f"{path}.pass_threshold", "is required when the signal is a gate")
        elif not 0 <= signal.pass_threshold <= 1:
            yield FieldError(f"{path}.pass_threshold", SHARE)


def _pricing(spec: EvaluationSpec, at: str) -> Errors:
    seen: set[tuple[str, str]] = set()
    for index, model in enumerate(spec.pricing.models):
        path = f"{at}.pricing.models[{index}]"
        for name in ("provider_key", "provider_model_id"):
            if not getattr(model, name):
                yield FieldError(f"{path}.{name}", "is required")
        for name in ("input_cost_per_million_tokens", "output_cost_per_million_tokens"):
            if getattr(model, name) < 0:
                yield FieldError(f"{path}.{name}", NOT_NEGATIVE)
        both = (model.provider_key, model.provider_model_id)
        if all(both) and both in seen:
            yield FieldError(path, "must be unique by provider_key and provider_model_id")
        seen.add(both)
