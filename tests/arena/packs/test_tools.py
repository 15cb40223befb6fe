"""Rules for composed tools, and what they do at run time."""

import json
from typing import Any

import pytest

from arena.packs.composed import BadPlaceholder, fill, may_use, mock_answer
from tests.bundles import errors

ARGUMENTS = {"q": "a b/c&d", "n": 3, "o": {"k": [1, {"z": "ü"}]}, "empty": None}


def tool(**changes: Any) -> list[str]:
    entry = {"name": "t", "implementation": {"primitive": "http_request", "args": {}}, **changes}
    return errors(tools={"custom": [entry]})


@pytest.mark.parametrize("custom", [{"a": 1}, "x", [1], ["x"], [{"name": 5}], [[]]])
def test_custom_tools_are_a_list_of_named_objects(custom: Any) -> None:
    assert errors(tools={"custom": custom}) == ["tools"]


@pytest.mark.parametrize("custom", [None, []])
def test_no_custom_tools_are_fine(custom: Any) -> None:
    assert errors(tools={"custom": custom, "other": 1}) == []


@pytest.mark.parametrize("implementation", ["x", [], 5, {"primitive": 5}, {"type": [], "primitive": "p"}])
def test_an_implementation_that_cannot_be_read_is_the_only_error(implementation: Any) -> None:
    assert tool(implementation=implementation, parameters=5) == ["tools.custom[0].implementation"]


def test_no_implementation_at_all_is_an_empty_one() -> None:
    at = "tools.custom[0].implementation"

    assert tool(implementation=None) == [f"{at}.args", f"{at}.primitive"]
    assert errors(tools={"custom": [None]}) == [at]


@pytest.mark.parametrize(
    ("parameters", "count"),
    [(None, 0), ({}, 0), ({"properties": None}, 0), (True, 1), (False, 1), (5, 2), ("x", 2), ([], 2),
     ({"properties": 5}, 2), ({"type": 5}, 1), ({"$ref": "https://example.org/x"}, 1), ({"minimum": "a"}, 1),
     ({"$schema": "http://json-schema.org/draft-04/schema#"}, 1)],
)  # fmt: skip
def test_parameters_are_a_json_schema_and_an_object(parameters: Any, count: int) -> None:
    assert tool(parameters=parameters) == ["tools.custom[0].parameters"] * count


@pytest.mark.parametrize("args", ["x", 5, [], True])
def test_arguments_are_an_object(args: Any) -> None:
    assert tool(implementation={"primitive": "p", "args": args}) == ["tools.custom[0].implementation.args"]


def test_arguments_may_be_null_but_not_absent() -> None:
    assert tool(implementation={"primitive": "p", "args": None}) == []
    assert tool(implementation={"primitive": "p"}) == ["tools.custom[0].implementation.args"]


@pytest.mark.parametrize(
    ("text", "count"),
    [("${q}", 0), ("${q.x.y}", 0), ("${json:q}", 0), ("${parameters}", 0), ("${query:parameters}", 0),
     ("${secrets.A}", 0), ("}${q}", 0), ("$ {q}", 0), ("${q", 2), ("${ }", 2), ("${}", 2), ("${zz}", 1),
     ("${q}${zz}", 1), ("${json:json:q}", 1), ("${parameters.q}", 1), ("${secrets.}", 1),
     ("${secrets}", 1), ("${xml:q}", 1)],
)  # fmt: skip
def test_placeholders_name_what_the_tool_is_given(text: str, count: int) -> None:
    implementation = {"primitive": "p", "args": {"a": {"b": [0, 1, text]}}}

    found = tool(implementation=implementation, parameters={"properties": {"q": {}}})

    assert found == ["tools.custom[0].implementation.args.a.b[2]"] * count


def test_chains_of_eight_are_fine_and_cycles_of_eight_are_cycles() -> None:
    chain = [{"name": f"t{n}", "implementation": {"primitive": f"t{n + 1}", "args": {}}} for n in range(8)]
    cycle = [*chain[:7], {"name": "t7", "implementation": {"primitive": "t0", "args": {}}}]

    assert errors(tools={"custom": chain}) == []
    assert errors(tools={"custom": cycle}) == ["tools"] * 8


@pytest.mark.parametrize(
    ("primitive", "policy", "may"),
    [
        ("submit", {"allowed_tool_kinds": ["data"]}, True),
        ("read_file", None, True),
        ("read_file", {"allowed_tool_kinds": []}, True),
        ("read_file", {"allowed_tool_kinds": [" FILE "]}, True),
        ("read_file", {"allowed_tool_kinds": ["network"]}, False),
        ("query_sql", {"allowed_tool_kinds": ["data"]}, True),
        ("http_request", {"allowed_tool_kinds": ["file"]}, False),
        ("run_tests", {"allowed_tool_kinds": ["build"]}, True),
        ("exec", {"allowed_tool_kinds": ["terminal"]}, False),
        ("exec", {"allow_shell": True, "allowed_tool_kinds": ["file"]}, True),
        ("exec", {"allow_shell": "yes"}, False),
        ("launch_rocket", None, False),
    ],
)
def test_a_policy_opens_primitives_by_their_kind(primitive: str, policy: Any, may: bool) -> None:
    assert may_use(primitive, policy) is may


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${parameters}", ARGUMENTS),
        ("q=${q}", "q=a b/c&d"),
        ("${query:q}", "a+b%2Fc%26d"),
        ("${path:q}", "a%20b%2Fc%26d"),
        ("${n}", "3"),
        ("${json:o}", '{"k":[1,{"z":"ü"}]}'),
        ("${json:q}", '"a b/c\\u0026d"'),
        ("${o.k}", '[1,{"z":"ü"}]'),
        ("Bearer ${secrets.TOKEN}", "Bearer s3"),
        ("${nothing} ${q.deeper} ${secrets.NONE}", "${nothing} ${q.deeper} ${secrets.NONE}"),
        ("$q ${q", "$q ${q"),
    ],
)
def test_arguments_and_secrets_fill_placeholders(text: str, filled: Any) -> None:
    assert fill({"a": [text, 5]}, ARGUMENTS, {"TOKEN": "s3"}) == {"a": [filled, 5]}


def test_what_a_value_brings_along_is_not_filled_again() -> None:
    assert fill("${q}", {"q": "${secrets.TOKEN}"}, {"TOKEN": "s3"}) == "${secrets.TOKEN}"


def test_asked_strictly_nothing_may_stay_open() -> None:
    with pytest.raises(BadPlaceholder, match="nothing fills"):
        fill("${nothing}", ARGUMENTS, {}, strict=True)


@pytest.mark.parametrize(
    ("implementation", "answer"),
    [
        ({"strategy": "static", "response": {"a": 1}, "template": {}}, {"a": 1}),
        ({"response": "x"}, "x"),
        ({}, None),
        ({"lookup_key": "o.id", "responses": {"7": "seven", "*": "any"}}, "seven"),
        ({"lookup_key": "o.none", "responses": {"7": "seven", "*": "any"}}, "any"),
        ({"strategy": "lookup", "lookup_key": "o.id", "responses": {"8": "eight"}}, None),
        ({"template": {"you": "${name}", "id": "${json:o.id}"}}, {"you": "Ada", "id": "7"}),
        ({"strategy": "echo", "response": "x", "template": {"you": "${name}"}}, {"you": "Ada"}),
    ],
)
def test_a_mock_answers_by_its_strategy(implementation: Any, answer: Any) -> None:
    assert mock_answer(implementation, {"name": "Ada", "o": {"id": 7}}) == answer


def test_a_filled_value_is_json_as_long_as_the_arguments_are() -> None:
    assert json.loads(json.dumps(fill("${parameters}", ARGUMENTS, {}))) == ARGUMENTS
