from typing import Any

import pytest

from arena.packs.evidence import Execution, ToolCall
from arena.packs.validators.execution import InfraFault, Undecided, code_execution
from arena.packs.validators.files import directory_structure, file_content_match, file_json_schema
from arena.packs.validators.outcome import Fault, PackFault
from arena.packs.validators.postcondition import about_content, read_postcondition
from arena.packs.validators.tool_calls import holds, tool_call_assertion

LISTING = '{"path": "/w", "entries": [{"path": "/w/src", "is_dir": true}, {"path": "/w/src/a.py"}, {"path": "/w/out"}]}'


@pytest.mark.parametrize(
    ("config", "passed"),
    [
        ({"required_directories": ["src"]}, True),
        ({"required_directories": ["src/"]}, True),
        ({"required_directories": ["/w/src"]}, True),
        ({"required_directories": ["out"]}, True),  # any known name will do
        ({"required_directories": ["src/a"]}, False),
        ({"required_files": ["src/a.py", "/w/out"]}, True),
        ({"required_files": ["a.py"]}, False),
        ({"forbidden_files": ["src"]}, False),
        ({"forbidden_files": ["a.py"]}, True),
    ],
)
def test_names_in_a_listing_are_known_in_full_and_from_its_root(config: dict[str, Any], passed: bool) -> None:
    assert directory_structure(LISTING, "", config).passed is passed


@pytest.mark.parametrize("text", ["plain", "5", "[]", '{"entries": 5}'])
def test_what_is_no_listing_is_an_error(text: str) -> None:
    with pytest.raises(Fault) as fault:
        directory_structure(text, "", {})

    assert fault.value.outcome_class == "evaluator_error"


@pytest.mark.parametrize("check", [directory_structure, file_json_schema])
def test_a_check_that_needs_a_config_says_so(check: Any) -> None:
    with pytest.raises(PackFault):
        check("{}", "", None)


def test_an_unknown_mode_is_the_fault_of_the_pack() -> None:
    with pytest.raises(PackFault):
        file_content_match("a", "a", {"match_mode": "sniff"})


@pytest.mark.parametrize(
    ("execution", "config", "score"),
    [
        ({"exit_code": 0}, None, 1),
        ({"exit_code": 2}, None, 0),
        ({"exit_code": -9}, None, 0),
        ({"passed_tests": 1, "total_tests": 4, "exit_code": 0}, None, 0.25),
        ({"passed_tests": 1, "error_tests": 1, "total_tests": 0}, None, 0.5),
        ({"passed_tests": 3, "error_tests": 1}, {"scoring": "all_or_nothing"}, 0),
        ({"passed_tests": 3}, {"scoring": "all_or_nothing"}, 1),
        ({"passed_tests": 3, "timed_out": True}, None, 0),
    ],
)
def test_executions_are_scored_by_counts_or_exit_code(execution: dict[str, Any], config: Any, score: float) -> None:
    assert code_execution(Execution("v", **execution), config).score == score


def test_an_execution_that_says_nothing_is_undecided() -> None:
    with pytest.raises(Undecided):
        code_execution(Execution("v", failed_tests=2), None)


def test_a_sandbox_that_failed_is_told_from_code_that_failed() -> None:
    with pytest.raises(InfraFault):
        code_execution(Execution("v", execution_error="no room", timed_out=True), None)


@pytest.mark.parametrize(
    ("actual", "fragment", "held"),
    [
        ({"a": [1, 2, 3]}, {"a": [3, 1.0]}, True),
        ({"a": [1]}, {"a": [1, 1]}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": {"b": None}}, {"a": {"b": None}}, True),
        ({"a": {}}, {"a": {"b": None}}, False),
        ([1], {}, False),
    ],
)
def test_arguments_contain_a_fragment(actual: Any, fragment: Any, held: bool) -> None:
    assert holds(actual, fragment) is held


CALLS = [ToolCall("read", {"p": 1}), ToolCall("write", failed=True), ToolCall("read", {"p": 2}), ToolCall("submit")]


@pytest.mark.parametrize(
    ("config", "passed"),
    [
        ({"tool_name": "write"}, False),
        ({"tool_name": "write", "must_call": False}, True),
        ({"tool_name": " read ", "count": 2}, True),
        ({"tool_name": "read", "min_count": 2, "max_count": 2}, True),
        ({"ordered_tools": ["read", "submit"]}, True),
        ({"ordered_tools": ["submit", "read"]}, False),
        ({"ordered_tools": ["read", "read", "submit"], "order_mode": "exact"}, True),
        ({"ordered_tools": ["read", "write"]}, False),
    ],
)
def test_only_calls_that_succeeded_count(config: dict[str, Any], passed: bool) -> None:
    assert tool_call_assertion(CALLS, config).outcome.passed is passed


def test_the_evidence_of_calls_never_holds_their_arguments() -> None:
    outcome, first = tool_call_assertion(CALLS, {"tool_name": "read", "arguments_contain": {"p": 2}})

    assert first == CALLS[2]
    assert outcome.details["matched_indices"] == [2]
    assert outcome.details["arguments_contain_set"] is True
    assert "arguments_contain" not in outcome.details


@pytest.mark.parametrize(
    ("config", "content", "passed"),
    [
        ({"condition": "equals", "value": None}, "null", True),
        ({"condition": "contains", "value": None}, "anything", True),
        ({"condition": "not_contains", "value": "x"}, "xyz", False),
        ({"condition": "equals", "value": [1, 2.5]}, "[1, 2.5]", True),
        ({"condition": "equals", "value": [2]}, "[2.0]", False),
        ({"condition": "json_path_match", "json_path": " $.a ", "value": 1}, '{"a": 1.0}', True),
        ({"condition": "regex_match", "value": "^a"}, "ba", False),
    ],
)
def test_postconditions_hold_or_do_not_and_say_so(config: dict[str, Any], content: str, passed: bool) -> None:
    outcome = about_content(read_postcondition(config), content)

    assert outcome.passed is passed
    assert outcome.details["condition"] == config["condition"]
