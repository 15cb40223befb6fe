"""Behavioral signals: how an agent went about its task, read from its tool calls and its conversation."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from arena.packs.evidence import Evidence, ToolCall
from arena.packs.spec.models import Behavioral
from arena.packs.text import trim
from arena.packs.values import canonical_json, is_number

_BARRED = ("tool is not allowed in this runtime", "tool is not available in this runtime")

Scores = Sequence[float | None]  # of the validators in declared order, None for one that is not available


class Signal(NamedTuple):
    """The score of a signal, or the reason why there is none."""

    score: float | None
    reason: str = ""


def signature(call: ToolCall) -> str:
    """What makes two calls the same: their tool and their arguments."""
    return trim(call.tool_name) + canonical_json({} if call.arguments is None else call.arguments)


def _outcome(scores: Scores) -> Signal:
    """1 if every validator is fully satisfied; a failure before the first gap decides."""
    for score in scores:
        if score is None:
            return Signal(None, "validator outcome needs every validator to be available")
        if score < 1:
            return Signal(0.0)
    return Signal(1.0) if scores else Signal(None, "validator outcome is unavailable")


def _recovery(evidence: Evidence, scores: Scores) -> Signal:
    if evidence.turns:
        return _recovery_in_talk(evidence, scores)
    calls = evidence.tool_calls
    if not any(call.failed for call in calls):
        return Signal(1.0)
    followed = [(call, after) for call, after in pairwise(calls) if call.failed]
    if not followed:
        return Signal(0.0, "no other call followed the failures")
    return Signal(sum(signature(call) != signature(after) for call, after in followed) / len(followed))


def _recovery_in_talk(evidence: Evidence, scores: Scores) -> Signal:
    if not any(turn.mismatch for turn in evidence.turns):
        return Signal(1.0)
    outcome = _outcome(scores)
    return Signal(0.0, "the conversation never recovered from a mismatch") if outcome.score == 0 else outcome


def _exploration(evidence: Evidence, _scores: Scores) -> Signal:
    calls = evidence.tool_calls
    repeated = len(calls) - len({signature(call) for call in calls})
    return Signal(1 - repeated / len(calls) if calls else 1.0)


def _cascade(evidence: Evidence, _scores: Scores) -> Signal:
    longest = run = 0
    for call in evidence.tool_calls:
        run = run + 1 if call.failed else 0
        longest = max(longest, run)
    return Signal(1 / longest if longest else 1.0)


def _scope(evidence: Evidence, _scores: Scores) -> Signal:
    calls = evidence.tool_calls
    return Signal(1 - sum(map(_is_out_of_scope, calls)) / len(calls) if calls else 1.0)


def _is_out_of_scope(call: ToolCall) -> bool:
    said = call.error_message.lower()
    barred = trim(call.failure_origin).lower() == "policy" or any(phrase in said for phrase in _BARRED)
    return call.failed and barred


def _calibration(evidence: Evidence, scores: Scores) -> Signal:
    reports = (_confidence(call) for call in reversed(evidence.tool_calls))
    confidence = next((report for report in reports if report is not None), None)
    if confidence is None:
        return Signal(None, "report_confidence evidence is unavailable")
    outcome = _outcome(scores)
    if outcome.score is None:
        return outcome
    return Signal(max(0.0, 1 - (confidence - outcome.score) ** 2))


def _confidence(call: ToolCall) -> float | None:
    if call.failed or trim(call.tool_name) != "report_confidence" or not isinstance(call.arguments, Mapping):
        return None
    named = (call.arguments.get(name) for name in ("confidence", "score"))
    value = next((value for value in named if is_number(value)), None)
    return float(value) if value is not None and 0 <= value <= 1 else None


SIGNALS: dict[str, Callable[[Evidence, Scores], Signal]] = {
    "recovery_behavior": _recovery,
    "exploration_efficiency": _exploration,
    "error_cascade": _cascade,
    "scope_adherence": _scope,
    "confidence_calibration": _calibration,
}


def behavioral_signal(key: str, evidence: Evidence, scores: Scores) -> Signal:
    """The score of one signal."""
    signal = SIGNALS.get(key)
    return signal(evidence, scores) if signal else Signal(None, f'behavioral signal "{key}" is not supported')


def behavioral_score(behavioral: Behavioral | None, evidence: Evidence, scores: Scores) -> Signal:
    """The weighted mean of the declared signals; a gate below its threshold makes it 0."""
    if behavioral is None or not behavioral.signals:
        return Signal(None, "behavioral config is unavailable")
    total = weights = 0.0
    failed = []
    for declared in behavioral.signals:
        signal = behavioral_signal(declared.key, evidence, scores)
        if signal.score is None:
            return Signal(None, f'behavioral signal "{declared.key}" is unavailable: {signal.reason}')
        total += declared.weight * signal.score
        weights += declared.weight
        if declared.gate and declared.pass_threshold is not None and signal.score < declared.pass_threshold:
            failed.append(f"{declared.key} {signal.score:.4f} is below {declared.pass_threshold:.4f}")
    if failed:
        return Signal(0.0, "behavioral gates failed: " + "; ".join(failed))
    return Signal(total / weights if weights else 0.0)
