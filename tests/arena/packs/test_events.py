import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from arena.packs.errors import DecodeError
from arena.packs.events import collect_evidence
from arena.packs.evidence import Origin
from arena.packs.records import error_message, read_moment
from arena.packs.values import canonical_json


def event(kind: str, second: float = 0, sequence: int | None = None, **payload: Any) -> dict[str, Any]:
    at = f"2026-03-01T10:00:{second:06.3f}Z"
    return {"type": kind, "occurred_at": at, "payload": payload, "sequence_number": sequence}


def test_numbered_events_come_first_and_in_their_order() -> None:
    evidence = collect_evidence(
        [
            event("tool.call.completed", 1, tool_name="late"),
            event("tool.call.completed", 9, 2, tool_name="second"),
            event("tool.call.completed", 5, 1, tool_name="first"),
        ]
    )

    assert [call.tool_name for call in evidence.tool_calls] == ["first", "second", "late"]


def test_arguments_are_kept_to_a_depth_that_can_be_read() -> None:
    arguments: Any = "the bottom"
    for _ in range(5_000):
        arguments = [arguments]

    (call,) = collect_evidence([event("tool.call.completed", tool_name="t", arguments=arguments)]).tool_calls

    assert canonical_json(call.arguments) == "[" * 100 + "null" + "]" * 100


def test_the_last_capture_of_a_key_wins() -> None:
    captured = "grader.verification.file_captured"
    evidence = collect_evidence(
        [
            event(captured, 2, key="out", path="/w", exists=True, content="new", size=3),
            event(captured, 1, key="out", path="/w", exists=True, content="old", size=3),
        ]
    )

    assert evidence.files["out"].content == "new"


def test_a_final_output_of_the_run_overrides_a_finalized_one() -> None:
    finalized = event("system.output.finalized", 1, 4, output={"text": "draft"})

    assert collect_evidence([finalized]).final_output == "draft"
    done = event("system.run.completed", 2, 5, final_output="final")
    assert collect_evidence([finalized, done]).final_output == "final"


def test_the_source_of_an_output_is_its_event_or_else_the_last_model_call() -> None:
    calls = [event("model.call.completed", second, second, usage={}) for second in (1, 2)]

    assert collect_evidence(calls).final_output_origin == ("model_call", Origin(2, "model.call.completed"))
    finalized = [*calls, event("system.output.finalized", 3, 7, output="x")]
    assert collect_evidence(finalized).final_output_origin == ("final_output", Origin(7, "system.output.finalized"))


def test_a_result_that_is_an_error_makes_a_completed_call_a_failed_one() -> None:
    result = {"is_error": True, "content": '{"error": "tool is not allowed in this runtime"}'}
    evidence = collect_evidence([event("tool.call.completed", tool_name="rm", result=result)])

    (call,) = evidence.tool_calls
    assert call.failed
    assert call.error_message == "tool is not allowed in this runtime"
    assert evidence.failure_count == 1


def test_failures_of_the_run_of_commands_and_of_nameless_calls_count() -> None:
    kinds = ("system.run.failed", "sandbox.command.failed", "tool.call.failed", "tool.call.completed")

    assert collect_evidence([event(kind) for kind in kinds]).failure_count == 3


def test_turns_are_put_together_from_their_events() -> None:
    evidence = collect_evidence(
        [
            event("turn.assistant.message", 2, turn_index=1, content="B"),
            event("turn.user.message", 1, turn_index=1, content="b", phase_id="p", actor="scripted"),
            event("turn.user.message", 0, turn_index=0, content="a"),
            event("turn.completed", 3, turn_index=1, mismatch=True),
            event("turn.completed", 3, mismatch=True),
        ]
    )

    assert [turn.turn_index for turn in evidence.turns] == [0, 1]
    assert evidence.turns[1]._asdict() | {"actor": ""} == {
        "turn_index": 1,
        "phase_id": "p",
        "actor": "",
        "user": "b",
        "assistant": "B",
        "mismatch": True,
    }


def test_steps_are_timed() -> None:
    steps = [event("system.step.started", 1, step_index=0), event("system.step.completed", 2.5, step_index=0)]

    assert collect_evidence(steps).step_ms == {0: 1500}


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000_000),
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("1970-01-01T01:00:00.5+01:00", 500_000_000),
        ("1970-01-01T00:00:00.5", 500_000_000),
        ("1969-12-31T23:00:00-01:00", 0),
    ],
)
def test_times_are_read_to_the_nanosecond(text: str, nanoseconds: int) -> None:
    assert read_moment(text) == nanoseconds


@pytest.mark.parametrize("bad", ["yesterday", 5, "", "2026-13-01T00:00:00Z", "2026-03-01T10:00:00.x"])
def test_a_time_that_is_none_is_refused(bad: Any) -> None:
    with pytest.raises(DecodeError, match="occurred_at"):
        read_moment(bad)


@pytest.mark.parametrize("bad", ["text", {}, {"type": 5}, None])
def test_what_is_no_event_is_refused(bad: Any) -> None:
    with pytest.raises(DecodeError, match="run event"):
        collect_evidence([bad])


def test_an_event_of_an_unknown_type_is_left_out_whatever_it_holds() -> None:
    assert collect_evidence([{"type": "custom.note", "occurred_at": "never"}]).tool_calls == []


@pytest.mark.parametrize(
    ("content", "message"), [('{"error": "e"}', "e"), ("{broken", "{broken"), ('{"a": 1}', '{"a": 1}')]
)
def test_an_error_inside_json_content_is_the_message(content: str, message: str) -> None:
    assert error_message(content) == message


def test_a_large_log_leaves_behind_only_what_scoring_looks_at() -> None:
    def log() -> Iterator[dict[str, Any]]:
        for number in range(10_000):
            yield event("model.output.delta", 1, delta="x" * 500 + str(number))
            yield event("tool.call.completed", 1, tool_name="t", result={"content": "x" * 500 + str(number)})
        yield event("system.run.completed", 2, final_output="done", trace="y" * 1_000_000)

    tracemalloc.start()
    evidence = collect_evidence(log())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert evidence.final_output == "done"
    assert peak < 8_000_000
