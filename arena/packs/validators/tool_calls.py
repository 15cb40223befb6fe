"""Assertions about the tool calls of a run; only calls that succeeded count."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from arena.packs.evidence import ToolCall
from arena.packs.text import trim
from arena.packs.validators.configs import ToolCallConfig
from arena.packs.validators.outcome import Outcome, PackFault
from arena.packs.validators.rules import config_problems
from arena.packs.validators.texts import read_config
from arena.packs.values import same_value


class Asserted(NamedTuple):
    """The outcome, and the first call that matched."""

    outcome: Outcome
    first: ToolCall | None


def tool_call_assertion(calls: list[ToolCall], raw: Any) -> Asserted:
    """Whether the trace of a run is as the config says."""
    if raw is None:
        raise PackFault("tool_call_assertion needs a config")
    config = read_config(ToolCallConfig, raw, "tool_call_assertion")
    problems = config_problems("tool_call_assertion", raw)
    if problems:
        raise PackFault(
            "invalid tool_call_assertion config: " + "; ".join(f"config{at} {what}" for at, what in problems)
        )
    matched = [index for index, call in enumerate(calls) if _matches(call, config)]
    names = [call.tool_name for call in calls if not call.failed]
    reasons = [*_presence(config, len(matched)), *_counts(config, len(matched)), *_order(config, names)]
    outcome = Outcome(not reasons, float(not reasons), "; ".join(reasons), _seen(config, calls, matched, names))
    return Asserted(outcome, calls[matched[0]] if matched else None)


def _matches(call: ToolCall, config: ToolCallConfig) -> bool:
    name = trim(config.tool_name)
    if call.failed or (name and trim(call.tool_name) != name):
        return False
    return not config.given("arguments_contain") or holds(call.arguments, config.arguments_contain)


def holds(actual: Any, fragment: Any) -> bool:
    """Whether a value contains a fragment: members by key, elements in any order, each used once."""
    if isinstance(fragment, Mapping):
        return isinstance(actual, Mapping) and all(
            key in actual and holds(actual[key], fragment[key]) for key in fragment
        )
    if isinstance(fragment, list):
        return isinstance(actual, list) and _consumes(list(actual), fragment)
    return same_value(actual, fragment)


def _consumes(left: list[Any], fragments: list[Any]) -> bool:
    for fragment in fragments:
        at = next((index for index, item in enumerate(left) if holds(item, fragment)), None)
        if at is None:
            return False
        del left[at]
    return True


def _presence(config: ToolCallConfig, matched: int) -> Iterator[str]:
    counted = any(value is not None for value in (config.count, config.min_count, config.max_count))
    named = bool(trim(config.tool_name)) or config.given("arguments_contain")
    wanted = True if config.must_call is None and named and not counted else config.must_call
    if wanted is True and not matched:
        yield "expected matching tool call was not observed"
    if wanted is False and matched:
        yield f"{matched} forbidden matching tool calls were observed"


def _counts(config: ToolCallConfig, matched: int) -> Iterator[str]:
    if config.count is not None and matched != config.count:
        yield f"matched tool call count {matched} is not {config.count}"
    if config.min_count is not None and matched < config.min_count:
        yield f"matched tool call count {matched} is below min_count {config.min_count}"
    if config.max_count is not None and matched > config.max_count:
        yield f"matched tool call count {matched} is above max_count {config.max_count}"


def _order(config: ToolCallConfig, names: list[str]) -> Iterator[str]:
    wanted = [trim(name) for name in config.ordered_tools]
    if not wanted:
        return
    if config.order_mode == "exact":
        if names != wanted:
            yield "observed tool order is not exactly the expected order"
        return
    rest = iter(names)
    if not all(name in rest for name in wanted):
        yield "observed tool order does not contain the expected order"


def _seen(config: ToolCallConfig, calls: list[ToolCall], matched: list[int], names: list[str]) -> dict[str, Any]:
    return {
        "observed_count": len(names),
        "failed_count": len(calls) - len(names),
        "matched_count": len(matched),
        "matched_indices": matched,
        "observed_tool_names": names,
        "tool_name": trim(config.tool_name) or None,
        "must_call": config.must_call,
        "expected_count": config.count,
        "expected_min_count": config.min_count,
        "expected_max_count": config.max_count,
        "expected_order": config.ordered_tools or None,
        "expected_order_mode": (config.order_mode or "subsequence") if config.ordered_tools else None,
        "arguments_contain_set": config.given("arguments_contain"),
    }
