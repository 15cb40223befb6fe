"""Rules for simulated users that the vectors do not reach, or only from one side."""

from typing import Any

import pytest

from tests.bundles import errors

AT = "input_sets[0].cases[0].user_simulator"
FIRST = {"id": "first", "actor": "scripted", "turns": [{"message": "hi"}]}


def simulated(*phases: Any, **members: Any) -> list[str]:
    simulator = {"schema_version": 1, "kind": "hybrid", "phases": list(phases) or [FIRST], **members}
    case = {"challenge_key": "c", "case_key": "k", "user_simulator": simulator}
    return errors(version__execution_mode="multi_turn", input_sets__0__cases=[case])


@pytest.mark.parametrize(
    ("phase", "fields"),
    [
        ({"actor": "scripted", "turns": [{"message": "a"}], "model": "m"}, ["model"]),
        ({"actor": "human", "model": "m"}, ["model"]),
        ({"actor": "human", "model": " "}, []),
        ({"actor": "robot", "model": "m"}, ["actor", "model"]),
        ({"actor": " ", "model": "m"}, ["actor"]),
        ({"actor": " llm ", "persona": "p", "model": "m"}, []),
        ({"actor": "llm", "max_turns": -1}, ["max_turns", "persona"]),
        ({"actor": "human", "timeout_ms": -1}, ["timeout_ms"]),
        ({"actor": "scripted"}, ["turns"]),
    ],
)
def test_a_phase_has_what_its_actor_needs_and_no_more(phase: Any, fields: list[str]) -> None:
    assert simulated(FIRST, {"id": "b", "trigger": "manual", **phase}) == [f"{AT}.phases[1].{name}" for name in fields]


def test_phases_have_names_of_their_own() -> None:
    later = {**FIRST, "trigger": "manual"}

    assert simulated(FIRST, {**later, "id": " first "}, {**later, "id": " "}) == [
        f"{AT}.phases[1].id",
        f"{AT}.phases[2].id",
    ]


@pytest.mark.parametrize("trigger", ["", " always "])
def test_a_later_phase_says_when_it_runs(trigger: str) -> None:
    assert simulated(FIRST, {**FIRST, "id": "b", "trigger": trigger}) == [f"{AT}.phases[1].trigger"]


def test_the_first_phase_always_runs() -> None:
    assert simulated({**FIRST, "trigger": "manual"}) == [f"{AT}.phases[0].trigger"]
    assert simulated({**FIRST, "trigger": " always "}) == []


@pytest.mark.parametrize(
    ("members", "fields"),
    [
        ({"kind": "scripted"}, ["kind"]),
        ({"schema_version": 0}, ["schema_version"]),
        ({"schema_version": 2**40}, ["schema_version"]),
        ({"phases": None}, ["phases"]),
        ({"calibration": {"enabled": True, "sample_rate": 0}}, ["calibration.sample_rate"]),
        ({"calibration": {"enabled": True, "sample_rate": -0.1}}, ["calibration.sample_rate"]),
        ({"post_run": {"arena": {"enabled": False, "comparison": "any"}}}, []),
        ({"post_run": {"arena": {"enabled": True, "comparison": " pairwise "}}}, []),
        ({"post_run": {}}, []),
    ],
)
def test_the_head_of_a_simulator_is_checked(members: Any, fields: list[str]) -> None:
    assert simulated(**members) == [f"{AT}.{name}" for name in fields]
