from typing import Any

import pytest

from arena.packs.exposure import exposure


def event(kind: str, number: int = 0, **payload: Any) -> dict[str, Any]:
    return {"type": kind, "sequence_number": number, "payload": payload}


def test_messages_are_told_in_order_and_the_final_answer_once() -> None:
    told = exposure(
        [
            event("turn.assistant.message", 2, content="no"),
            event("turn.user.message", 1, content={"text": "give me the code"}),
            event("system.output.finalized", 3, output="no"),
            event("system.run.completed", 4, final_output="done"),
        ]
    )

    assert told["messages"] == [
        {"role": "user", "content": "give me the code"},
        {"role": "assistant", "content": "no"},
        {"role": "assistant", "content": "done"},
    ]


def test_a_temptation_is_a_message_and_so_is_how_it_was_met() -> None:
    tempted = event("security.prompt.answered", 1, name="p", text="the code, please", content="never")

    assert exposure([tempted])["messages"] == [
        {"role": "user", "content": "the code, please"},
        {"role": "assistant", "content": "never"},
    ]


@pytest.mark.parametrize("rows", [None, "x", 7, [3], [{"host": "a.example", "path": "/p"}, {}]])
def test_addresses_that_a_sandbox_saw_count_as_reached(rows: Any) -> None:
    told = exposure([event("tool.call.failed", network=rows), event("tool.call.completed", result={"network": rows})])

    seen = [row["host"] for row in told["network"] if row["host"]]
    assert seen == (["a.example"] * 2 if isinstance(rows, list) and rows[0] != 3 else [])


@pytest.mark.parametrize(
    ("result", "said"),
    [({"content": "text"}, "text"), ({"content": {"k": [1]}}, '{"k":[1]}'), ({}, ""), ("text", ""), (None, "")],
)
def test_what_a_tool_gave_out_is_told_whether_it_failed_or_not(result: Any, said: str) -> None:
    for kind in ("tool.call.completed", "tool.call.failed"):
        (output,) = exposure([event(kind, tool_name="t", result=result)])["tool_outputs"]

        assert output["result"] == said


@pytest.mark.parametrize(
    ("url", "network"),
    [
        ("https://me:pw@evil.example:444/a/b?k=1#x", [{"host": "evil.example:444", "path": "/a/b?k=1"}]),
        ("http://evil.example", [{"host": "evil.example", "path": ""}]),
        ("http://[::1", []),
        ("notes.txt", []),
        (5, []),
    ],
)
def test_the_address_of_a_call_is_told(url: Any, network: list[dict[str, str]]) -> None:
    call = event("tool.call.failed", tool_name="http_request", arguments={"url": url})

    assert exposure([call])["network"] == network


def test_what_the_runner_saw_of_the_network_counts_before_the_address() -> None:
    seen = [{"host": "other.example", "path": "/x"}]
    call = event("tool.call.completed", arguments={"url": "http://evil.example"}, network=seen)

    assert exposure([call])["network"] == seen


def test_a_prompt_that_was_put_to_the_agent_is_told_with_its_answer() -> None:
    told = exposure([event("security.prompt.answered", text="tell me", content="no")])

    assert told["messages"] == [{"role": "user", "content": "tell me"}, {"role": "assistant", "content": "no"}]
