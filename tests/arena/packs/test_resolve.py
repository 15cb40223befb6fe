from typing import Any

import pytest

from arena.packs.evidence import Evidence, case_evidence
from arena.packs.resolve import BadReference, resolve_evidence

PAYLOAD = {
    "million": 1_000_000,
    "small": 0.00009,
    "zero": -0.0,
    "rows": [{"text": "only"}],
    "pair": [1, {"a<b": 1e21}],
    "held": {"value": {"k": 1}, "content": "c"},
    "nothing": None,
}


def chained(length: int) -> list[dict[str, Any]]:
    links = [{"key": f"i{n}", "kind": "t", "source": f"input:i{n + 1}"} for n in range(length)]
    return [*links, {"key": f"i{length}", "kind": "t", "value": "end"}]


def evidence(**members: Any) -> Evidence:
    return Evidence(cases=(case_evidence({"payload": PAYLOAD, **members}),))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("million", "1e+06"),
        ("small", "9e-05"),
        ("zero", "-0"),
        ("rows", "only"),
        ("rows.0", "only"),
        ("pair", '[1,{"a\\u003cb":1e+21}]'),
        ("pair.1", '{"a\\u003cb":1e+21}'),
        ("held", "c"),
        ("held.value", '{"k":1}'),
        ("nothing", "null"),
        ("pair.-1", None),
        ("pair.2", None),
        ("million.x", None),
        ("nothing.x", None),
    ],
)
def test_a_path_into_the_payload_leads_to_a_text_or_nowhere(path: str, text: str | None) -> None:
    found = resolve_evidence(f"case.payload.{path}", evidence())

    assert found.value == text
    assert bool(found.reason) is (text is None)


def test_inputs_may_follow_each_other_eight_times() -> None:
    assert resolve_evidence("case.inputs.i0", evidence(inputs=chained(8))).value == "end"
    with pytest.raises(BadReference):
        resolve_evidence("case.inputs.i0", evidence(inputs=chained(9)))


def test_an_input_that_names_itself_is_an_error() -> None:
    with pytest.raises(BadReference):
        resolve_evidence("case.inputs.a", evidence(inputs=[{"key": "a", "kind": "t", "source": "input:a"}]))


@pytest.mark.parametrize("source", ["input:", "input:zz", "artifact:zz"])
def test_a_source_that_leads_to_nothing_is_missing_and_no_error(source: str) -> None:
    found = resolve_evidence("case.expectations.a", evidence(expectations=[{"key": "a", "source": source}]))

    assert (found.value, bool(found.reason)) == (None, True)


def test_several_cases_leave_only_what_is_not_about_a_case() -> None:
    both = Evidence(final_output="x", cases=evidence().cases * 2)

    assert resolve_evidence("final_output", both).value == "x"
    assert "ambiguous" in resolve_evidence("case.payload.million", both).reason
    assert "ambiguous" in resolve_evidence("challenge_input", both).reason
