from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.packs.errors import DecodeError
from arena.packs.evaluate import checked_spec
from arena.packs.read import compose_text, decode_bundle
from arena.packs.spec import SpecDecodeError, decode_spec, normalise_spec, validate_spec
from tests.test_vectors import VECTORS

SPECS = [vector["input"]["spec"] for stem, vector in VECTORS if stem == "spec_validation"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def paths(raw: dict[str, Any]) -> list[str]:
    return [error.path for error in validate_spec(decode_spec(raw))]


def spec_with(**parts: Any) -> dict[str, Any]:
    return {
        "name": "s",
        "version_number": 1,
        "judge_mode": "deterministic",
        "validators": [{"key": "v", "type": "exact_match", "target": "final_output", "expected_from": "literal:x"}],
        "scorecard": {"dimensions": ["correctness"]},
        **parts,
    }


@pytest.mark.parametrize("raw", SPECS)
def test_normalising_twice_is_normalising_once(raw: dict[str, Any]) -> None:
    try:
        once = normalise_spec(decode_spec(raw))
    except DecodeError:
        return

    assert normalise_spec(once) == once
    assert normalise_spec(decode_spec(once.document())).document() == once.document()


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_no_value_in_any_place_breaks_the_reading_of_a_spec(data: st.DataObject) -> None:
    raw = data.draw(st.sampled_from(SPECS))
    broken = _with_one_replaced(raw, data)

    try:
        spec = decode_spec(broken)
    except DecodeError:
        return
    assert all(error.path.startswith("evaluation_spec") for error in validate_spec(spec))


def _with_one_replaced(value: Any, data: st.DataObject) -> Any:
    """The value with something else in one random place."""
    if not value or not isinstance(value, dict | list) or data.draw(st.integers(0, 3)) == 0:
        return data.draw(JSON)
    key = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
    changed = _with_one_replaced(value[key], data)
    return {**value, key: changed} if isinstance(value, dict) else [*value[:key], changed, *value[key + 1 :]]


def test_a_misspelt_key_is_told_with_its_place_and_the_key_that_was_meant() -> None:
    with pytest.raises(
        SpecDecodeError, match=r"scorecard.dimensions\[0\] has no key 'wieght'; did you mean 'weight'"
    ) as told:
        decode_spec({"scorecard": {"dimensions": [{"wieght": 1}]}})

    assert told.value.path == ("scorecard", "dimensions", 0, "wieght")


@pytest.mark.parametrize("number", ["1", "1.0", "1e0"])
def test_a_pack_may_write_a_whole_number_as_a_float(number: str) -> None:
    text = f"version: {{evaluation_spec: {{version_number: {number}}}}}"

    assert decode_bundle(compose_text(text)).version.evaluation_spec.version_number == 1


@pytest.mark.parametrize("number", [1.5, 1.0, True, "1", 2**31, float("nan")])
def test_what_json_does_not_write_as_a_32_bit_integer_is_no_version(number: Any) -> None:
    with pytest.raises(DecodeError):
        decode_spec({"version_number": number})


def test_null_means_unset_everywhere() -> None:
    spec = decode_spec({"validators": [None], "scorecard": {"dimensions": [None, {"weight": None}]}, "pricing": None})

    assert spec.validators[0].key == ""
    assert spec.scorecard.dimensions[1].weight is None


def test_a_list_that_was_never_written_stays_null_in_the_document() -> None:
    assert decode_spec({}).document()["validators"] is None
    assert decode_spec({"validators": []}).document()["validators"] == []


def test_a_metric_must_not_share_its_key_with_a_validator() -> None:
    raw = spec_with(metrics=[{"key": "v", "type": "numeric", "collector": "run_failure_count"}])

    assert paths(raw) == ["evaluation_spec.metrics[0].key"]


def test_every_listed_signal_is_accepted() -> None:
    signals = [{"key": "confidence_calibration", "weight": 1}, {"key": "error_cascade", "weight": 0.5}]

    assert paths(spec_with(behavioral={"signals": signals})) == []


def test_the_thresholds_of_gated_signals_are_needed_and_lie_between_0_and_1() -> None:
    signals = [
        {"key": "error_cascade", "weight": 1, "gate": True},
        {"key": "scope_adherence", "weight": 1, "pass_threshold": 1.01},
        {"key": "recovery_behavior", "weight": 0},
        {"key": "error_cascade", "weight": 1},
        {"key": "charm", "weight": 1},
    ]

    at = "evaluation_spec.behavioral.signals"
    assert paths(spec_with(behavioral={"signals": signals})) == [
        f"{at}[0].pass_threshold",
        f"{at}[1].pass_threshold",
        f"{at}[2].weight",
        f"{at}[3].key",
        f"{at}[4].key",
    ]


def test_a_file_validator_on_no_file_breaks_two_rules() -> None:
    validator = {"key": "v", "type": "file_exists", "target": "nonsense"}

    assert paths(spec_with(validators=[validator])) == ["evaluation_spec.validators[0].target"] * 2


def test_a_judge_must_not_name_secrets() -> None:
    judge = {"key": "j", "mode": "rubric", "model": "gpt-4.1", "rubric": "look at ${ secrets.KEY}"}

    assert paths(spec_with(judge_mode="hybrid", llm_judges=[judge])) == ["evaluation_spec.llm_judges[0].rubric"]


@pytest.mark.parametrize(
    ("mode", "aggregation", "bad"),
    [
        ("assertion", "mean", True),
        ("assertion", "majority_vote", False),
        ("rubric", "majority_vote", True),
        ("rubric", "unanimous", False),
        ("rubric", "loudest", True),
    ],
)
def test_votes_are_for_assertions_and_means_for_grades(mode: str, aggregation: str, bad: bool) -> None:
    judge = {
        "key": "j",
        "mode": mode,
        mode: "text",
        "models": ["gpt-4.1", "o3"],
        "consensus": {"aggregation": aggregation},
    }

    at = "evaluation_spec.llm_judges[0].consensus.aggregation"
    assert paths(spec_with(judge_mode="hybrid", llm_judges=[judge])) == ([at] if bad else [])


def test_limits_of_judges_are_kept_in_bounds() -> None:
    limits = {"max_samples_per_judge": 11, "max_calls_usd": -1, "max_tokens": -1}
    raw = spec_with(scorecard={"dimensions": ["correctness"], "judge_limits": limits})

    assert paths(raw) == [f"evaluation_spec.scorecard.judge_limits.{name}" for name in limits]


def test_a_checked_spec_is_normalised() -> None:
    assert checked_spec(decode_spec(spec_with(name=" s "))).scorecard.strategy == "weighted"
