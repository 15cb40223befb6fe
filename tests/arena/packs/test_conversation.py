from typing import Any
from uuid import UUID

import pytest

from arena.packs.blocks import Expectation, Phase, UserSimulator
from arena.packs.conversation import Progress, is_mismatch, is_over, is_sampled, pairs, phase_runs, turn_limit


def expects(kind: str, value: Any) -> list[Expectation]:
    return [Expectation(key="e", kind=kind, value=value)]


@pytest.mark.parametrize(
    ("answer", "expected", "mismatch"),
    [
        ("anything", [], False),
        (" yes \n", expects("exact_match", "yes"), False),
        ("yes!", expects("exact_match", "yes"), True),
        ("it costs 1e+06", expects("contains", 1000000), False),
        ("", expects("contains", ""), False),
        ("null", expects("contains", None), True),
        ("yes", expects("similar", "yes"), True),
        ('{"a":1}', expects("exact_match", {"a": 1}), False),
    ],
)
def test_an_answer_must_meet_all_that_is_expected(answer: str, expected: list[Expectation], mismatch: bool) -> None:
    assert is_mismatch(answer, expected) is mismatch


@pytest.mark.parametrize("trigger", ["always", "", "manual", "on_agent_loop"])
def test_most_phases_run(trigger: str) -> None:
    assert phase_runs(Phase(trigger=trigger), last_mismatch=False)


def test_some_phases_wait_for_a_mismatch_and_some_for_ever() -> None:
    assert phase_runs(Phase(trigger=" on_assistant_mismatch "), last_mismatch=True)
    assert not phase_runs(Phase(trigger="on_assistant_mismatch"), last_mismatch=False)
    assert not phase_runs(Phase(trigger="never"), last_mismatch=True)


@pytest.mark.parametrize(
    ("until", "over"),
    [
        ([], False),
        (["max_turns"], True),
        (["max_turns", "user_token:bye"], True),
        (["max_turns", "assistant_emitted:bye"], False),
        (["assistant_emitted: DONE "], True),
        (["user_token:"], False),
        (["", "max_turns"], True),
        (["weather:good"], False),
        (["max_turns", "weather:good"], False),
    ],
)
def test_a_phase_ends_when_all_its_conditions_hold(until: list[str], over: bool) -> None:
    assert is_over(until, Progress(turns=2, limit=2, answer="we are done", message="Bye")) is over


def test_a_conversation_has_fifty_turns_unless_it_says_otherwise() -> None:
    assert turn_limit(UserSimulator()) == 50
    assert turn_limit(UserSimulator(max_turns=3)) == 3


def test_sampling_keeps_about_the_share_and_always_the_same_runs() -> None:
    runs = [UUID(int=number * 7919) for number in range(4000)]
    sampled = [run for run in runs if is_sampled(run, 0.25)]

    assert 800 < len(sampled) < 1200
    assert sampled == [run for run in runs if is_sampled(run, 0.25)]
    assert all(is_sampled(run, 0.5) for run in sampled)
    assert not any(is_sampled(run, 0) for run in runs)
    assert all(is_sampled(run, 1) for run in runs)


def test_agents_are_paired_within_their_case_by_lane() -> None:
    agents = [("x", 2, "c"), ("x", 0, "a"), ("y", 1, "e"), ("x", 1, "b"), ("y", 0, "d"), ("x", 3, "last")]

    assert pairs(agents) == {"x": [("a", "b"), ("c", "last")], "y": [("d", "e")]}
    assert pairs([("x", 0, "alone")]) == {"x": []}
