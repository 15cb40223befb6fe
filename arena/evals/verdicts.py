"""Verdicts: whether a candidate may take a baseline's place. Pure.

Each check asks whether the candidate is worse than the baseline by more than a margin. If the whole interval of the
difference lies on one side of that, the answer is known. If not, it is a warning where the candidate looks worse, and
insufficient evidence where it looks fine.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from arena.evals.measures import Estimate, Measures, Samples, difference, measure, more_repetitions, passes, scores
from arena.evals.runs import Run
from arena.statistics import CONFIDENCE


class Verdict(IntEnum):
    """What a gate says, as its exit code."""

    PASS = 0
    FAIL = 1
    WARN = 2
    INSUFFICIENT = 3


SEVERITY = (Verdict.FAIL, Verdict.WARN, Verdict.INSUFFICIENT, Verdict.PASS)  # the first that a check has is the gate's


class Rules(NamedTuple):
    """What is asked of a candidate."""

    margin: float = 0.02  # by how much its score may be worse
    pass_margin: float = 0.05  # by how much its pass rate may be
    confidence: float = CONFIDENCE
    repetitions: int = 3  # that both need at least
    min_score: float | None = None
    min_pass_rate: float | None = None
    max_cost_ratio: float | None = None
    max_latency_ratio: float | None = None


RULES = Rules()


class Check(NamedTuple):
    """One question and its answer."""

    name: str
    verdict: Verdict
    reason: str
    estimate: Estimate | None = None
    margin: float | None = None


class Gate(NamedTuple):
    """All checks, and what they come to."""

    verdict: Verdict
    checks: list[Check]
    broken: list[str]  # cases that always passed before and never do now


def judge(baseline: Run, candidate: Run, rules: Rules = RULES) -> Gate:
    """Whether a candidate may take the place of a baseline."""
    checks = list(_checks(baseline, candidate, rules))
    found = {check.verdict for check in checks}
    return Gate(next(each for each in SEVERITY if each in found), checks, broken_cases(baseline, candidate))


def broken_cases(baseline: Run, candidate: Run) -> list[str]:
    """Cases that the baseline always passed and the candidate never."""
    before, now = passes(baseline), passes(candidate)
    return [case for case, values in before.items() if all(values) and case in now and not any(now[case])]


def _checks(baseline: Run, candidate: Run, rules: Rules) -> Iterator[Check]:
    before, now = measure(baseline, rules.confidence), measure(candidate, rules.confidence)
    if before is None or now is None:
        which = "baseline" if before is None else "candidate"
        yield Check("evidence", Verdict.INSUFFICIENT, f"No repetition of the {which} came to anything.")
        return
    yield _same_pack(baseline, candidate)
    yield _enough(before, now, rules)
    common = [case for case in baseline.keys if case in candidate.keys]
    if not common:
        return
    yield compared("score", scores(candidate, common), scores(baseline, common), rules.margin, rules)
    yield compared("pass rate", passes(candidate, common), passes(baseline, common), rules.pass_margin, rules)
    yield from _floors(now, rules)
    yield from _ratios(before, now, rules)


def _same_pack(baseline: Run, candidate: Run) -> Check:
    one, other = baseline.pack, candidate.pack
    if (one.content_hash, one.input_set) != (other.content_hash, other.input_set):
        told = [f"{each.slug} version {each.version} {each.input_set or ''}".strip() for each in (one, other)]
        return Check("pack", Verdict.INSUFFICIENT, f"They played different packs: {told[0]} and {told[1]}.")
    if set(baseline.keys) != set(candidate.keys):
        return Check("pack", Verdict.INSUFFICIENT, "They did not play the same cases.")
    return Check("pack", Verdict.PASS, f"Both played {one.slug} version {one.version}.")


def _enough(before: Measures, now: Measures, rules: Rules) -> Check:
    fewest = min(before.repetitions, now.repetitions)
    told = f"{before.repetitions} repetitions of the baseline, {now.repetitions} of the candidate"
    if fewest < rules.repetitions:
        return Check("repetitions", Verdict.INSUFFICIENT, f"{told}; {rules.repetitions} are needed.")
    if now.errors:
        return Check("repetitions", Verdict.WARN, f"{told}; {now.errors} of the candidate came to nothing.")
    return Check("repetitions", Verdict.PASS, f"{told}.")


def compared(name: str, ours: Samples, theirs: Samples, margin: float, rules: Rules) -> Check:
    """Whether a number is worse than it may be."""
    found = difference(ours, theirs, rules.confidence)
    told = f"{found.value:+.3f}"
    if found.interval is None:
        return Check(name, Verdict.INSUFFICIENT, f"{told}, with nothing known of the scatter.", found, margin)
    told = f"{told} [{found.interval.low:+.3f}, {found.interval.high:+.3f}], {-margin:+.3f} allowed"
    if found.interval.low >= -margin:
        return Check(name, Verdict.PASS, f"{told}: not worse.", found, margin)
    if found.interval.high < -margin:
        return Check(name, Verdict.FAIL, f"{told}: worse.", found, margin)
    if found.value < -margin:
        return Check(name, Verdict.WARN, f"{told}: looks worse, but may not be.", found, margin)
    fewest = min(len(values) for side in (ours, theirs) for values in side.values())
    wanted = more_repetitions(fewest, found.value - found.interval.low, found.value + margin)
    told = f"{told}: looks fine, but cannot be told; about {wanted} repetitions would do."
    return Check(name, Verdict.INSUFFICIENT, told, found, margin)


def _floors(now: Measures, rules: Rules) -> Iterator[Check]:
    for name, found, floor in (
        ("least score", now.score, rules.min_score),
        ("least pass rate", now.pass_rate, rules.min_pass_rate),
    ):
        if floor is not None:
            fine = found.value >= floor
            told = f"{found.value:.3f}, {floor:.3f} wanted."
            yield Check(name, Verdict.PASS if fine else Verdict.FAIL, told, found)


def _ratios(before: Measures, now: Measures, rules: Rules) -> Iterator[Check]:
    for name, one, other, most in (
        ("cost", before.cost_usd, now.cost_usd, rules.max_cost_ratio),
        ("latency", before.latency_ms, now.latency_ms, rules.max_latency_ratio),
    ):
        if most is None:
            continue
        if one is None or other is None:
            yield Check(name, Verdict.INSUFFICIENT, "Not known of both.")
            continue
        ratio = other / one if one else (1.0 if not other else float("inf"))
        told = f"{ratio:.2f} times that of the baseline, {most:.2f} allowed."
        yield Check(name, Verdict.PASS if ratio <= most else Verdict.FAIL, told)
