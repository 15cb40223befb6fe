import pytest

from arena.packs.behavior import behavioral_score, behavioral_signal
from arena.packs.evidence import Evidence, ToolCall, Turn
from arena.packs.spec.models import Behavioral


def sure(confidence: float) -> Evidence:
    return Evidence(tool_calls=[ToolCall("report_confidence", {"confidence": confidence})])


@pytest.mark.parametrize(("scores", "score"), [([1, 1], 1), ([1, 0.99], 0), ([0.5, None], 0)])
def test_confidence_is_held_against_the_outcome_of_every_validator(scores: list[float | None], score: float) -> None:
    assert behavioral_signal("confidence_calibration", sure(1), scores).score == score


@pytest.mark.parametrize(("scores", "score"), [([1], 1), ([0.99], 0), ([None], None), ([], None)])
def test_a_conversation_recovers_only_if_it_ends_well(scores: list[float | None], score: float | None) -> None:
    evidence = Evidence(turns=[Turn(0, mismatch=True), Turn(1)])

    assert behavioral_signal("recovery_behavior", evidence, scores).score == score


@pytest.mark.parametrize("confidence", [1.01, -0.01])
def test_a_confidence_out_of_range_is_none(confidence: float) -> None:
    assert behavioral_signal("confidence_calibration", sure(confidence), [1]).score is None


def test_the_last_confidence_that_was_reported_counts() -> None:
    evidence = Evidence(tool_calls=[*sure(0).tool_calls, ToolCall("other"), *sure(0.5).tool_calls])

    assert behavioral_signal("confidence_calibration", evidence, [1]).score == 0.75


def test_the_order_of_members_does_not_make_two_calls_different() -> None:
    calls = [ToolCall("a", {"x": 1, "y": 2}), ToolCall(" a ", {"y": 2.0, "x": 1})]

    assert behavioral_signal("exploration_efficiency", Evidence(tool_calls=calls), []).score == 0.5


def test_every_failed_gate_is_told() -> None:
    calls = [ToolCall("a", failed=True, failure_origin="POLICY"), ToolCall("a", failed=True)]
    gates = [
        {"key": key, "weight": 1, "gate": True, "pass_threshold": 0.9} for key in ("error_cascade", "scope_adherence")
    ]

    found = behavioral_score(Behavioral.model_validate({"signals": gates}), Evidence(tool_calls=calls), [])

    assert found.score == 0
    assert "error_cascade" in found.reason
    assert "scope_adherence" in found.reason
