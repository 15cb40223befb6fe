"""Runs and gates for people and for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from arena.evals.measures import Estimate, Measures, difference, measure, passes, scores
from arena.evals.runs import Run
from arena.evals.verdicts import Gate
from arena.statistics import CONFIDENCE
from arena.terminal import harmless


def run_lines(run: Run) -> Iterator[str]:
    """A run: what it comes to, and its cases."""
    found = measure(run)
    yield f"{_name(run)}  {run.pack.slug} version {run.pack.version}  run {run.id}"
    if found is not None:
        yield from (f"  {line}" for line in _measure_lines(found))
        width = max((len(harmless(case)) for case in run.keys), default=0)
        for case in run.keys:
            values, marks = run.scores(case), "".join("+" if passed else "-" for passed in run.passes(case))
            yield f"  {harmless(case):<{width}}  {sum(values) / len(values):.3f}  {marks}"
    for number, trial in enumerate(run.trials, 1):
        if trial.error is not None:
            yield f"  repetition {number} came to nothing: {harmless(trial.error, 300)}"


def _measure_lines(found: Measures) -> Iterator[str]:
    yield f"score     {_shown(found.score)}  over {found.repetitions} repetitions"
    yield f"pass rate {_shown(found.pass_rate)}"
    most = max(found.pass_at)
    if most > 1:
        yield f"pass@{most} {found.pass_at[most]:.3f}  pass^{most} {found.pass_hat[most]:.3f}"
    for key, value in found.dimensions.items():
        yield f"dimension {harmless(key)}: {value:.3f}"
    for name, number, unit in (
        ("cost", found.cost_usd, "USD"),
        ("latency", found.latency_ms, "ms"),
        ("tokens", found.tokens, ""),
    ):
        if number is not None:
            yield f"{name} {number:.6g} {unit} a repetition".replace("  ", " ")


def compare_lines(runs: Sequence[Run], confidence: float = CONFIDENCE) -> Iterator[str]:
    """Runs beside each other, and how far they are from the first."""
    for run in runs:
        found = measure(run, confidence)
        told = "nothing" if found is None else f"score {_shown(found.score)}  pass rate {_shown(found.pass_rate)}"
        yield f"{_name(run)}: {told}"
    for run, apart in zip(runs[1:], differences(runs, confidence), strict=True):
        if apart is not None:
            yield f"{_name(run)} against {_name(runs[0])}: score {_signed(apart[0])}  pass rate {_signed(apart[1])}"
    cases = list(dict.fromkeys(case for run in runs for case in run.keys))
    width = max((len(harmless(case)) for case in cases), default=0)
    for case in cases:
        cells = [f"{sum(values) / len(values):.3f}" if (values := run.scores(case)) else "  -  " for run in runs]
        yield f"  {harmless(case):<{width}}  {'  '.join(cells)}"


def differences(runs: Sequence[Run], confidence: float) -> list[tuple[Estimate, Estimate] | None]:
    """How much better than the first each other run is, on the cases that both have."""
    found: list[tuple[Estimate, Estimate] | None] = []
    for run in runs[1:]:
        common = [case for case in runs[0].keys if case in run.keys]
        found.append(
            (
                difference(scores(run, common), scores(runs[0], common), confidence),
                difference(passes(run, common), passes(runs[0], common), confidence),
            )
            if common
            else None
        )
    return found


def gate_lines(gate: Gate) -> Iterator[str]:
    """What a gate says, and why."""
    for check in gate.checks:
        yield f"{check.verdict.name.lower():<12} {check.name}: {harmless(check.reason)}"
    for case in gate.broken:
        yield f"{'':<12} {harmless(case)} always passed before, and never does now"
    yield f"verdict: {gate.verdict.name.lower()}"


def _name(run: Run) -> str:
    return harmless(run.agent)


def _shown(found: Estimate) -> str:
    return f"{found.value:.3f}" + (f" [{found.interval.low:.3f}, {found.interval.high:.3f}]" if found.interval else "")


def _signed(found: Estimate) -> str:
    held = found.interval
    return f"{found.value:+.3f}" + (f" [{held.low:+.3f}, {held.high:+.3f}]" if held else "")


# For programs


def estimate_json(found: Estimate | None) -> Any:
    """A number with its interval."""
    return None if found is None else {"value": found.value, "interval": found.interval and list(found.interval)}


def run_json(run: Run, confidence: float = CONFIDENCE) -> dict[str, Any]:
    """A run with its measures."""
    found = measure(run, confidence)
    if found is None:
        return {**run.model_dump(mode="json", exclude_none=True), "measures": None}
    told = {**found._asdict(), "score": estimate_json(found.score), "pass_rate": estimate_json(found.pass_rate)}
    return {**run.model_dump(mode="json", exclude_none=True), "measures": told}


def gate_json(gate: Gate) -> dict[str, Any]:
    """A gate with its checks."""
    checks = [
        {**check._asdict(), "verdict": check.verdict.name.lower(), "estimate": estimate_json(check.estimate)}
        for check in gate.checks
    ]
    return {
        "verdict": gate.verdict.name.lower(),
        "exit_code": int(gate.verdict),
        "checks": checks,
        "broken_cases": gate.broken,
    }
