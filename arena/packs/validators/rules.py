"""What an author may say in the config of a validator."""

from collections.abc import Callable, Iterator
from typing import Any

from arena.packs.patterns import BadPattern, compile_pattern
from arena.packs.text import is_blank, trim
from arena.packs.validators.configs import (
    BadConfig,
    BleuConfig,
    ChrfConfig,
    Config,
    ExecutionConfig,
    FuzzyConfig,
    MathConfig,
    NormalizedConfig,
    NumericConfig,
    PostconditionConfig,
    RougeConfig,
    TokenConfig,
    ToolCallConfig,
)
from arena.packs.validators.normalized import STEPS

Problem = tuple[str, str]  # the path below the config, "" for the config itself, and what is wrong
Problems = Iterator[Problem]

CONDITIONS = ("exists", "not_exists", "contains", "not_contains", "regex_match", "json_path_match", "equals")
SCORINGS = ("fraction_passed", "all_or_nothing", "pass_at_k")
POSITIVE = "must be greater than 0"
NOT_NEGATIVE = "must be greater than or equal to 0"
SHARE = "must be between 0 and 1"


def _threshold(config: Any) -> Problems:
    if not 0 <= config.threshold <= 1:
        yield ".threshold", SHARE


def _numeric(config: Any) -> Problems:
    for name in ("absolute_tolerance", "relative_tolerance"):
        if (getattr(config, name) or 0) < 0:
            yield f".{name}", NOT_NEGATIVE
    if config.significant_digits is not None and config.significant_digits <= 0:
        yield ".significant_digits", POSITIVE


def _normalized(config: Any) -> Problems:
    for index, step in enumerate(config.pipeline or config.normalizations):
        if step not in STEPS:
            yield f".pipeline[{index}]", f'"{step}" is not a supported normalization step'


def _math(config: Any) -> Problems:
    if trim(config.comparison_mode) not in {"", "symbolic", "numeric"}:
        yield ".comparison_mode", 'must be "symbolic" or "numeric"'
    if config.tolerance < 0:
        yield ".tolerance", NOT_NEGATIVE


def _bleu(config: Any) -> Problems:
    yield from _threshold(config)
    if config.max_ngram <= 0:
        yield ".max_ngram", POSITIVE
    if trim(config.smoothing) not in {"", "none", "method1"}:
        yield ".smoothing", 'must be "none" or "method1"'


def _rouge(config: Any) -> Problems:
    yield from _threshold(config)
    if trim(config.variant) not in {"", "rouge-1", "rouge-2", "rouge-l"}:
        yield ".variant", 'must be "rouge-1", "rouge-2" or "rouge-l"'
    if config.beta <= 0:
        yield ".beta", POSITIVE


def _chrf(config: Any) -> Problems:
    yield from _threshold(config)
    if config.char_order <= 0:
        yield ".char_order", POSITIVE
    if config.beta <= 0:
        yield ".beta", POSITIVE


def _execution(config: Any) -> Problems:
    if is_blank(config.test_command):
        yield ".test_command", "is required"
    if config.timeout_ms <= 0:
        yield ".timeout_ms", POSITIVE
    if config.scoring not in {"", *SCORINGS}:
        yield ".scoring", f"must be one of {', '.join(SCORINGS)}"
    if config.scoring == "pass_at_k":
        yield ".scoring", "pass_at_k needs several samples of a run and is not supported"
    if not 0 <= config.pass_threshold <= 1:
        yield ".pass_threshold", SHARE


def _tool_calls(config: Any) -> Problems:
    low, high = config.min_count, config.max_count
    for name in ("count", "min_count", "max_count"):
        if (getattr(config, name) or 0) < 0:
            yield f".{name}", NOT_NEGATIVE
    if config.count is not None and (low is not None or high is not None):
        yield ".count", "cannot be combined with min_count or max_count"
    if low is not None and high is not None and low > high:
        yield ".min_count", "must be less than or equal to max_count"
    yield from _presence(config)
    if config.given("arguments_contain") and not isinstance(config.arguments_contain, dict):
        yield ".arguments_contain", "must be a JSON object"
    yield from _order(config)
    counted = any(value is not None for value in (config.must_call, config.count, low, high))
    named = not is_blank(config.tool_name) or config.given("arguments_contain") or bool(config.ordered_tools)
    if not counted and not named:
        yield "", "must declare at least one tool call assertion"


def _presence(config: Any) -> Problems:
    if config.must_call is True:
        for name in ("count", "max_count"):
            if getattr(config, name) == 0:
                yield ".must_call", f"cannot be true when {name} is 0"
    if config.must_call is False:
        for name in ("count", "min_count"):
            if (getattr(config, name) or 0) > 0:
                yield ".must_call", f"cannot be false when {name} is greater than 0"


def _order(config: Any) -> Problems:
    for index, name in enumerate(config.ordered_tools):
        if is_blank(name):
            yield f".ordered_tools[{index}]", "must not be empty"
    if config.order_mode not in {"", "subsequence", "exact"}:
        yield ".order_mode", 'must be "subsequence" or "exact"'
    if config.order_mode and not config.ordered_tools:
        yield ".ordered_tools", "is required when order_mode is set"


def _postcondition(config: Any) -> Problems:
    condition = config.condition
    if condition not in CONDITIONS:
        yield ".condition", f"must be one of {', '.join(CONDITIONS)}" if condition else "is required"
        return
    if condition in {"exists", "not_exists"} and config.given("value"):
        yield ".value", f"must be omitted for {condition}"
    if condition in {"contains", "not_contains", "regex_match"}:
        yield from _text_value(config)
    if condition in {"json_path_match", "equals"} and not config.given("value"):
        yield ".value", "is required"
    if condition == "json_path_match" and is_blank(config.json_path):
        yield ".json_path", "is required"
    if condition != "json_path_match" and not is_blank(config.json_path):
        yield ".json_path", f"must be omitted for {condition}"


def _text_value(config: Any) -> Problems:
    if not config.given("value") or not isinstance(config.value, str | None):
        yield ".value", "must be a string"
    elif config.condition == "regex_match":
        try:
            compile_pattern(config.value or "")
        except BadPattern as error:
            yield ".value", f"must be a valid regex: {error}"


RULES: dict[str, tuple[type[Config], Callable[[Any], Problems]]] = {
    "fuzzy_match": (FuzzyConfig, _threshold),
    "token_f1": (TokenConfig, _threshold),
    "numeric_match": (NumericConfig, _numeric),
    "normalized_match": (NormalizedConfig, _normalized),
    "math_equivalence": (MathConfig, _math),
    "bleu_score": (BleuConfig, _bleu),
    "rouge_score": (RougeConfig, _rouge),
    "chrf_score": (ChrfConfig, _chrf),
    "code_execution": (ExecutionConfig, _execution),
    "tool_call_assertion": (ToolCallConfig, _tool_calls),
    "postcondition": (PostconditionConfig, _postcondition),
}
_NEEDED = frozenset({"tool_call_assertion", "postcondition"})


def config_problems(type: str, raw: Any) -> list[Problem]:
    """What is wrong with the config of a validator of a type."""
    if raw is None:
        return [("", f"is required for {type} validators")] if type in _NEEDED else []
    if type not in RULES:
        return []
    shape, rules = RULES[type]
    try:
        return list(rules(shape.read(raw)))
    except BadConfig as error:
        return [("", f"is invalid: {error}")]
