import math
from typing import Any

import pytest

from arena.packs.dimensions import higher_is_better, lower_is_better, preference
from arena.packs.errors import InvalidPack
from arena.packs.evaluate import checked_spec, evaluate, score
from arena.packs.events import collect_evidence
from arena.packs.evidence import Evidence, Usage, case_evidence
from arena.packs.metrics import COLLECTORS, elapsed_ms
from arena.packs.pricing import model_cost
from arena.packs.results import JudgeResult, ValidatorResult, bounded
from arena.packs.spec import EvaluationSpec, decode_spec
from arena.packs.spec.models import PricingModel

EXACT = {"key": "v", "type": "exact_match", "target": "final_output", "expected_from": "case.payload.answer"}


def spec_of(**parts: Any) -> EvaluationSpec:
    raw = {
        "name": "s",
        "version_number": 1,
        "judge_mode": "deterministic",
        "validators": [EXACT],
        "scorecard": {"dimensions": ["correctness"]},
        **parts,
    }
    return decode_spec(raw)


def completed(output: str, sequence: int = 3) -> list[dict[str, Any]]:
    done = {"type": "system.run.completed", "occurred_at": "2026-03-01T10:00:02Z", "payload": {"final_output": output}}
    call = {"type": "model.call.completed", "occurred_at": "2026-03-01T10:00:01Z", "sequence_number": sequence}
    return [call | {"payload": {"provider_key": "p", "model": "m"}}, done]


def test_a_right_answer_passes_with_all_its_evidence() -> None:
    result = evaluate(spec_of(), {"payload": {"answer": "42"}}, completed("42"))

    assert (result.status, result.validity, result.overall_score, result.passed) == ("complete", "valid", 1, True)
    (verdict,) = result.validator_results
    assert verdict.source is not None
    assert verdict.source.document() == {
        "kind": "model_call",
        "sequence": 3,
        "event_type": "model.call.completed",
        "field_path": "final_output",
    }
    assert verdict.raw_output["actual_value"] == "42"


def test_an_event_without_a_number_is_no_source() -> None:
    result = evaluate(spec_of(), {"payload": {"answer": "42"}}, completed("42", sequence=0))

    assert result.validator_results[0].source is None


def test_a_spec_that_breaks_rules_scores_nothing() -> None:
    with pytest.raises(InvalidPack) as refused:
        evaluate(spec_of(name="", validators=[]), None, [])

    assert {error.path for error in refused.value.errors} == {"evaluation_spec.name", "evaluation_spec.validators"}


def test_without_a_case_the_evidence_of_cases_is_unavailable() -> None:
    result = evaluate(spec_of(), None, completed("42"))

    assert result.validator_results[0].state == "unavailable"
    assert result.status == "partial"
    assert result.overall_score is None
    assert "challenge input evidence is unavailable" in result.warnings


def test_several_cases_in_scope_are_ambiguous() -> None:
    cases = [case_evidence({"payload": {"answer": answer}}) for answer in ("41", "42")]
    result = score(checked_spec(spec_of()), collect_evidence(completed("42"), cases))

    assert "ambiguous" in result.validator_results[0].reason


def test_judge_results_are_sorted_and_their_missing_scores_told() -> None:
    judges = [{"key": key, "mode": "rubric", "model": "gpt-4.1", "rubric": "r"} for key in ("b", "a")]
    dimension = {"key": "d", "source": "llm_judge", "judge_key": "b"}
    spec = spec_of(judge_mode="hybrid", llm_judges=judges, scorecard={"dimensions": [dimension]})
    results = [JudgeResult(judge_key="b", reason="no money left"), JudgeResult(judge_key="a", normalized_score=1)]

    result = evaluate(spec, {"payload": {}}, completed("x"), results)

    assert [judge.judge_key for judge in result.llm_judge_results] == ["a", "b"]
    assert result.warnings == ["no money left"]
    assert result.dimension_scores == {"d": None}


def test_human_preference_is_the_share_of_votes_won() -> None:
    dimension = {"key": "liked", "source": "human_preference"}
    spec = spec_of(scorecard={"dimensions": [dimension]})

    result = evaluate(spec, {"payload": {"answer": "x"}}, completed("x"), human_preference=preference(3, 4))

    assert result.overall_score == 0.75
    assert preference(0, 0) is None


def test_a_result_is_plain_json() -> None:
    document = evaluate(spec_of(), {"payload": {"answer": "42"}}, completed("42")).document()

    assert document["validator_results"][0]["verdict"] == "pass"


@pytest.mark.parametrize(("value", "score"), [(9, 1), (10, 1), (15, 0.5), (20, 0), (30, 0)])
def test_lower_is_better_between_target_and_worst(value: float, score: float) -> None:
    assert lower_is_better(value, 10, 20) == score
    assert higher_is_better(30 - value, 20, 10) == score


@pytest.mark.parametrize("rule", [lower_is_better, higher_is_better])
def test_a_scale_without_length_is_all_or_nothing(rule: Any) -> None:
    assert {rule(value, 5, 5) for value in (4, 5, 6)} == {0, 1}


PRICES = [
    PricingModel(
        provider_key="p", provider_model_id="m", input_cost_per_million_tokens=1, output_cost_per_million_tokens=2
    ),
    PricingModel(provider_key="p", provider_model_id="free"),
]


def test_a_snapshot_costs_what_its_model_costs() -> None:
    evidence = Evidence(usage={("p", "m-2025-04-14"): Usage(1_000_000, 500_000)})

    assert model_cost(PRICES, evidence).usd == 2


def test_one_model_without_a_price_makes_the_cost_unknown() -> None:
    evidence = Evidence(usage={("p", "free"): Usage(5, 5), ("q", "m"): Usage(1, 1)})

    cost = model_cost(PRICES, evidence)
    assert cost.usd is None
    assert "q/m" in cost.reason


@pytest.mark.parametrize(
    ("start", "end", "took"), [(0, 1_999_999, 1), (1_999_999, 0, -1), (None, 5, None), (5, None, None)]
)
def test_durations_are_cut_to_whole_milliseconds(start: int | None, end: int | None, took: float | None) -> None:
    assert elapsed_ms(start, end) == took


def test_every_collector_of_the_contract_is_there() -> None:
    assert len(COLLECTORS) == 17


def test_evidence_that_is_not_finite_collapses_the_raw_output() -> None:
    numeric = {**EXACT, "type": "numeric_match", "expected_from": "literal:0"}
    (result,) = evaluate(spec_of(validators=[numeric]), {"payload": {}}, completed("1")).validator_results

    assert result.details["relative_difference"] == math.inf
    assert result.raw_output == {"outcome_class": "fail"}


def test_an_evidence_key_that_collides_gets_a_prefix() -> None:
    result = ValidatorResult(key="v", type="t", state="available", reason="why", details={"reason": "other", "n": 1})

    assert result.raw_output["reason"] == "why"
    assert result.raw_output["evidence_reason"] == "other"
    assert result.raw_output["n"] == 1


def test_kept_evidence_is_cut_to_size() -> None:
    deep: Any = "end"
    for _ in range(50):
        deep = [deep]

    kept = bounded({"long": "x" * 10_000, "many": list(range(1000)), "deep": deep})

    assert len(kept["long"]) < 2100
    assert len(kept["many"]) <= 200
    assert "end" not in str(kept["deep"])
