"""What a validator type says about a pair of texts."""

from typing import Any, NamedTuple

Details = dict[str, Any]


class Outcome(NamedTuple):
    """A verdict with its score, the reason for it and what was seen on the way."""

    passed: bool
    score: float
    reason: str = ""
    details: Details = {}


class Fault(Exception):
    """A comparison that could not be made: by the fault of the author, or by what the agent wrote."""

    outcome_class = "evaluator_error"

    def __init__(self, reason: str, details: Details | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.details = {"error": reason, **(details or {})}


class PackFault(Fault):
    """What the author of the pack wrote cannot be used."""

    outcome_class = "pack_error"


def verdict(passed: bool, reason: str = "", **details: Any) -> Outcome:
    """All or nothing; the reason is for the failure."""
    return Outcome(passed, float(passed), "" if passed else reason, details)


def graded(score: float, threshold: float, reason: str, **details: Any) -> Outcome:
    """A score that passes from a threshold on, which is kept within [0, 1]."""
    limit = min(1.0, max(0.0, threshold))
    passed = score >= limit
    return Outcome(passed, score, "" if passed else reason, {"score": score, "threshold": limit, **details})
