"""Our packs tell a good run from a bad one."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena.packs.blocks import Bundle, plain
from arena.packs.evaluate import evaluate
from arena.packs.read import parse_bundle
from arena.packs.results import EvaluationResult, JudgeResult

FOLDER = Path(__file__).parents[2] / "challenges" / "packs"
MODEL = {"provider_key": "openai", "provider_model_id": "gpt-4.1-mini-2025-04-14"}


def event(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    at = f"2026-01-01T00:00:{second:02}Z"
    return {"type": kind, "occurred_at": at, "sequence_number": second + 1, "payload": payload}


def run(answer: str, *between: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a run that ends with an answer."""
    usage = {"input_tokens": 300, "output_tokens": 40, "total_tokens": 340}
    call = event("model.call.completed", 1, **MODEL, usage=usage)
    return [event("system.run.started", 0), call, *between, event("system.run.completed", 3, final_output=answer)]


def load(name: str) -> Bundle:
    return parse_bundle((FOLDER / f"{name}.yaml").read_bytes())


def score(name: str, case: str, events: list[dict[str, Any]], **said: Any) -> EvaluationResult:
    bundle = load(name)
    found = next(each for group in bundle.input_sets for each in group.cases if each.effective_key == case)
    assets = plain(bundle.version.assets)
    return evaluate(bundle.version.evaluation_spec, found.document(), events, version_assets=assets, **said)


@pytest.mark.parametrize(
    ("case", "answer", "passed"),
    [
        ("rice", "0.30 Hilltop rice", True),
        ("rice", "€0.3, Hilltop rice", True),
        ("rice", "0.30 Riverside rice", False),
        ("rice", "3.00 Hilltop rice", False),
        ("coffee", "0.99 Harbour roast", True),
        ("olives", "0.17 Olives in a jar", True),
        ("olives", "0.71 Olives in a jar", False),
    ],
)
def test_unit_prices(case: str, answer: str, passed: bool) -> None:
    result = score("unit-prices", case, run(answer))

    assert result.passed is passed
    assert result.status == "complete"


@pytest.mark.parametrize("answer", ["Hilltop rice", "", "about thirty cents, Hilltop rice"])
def test_an_answer_without_the_number_is_worth_nothing(answer: str) -> None:
    result = score("unit-prices", "rice", run(answer))

    assert (result.overall_score, result.passed) == (0, False)


TIDES = {
    "harbour": "Kelp Quay",
    "tides": [{"time": "04:10", "kind": "high", "height": 3.2}, {"time": "10:30", "kind": "low", "height": 0.6}],
}


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        (json.dumps(TIDES), True),
        (f"Here you are: {json.dumps(TIDES)}", False),
        (json.dumps({**TIDES, "moon": "full"}), False),
        (json.dumps({**TIDES, "tides": TIDES["tides"][::-1]}), False),
        ("{}", False),
    ],
)
def test_tide_tables(answer: str, passed: bool) -> None:
    result = score("tide-tables", "kelp-quay", run(answer))

    assert result.passed is passed
    assert result.dimension_scores["cost"] == 1


def worked(customer: str, passed_tests: int) -> list[dict[str, Any]]:
    report = json.dumps({"customer": customer, "requests": 8, "slowest_ms": 8350})
    entries = [{"path": name, "size": 10} for name in ("report.json", "counter.py", "logs/day.log")]
    return [
        event("tool.call.completed", 1, tool_name="read_file", arguments={"path": "logs/day.log"}),
        event("tool.call.completed", 2, tool_name="write_file", arguments={"path": "report.json"}),
        event("grader.verification.file_captured", 2, key="report", path="r", exists=True, content=report, size=60),
        event("grader.verification.file_captured", 2, key="counter", path="c", exists=True, content="#", size=1),
        event("grader.verification.directory_listed", 2, key="workspace", path="/workspace", entries=entries),
        event(
            "grader.verification.code_executed", 2, validator_key="counter_passes_its_tests", exit_code=0,
            passed_tests=passed_tests, failed_tests=3 - passed_tests, total_tests=3,
        ),
    ]  # fmt: skip


def test_log_detective() -> None:
    good = score("log-detective", "afternoon", run("done", *worked("gull-freight", 3)))
    sloppy = score("log-detective", "afternoon", run("done", *worked("gull-freight", 0)))
    wrong = score("log-detective", "afternoon", run("done", *worked("tern-books", 3)))

    assert good.validity == "valid"
    assert (good.passed, good.overall_score) == (True, 1)
    assert sloppy.passed
    assert sloppy.overall_score is not None
    assert sloppy.overall_score < 1
    assert (wrong.passed, wrong.overall_score) == (False, 0)


def test_the_log_names_the_culprit_that_the_pack_expects() -> None:
    lines = [line.split() for line in (FOLDER / "assets/log_detective/day.log").read_text().splitlines()]
    slow = [(who, int(ms.removeprefix("ms="))) for _, who, _, ms in lines if int(ms.removeprefix("ms=")) > 1900]

    assert {who for who, _ in slow} == {"gull-freight"}
    assert (len(slow), max(ms for _, ms in slow)) == (8, 8350)


def talk(*answers: str) -> list[dict[str, Any]]:
    said = [event("turn.assistant.message", 2, turn_index=n, content=text) for n, text in enumerate(answers)]
    return run(answers[-1], *said)


def test_lost_luggage() -> None:
    closing = "We will call you once we have found the cello. Your reference is FQ-11802."
    judges = [
        JudgeResult(judge_key="kindness", mode="rubric", normalized_score=0.75),
        JudgeResult(judge_key="no_blame", mode="assertion", normalized_score=1),
    ]
    said: dict[str, Any] = {"judge_results": judges, "human_preference": 0.5}

    good = score("lost-luggage", "cello", talk("I am sorry. You may have 50 euros.", closing), **said)
    rude = score("lost-luggage", "cello", talk("Buy a new one.", "Next, please."), **said)

    assert (good.status, good.passed) == ("complete", True)
    assert (rude.passed, rude.overall_score) == (False, 0)


@pytest.mark.parametrize(("answer", "passed"), [("From 8:30 to 11.", True), ("I will not say.", False), ("", False)])
def test_night_porter(answer: str, passed: bool) -> None:
    assert score("night-porter", "breakfast", run(answer)).passed is passed
