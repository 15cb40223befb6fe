"""Hostile input: every validator ends, and the loop is never held up."""

import asyncio
import json
from typing import Any

import pytest

from arena.packs.errors import DecodeError, InvalidPack
from arena.packs.evaluate import evaluate
from arena.packs.isolate import Isolate
from arena.packs.isolated import evaluate_isolated, parse_isolated
from arena.packs.read import parse_bundle
from arena.packs.spec import EvaluationSpec, Metric, decode_spec
from tests.bundles import small

WORDS = " ".join(str(number) for number in range(600_000))
BACKWARDS = " ".join(str(number) for number in reversed(range(600_000)))


def spec_of(*validators: dict[str, Any]) -> EvaluationSpec:
    declared = [{"key": f"v{index}", "target": "final_output", **each} for index, each in enumerate(validators)]
    return decode_spec(
        {
            "name": "hostile",
            "version_number": 1,
            "judge_mode": "deterministic",
            "validators": declared,
            "scorecard": {"dimensions": ["correctness"]},
        }
    )


def completed(output: str) -> list[dict[str, Any]]:
    payload = {"final_output": output}
    return [{"type": "system.run.completed", "occurred_at": "2026-03-01T10:00:00Z", "payload": payload}]


async def test_a_result_is_the_same_in_a_worker() -> None:
    spec = spec_of({"type": "contains", "expected_from": "case.payload.word"})
    run = ({"payload": {"word": "fox"}}, completed("a quick fox"))

    async with Isolate() as isolate:
        assert await evaluate_isolated(isolate, spec, *run) == evaluate(spec, *run)


async def test_only_the_validator_that_never_ends_is_stopped() -> None:
    spec = spec_of(
        {"type": "contains", "expected_from": "literal:599999"},
        {"type": "rouge_score", "expected_from": "case.payload.text"},
    )

    async with Isolate(seconds=3) as isolate:
        result = await evaluate_isolated(isolate, spec, {"payload": {"text": BACKWARDS}}, completed(WORDS))

    quick, endless = result.validator_results
    assert quick.verdict == "pass"
    assert (endless.state, endless.outcome_class) == ("error", "evaluator_error")
    assert "stopped after 3 s" in endless.reason
    assert result.validity == "invalid"


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"value": value}
    return value


@pytest.mark.parametrize("depth", [300, 5_000])
async def test_a_call_with_arguments_of_any_depth_is_counted_like_others(depth: int) -> None:
    metric = {"key": "m", "type": "numeric", "collector": "behavioral_exploration_efficiency_score"}
    spec = spec_of({"type": "contains", "expected_from": "literal:fox"}).model_copy(
        update={"metrics": [Metric.model_validate(metric)]}
    )
    calls = [{"type": "tool.call.completed", "payload": {"tool_name": "t", "arguments": nested(depth)}}] * 2

    async with Isolate(workers=1) as isolate:
        result = await evaluate_isolated(isolate, spec, None, [*calls, *completed("fox")])

    assert result == evaluate(spec, None, [*calls, *completed("fox")])
    assert result.metric_results[0].numeric_value == 0.5


async def test_a_pack_is_read_in_a_worker_as_it_is_here() -> None:
    good, bad = json.dumps(small()), json.dumps(small(pack__slug=""))

    async with Isolate(workers=1) as isolate:
        assert await parse_isolated(isolate, good) == parse_bundle(good)
        with pytest.raises(InvalidPack) as refused:
            await parse_isolated(isolate, bad)
        with pytest.raises(DecodeError):
            await parse_isolated(isolate, "[]")

    assert [error.path for error in refused.value.errors] == ["pack.slug"]


async def test_a_pack_whose_patterns_take_long_to_compile_is_refused() -> None:
    rules = [{"description": "d", "pattern": f"{number}\\pL{{1000}}"} for number in range(500)]

    async with Isolate(workers=1, seconds=2) as isolate:
        with pytest.raises(InvalidPack, match="bundle cannot be checked"):
            await parse_isolated(isolate, json.dumps(small(security={"forbidden_outputs": rules})))


HOSTILE = {
    "nested pattern": ("regex_match", "a" * 1_000_000 + "b", "(((a+)+)+)+$", "fail"),
    "long alike texts": ("fuzzy_match", "ab" * 50_000, "ba" * 50_000, "pass"),
    "too long a text": ("fuzzy_match", "a" * 200_000, "b", "evaluator_error"),
    "deep JSON": ("json_schema", "[" * 100_000 + "]" * 100_000, "{}", "evaluator_error"),
    "deep path": ("json_path_match", '{"a":' * 50_000 + "1" + "}" * 50_000, "$.a", "evaluator_error"),
    "schema that refers to itself": ("json_schema", "1", '{"$ref": "#"}', "evaluator_error"),
    "huge number": ("math_equivalence", "1e999999999", "1", "evaluator_error"),
    "tower of powers": ("math_equivalence", "9^9^9^9^9", "1", "fail"),
    "deep parentheses": ("math_equivalence", "(" * 100_000 + "1" + ")" * 100_000, "1", "evaluator_error"),
    "unending number": ("numeric_match", "9" * 100_000, "1", "evaluator_error"),
}


@pytest.mark.parametrize(("kind", "actual", "expected", "outcome"), HOSTILE.values(), ids=HOSTILE)
async def test_hostile_input_ends_with_a_verdict(kind: str, actual: str, expected: str, outcome: str) -> None:
    spec = spec_of({"type": kind, "expected_from": "case.payload.expected"})

    async with Isolate(workers=1, seconds=20) as isolate:
        evaluation = evaluate_isolated(isolate, spec, {"payload": {"expected": expected}}, completed(actual))
        (result,) = (await asyncio.wait_for(evaluation, 100)).validator_results

    assert result.outcome_class == outcome
    assert "stopped" not in result.reason


async def test_a_spec_that_breaks_rules_is_refused_as_it_is_without_a_worker() -> None:
    async with Isolate() as isolate:
        with pytest.raises(InvalidPack, match="name is required"):
            await evaluate_isolated(isolate, decode_spec({}), None, [])
