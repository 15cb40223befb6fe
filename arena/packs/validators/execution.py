"""Code that was run against its tests."""

from typing import Any

from arena.packs.evidence import Execution
from arena.packs.text import is_blank
from arena.packs.validators.configs import ExecutionConfig
from arena.packs.validators.outcome import Fault, Outcome, PackFault
from arena.packs.validators.texts import read_config


class Undecided(Exception):
    """An execution that says nothing either way."""

    def __init__(self, details: dict[str, Any]) -> None:
        super().__init__("code execution result is unavailable")
        self.details = details


class InfraFault(Fault):
    """The sandbox failed, not the code in it."""

    outcome_class = "infra_error"


def code_execution(execution: Execution, raw: Any) -> Outcome:
    """Score what the test command said, by its counts or by its exit code."""
    config = read_config(ExecutionConfig, raw, "code_execution")
    scoring = config.scoring or "fraction_passed"
    details = {"scoring": scoring, "pass_threshold": config.pass_threshold, **_seen(execution)}
    if not is_blank(execution.execution_error):
        kind = PackFault if scoring == "pass_at_k" else InfraFault
        raise kind(execution.execution_error, details)
    score, reason = _scored(execution, scoring, details)
    return Outcome(score >= config.pass_threshold, score, reason, details)


def _seen(execution: Execution) -> dict[str, Any]:
    hidden = {"validator_key", "target", "origin"}
    return {name: value for name, value in execution._asdict().items() if name not in hidden}


def _scored(execution: Execution, scoring: str, details: dict[str, Any]) -> tuple[float, str]:
    if execution.timed_out:
        return 0.0, "test command timed out"
    if scoring == "pass_at_k":
        raise PassAtK("pass_at_k needs several samples of a run and is not supported", details)
    total = _total(execution)
    if total > 0 and scoring == "fraction_passed" and execution.passed_tests is not None:
        return execution.passed_tests / total, _told(execution, total)
    if total > 0 and scoring == "all_or_nothing":
        return float(not execution.failed_tests and not execution.error_tests), _told(execution, total)
    if execution.exit_code is None:
        raise Undecided(details)
    return float(execution.exit_code == 0), f"test command exited with code {execution.exit_code}"


class PassAtK(PackFault):
    """A scoring that one run alone cannot have."""


def _total(execution: Execution) -> int:
    counts = (execution.passed_tests, execution.failed_tests, execution.error_tests)
    known = sum(count for count in counts if count is not None)
    return execution.total_tests if execution.total_tests is not None and execution.total_tests > 0 else known


def _told(execution: Execution, total: int) -> str:
    counts = (("passed", execution.passed_tests), ("failed", execution.failed_tests), ("errors", execution.error_tests))
    return ", ".join(f"{count} {name}" for name, count in counts if count is not None) + f" ({total} total)"
