"""Runs in numbers, and verdicts on them: without a server, a clock or a store."""

import json
from pathlib import Path
from random import Random
from statistics import fmean
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import CannotStart
from arena.evals.junit import gate_xml, runs_xml
from arena.evals.measures import difference, mean, measure, more_repetitions, pass_at_k, pass_hat_k
from arena.evals.runs import Case, Home, PackRef, Run, Trial
from arena.evals.verdicts import Rules, Verdict, judge
from arena.models import Millis

PACK = PackRef(slug="quiz", version=1, content_hash="sha256:0", input_set="d")


def run(*trials: dict[str, float], agent: str = "ada", pack: PackRef = PACK, errors: int = 0) -> Run:
    """A run with a score per repetition and case; a case has passed from 0.5 on."""
    made = [
        Trial(
            session=f"s{number}",
            overall=fmean(scores.values()),
            passed=all(score >= 0.5 for score in scores.values()),
            cases={case: Case(score=score, passed=score >= 0.5) for case, score in scores.items()},
            dimensions={"correctness": fmean(scores.values())},
            cost_usd=0.5,
            latency_ms=1000,
        )
        for number, scores in enumerate(trials)
    ]
    made += [Trial(error="the server went away")] * errors
    return Run(id="r1", created_at=Millis(1), pack=pack, agent=agent, trials=made)


def flat(score: float, repetitions: int = 3, cases: int = 4, scatter: float = 0.0) -> Run:
    """A run around a score, with the same scatter up and down in every case."""
    steps = [scatter * (2 * n / (repetitions - 1) - 1) if repetitions > 1 else 0.0 for n in range(repetitions)]
    return run(*({f"k{case}": score + step for case in range(cases)} for step in steps))


# Numbers


def test_pass_at_k_and_pass_hat_k_are_the_shares_of_all_ways_to_choose() -> None:
    assert [pass_at_k(4, 2, k) for k in (1, 2, 3, 4)] == pytest.approx([1 / 2, 5 / 6, 1, 1])
    assert [pass_hat_k(4, 2, k) for k in (1, 2, 3, 4)] == pytest.approx([1 / 2, 1 / 6, 0, 0])
    assert pass_at_k(3, 0, 2) == 0 == pass_hat_k(3, 0, 1)
    assert pass_at_k(3, 3, 3) == 1 == pass_hat_k(3, 3, 3)


@given(st.integers(1, 12), st.data())
def test_pass_at_k_grows_with_k_and_pass_hat_k_falls(trials: int, data: st.DataObject) -> None:
    passes = data.draw(st.integers(0, trials))
    at = [pass_at_k(trials, passes, k) for k in range(1, trials + 1)]
    hat = [pass_hat_k(trials, passes, k) for k in range(1, trials + 1)]

    assert at == sorted(at)
    assert hat == sorted(hat, reverse=True)
    assert at[0] == pytest.approx(hat[0]) == pytest.approx(passes / trials)


def test_the_scatter_between_cases_does_not_widen_an_interval() -> None:
    steady = mean({"easy": [1.0, 1.0, 1.0], "hard": [0.0, 0.0, 0.0]})
    shaky = mean({"easy": [1.0, 0.9, 0.8], "hard": [0.2, 0.1, 0.0]})

    assert steady.value == 0.5
    assert steady.interval == (0.5, 0.5)
    assert shaky.interval is not None
    assert shaky.interval.low < 0.5 < shaky.interval.high


def test_one_repetition_says_nothing_of_the_scatter() -> None:
    assert mean({"a": [0.4]}).interval is None
    assert difference({"a": [0.4, 0.5]}, {"a": [0.4]}).interval is None


def test_the_interval_of_a_difference_is_that_of_welch() -> None:
    ours, theirs = [0.9, 0.7, 0.8, 0.6], [0.5, 0.6, 0.55]

    found = difference({"a": ours}, {"a": theirs})

    stats = pytest.importorskip("scipy.stats")
    low, high = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.95)
    assert found.value == pytest.approx(fmean(ours) - fmean(theirs))
    assert found.interval is not None
    assert found.interval.low <= low + 1e-9
    assert found.interval.high >= high - 1e-9
    assert found.interval.high - found.interval.low < 1.3 * (high - low)


def test_intervals_of_differences_hold_as_often_as_they_say() -> None:
    rng, held = Random(7), 0
    means = [0.2, 0.5, 0.7, 0.9]
    for _ in range(400):
        ours, theirs = (
            {str(n): [centre + rng.gauss(0, 0.1) for _ in range(4)] for n, centre in enumerate(means)} for _ in "ab"
        )
        interval = difference(ours, theirs).interval
        assert interval is not None
        held += interval.low <= 0 <= interval.high

    assert 0.92 <= held / 400 <= 0.99


def test_a_run_is_measured_over_its_valid_repetitions() -> None:
    found = measure(run({"a": 1, "b": 0}, {"a": 1, "b": 1}, errors=1))

    assert found is not None
    assert (found.repetitions, found.errors, found.score.value, found.pass_rate.value) == (2, 1, 0.75, 0.75)
    assert found.pass_at == {1: 0.75, 2: 1.0}
    assert found.pass_hat == {1: 0.75, 2: 0.5}
    assert (found.cost_usd, found.latency_ms, found.tokens) == (0.5, 1000, None)
    assert measure(run(errors=2)) is None


# Verdicts


@pytest.mark.parametrize(
    ("baseline", "candidate", "verdict"),
    [
        (flat(0.8), flat(0.8), Verdict.PASS),
        (flat(0.8), flat(0.9), Verdict.PASS),
        (flat(0.8), flat(0.79), Verdict.PASS),  # within the margin
        (flat(0.8, scatter=0.01), flat(0.7, scatter=0.01), Verdict.FAIL),
        (flat(0.8, scatter=0.15), flat(0.75, scatter=0.15), Verdict.WARN),
        (flat(0.8, scatter=0.15), flat(0.8, scatter=0.15), Verdict.INSUFFICIENT),
        (flat(0.8, 2), flat(0.8, 2), Verdict.INSUFFICIENT),
        (flat(0.8, 1), flat(0.8, 1), Verdict.INSUFFICIENT),
        (flat(0.8), flat(0.2), Verdict.FAIL),
        (flat(0.8, 2), flat(0.2, 2), Verdict.FAIL),  # bad enough to be known even so
    ],
)
def test_a_gate_says_what_is_known_and_no_more(baseline: Run, candidate: Run, verdict: Verdict) -> None:
    assert judge(baseline, candidate).verdict is verdict


def test_exit_codes_are_those_of_the_contract() -> None:
    assert {each.name: int(each) for each in Verdict} == {"PASS": 0, "FAIL": 1, "WARN": 2, "INSUFFICIENT": 3}


def test_runs_of_different_packs_are_not_compared_in_earnest() -> None:
    other = flat(0.8).model_copy(update={"pack": PACK.model_copy(update={"content_hash": "sha256:1"})})
    fewer = run(*[{"k0": 0.8}] * 3)

    assert judge(flat(0.8), other).verdict is Verdict.INSUFFICIENT
    assert judge(flat(0.8), fewer).verdict is Verdict.INSUFFICIENT
    assert judge(flat(0.8), run(errors=3)).verdict is Verdict.INSUFFICIENT
    assert judge(run(errors=3), flat(0.8)).verdict is Verdict.INSUFFICIENT


def test_repetitions_that_came_to_nothing_are_a_warning() -> None:
    candidate = flat(0.8)
    candidate.trials.append(Trial(error="gone"))

    assert judge(flat(0.8), candidate).verdict is Verdict.WARN


def test_floors_and_ratios_are_asked_for_and_then_hold() -> None:
    same = (flat(0.8), flat(0.8))

    assert judge(*same, Rules(min_score=0.9)).verdict is Verdict.FAIL
    assert (
        judge(*same, Rules(min_score=0.8, min_pass_rate=1, max_cost_ratio=1, max_latency_ratio=1)).verdict
        is Verdict.PASS
    )
    assert judge(*same, Rules(max_cost_ratio=0.9)).verdict is Verdict.FAIL
    dearer = flat(0.8)
    for trial in dearer.trials:
        trial.cost_usd = None
    assert judge(flat(0.8), dearer, Rules(max_cost_ratio=2)).verdict is Verdict.INSUFFICIENT


def test_cases_that_broke_are_named() -> None:
    before = run(*[{"a": 1.0, "b": 1.0, "c": 0.0}] * 3)
    now = run(*[{"a": 1.0, "b": 0.0, "c": 0.0}] * 3)

    assert judge(before, now).broken == ["b"]


def test_a_gate_that_cannot_tell_says_how_many_repetitions_would_do() -> None:
    found = judge(flat(0.8, scatter=0.15), flat(0.8, scatter=0.15))

    [check] = [each for each in found.checks if each.name == "score"]
    wanted = int(check.reason.rpartition("about ")[2].split()[0])
    assert wanted > 3
    assert more_repetitions(3, 0.2, 0.1) == 12
    assert more_repetitions(3, 0.2, 0) == 4


# Files


def test_runs_and_baselines_are_kept_and_found_again(tmp_path: Path) -> None:
    home, made = Home(tmp_path), flat(0.5)

    path = home.keep(made)
    home.set_baseline("main", made)

    assert home.run("r1") == home.run(str(path)) == home.run("latest") == made
    assert home.baseline("main") == made
    assert [name for name, _ in home.baselines()] == ["main"]
    assert (home.clear_baseline("main"), home.clear_baseline("main")) == (True, False)
    assert home.baseline("main") is None


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "x" * 200])
def test_names_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    with pytest.raises(CannotStart):
        Home(tmp_path).set_baseline(name, flat(0.5))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema_version": 9, "id": "x"}'])
def test_a_file_that_is_no_run_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)

    with pytest.raises(CannotStart, match=r"run\.json"):
        Home(tmp_path).run(str(path))


# JUnit


def test_a_run_is_a_suite_in_which_cases_fail_that_did_not_always_pass() -> None:
    made = run({"a": 1, "b": 0.2}, {"a": 1, "b": 1}, errors=1, agent="ada \x1b[31m <b>")
    made.trials[0].cases["b"].reason = "wrong \x00 answer"

    root = ElementTree.fromstring(runs_xml([made]))

    [suite] = root
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "3", "failures": "1", "errors": "1",
    }  # fmt: skip
    [failure] = suite.findall("testcase/failure")
    assert failure.get("message") == "passed 1 of 2, mean score 0.600"
    assert failure.text == "wrong \ufffd answer"


def test_a_gate_is_a_suite_with_a_test_per_check() -> None:
    gate = judge(flat(0.8, 2), flat(0.2, 2))

    suite = ElementTree.fromstring(gate_xml(gate))[0]

    counts = {name: int(suite.get(name) or 0) for name in ("tests", "failures", "skipped")}
    assert counts["tests"] == len(gate.checks) + len(gate.broken)
    assert counts["failures"] == sum(check.verdict is Verdict.FAIL for check in gate.checks) > 0
    assert counts["skipped"] == sum(check.verdict is Verdict.INSUFFICIENT for check in gate.checks) > 0


def test_a_run_file_is_plain_json(tmp_path: Path) -> None:
    told = json.loads(Home(tmp_path).keep(flat(0.5)).read_text())

    assert told["pack"] == {"slug": "quiz", "version": 1, "content_hash": "sha256:0", "input_set": "d"}
    assert told["trials"][0]["cases"]["k0"] == {"score": 0.5, "passed": True, "dimensions": {}}
