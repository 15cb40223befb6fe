import json
from typing import Any

import pytest

from arena.packs.read import parse_bundle
from arena.packs.stored import read_case, stored_case, stored_cases
from tests.bundles import OURS, small


def stored(case: dict[str, Any]) -> Any:
    bundle = parse_bundle(json.dumps(small(input_sets__0__cases=[{"challenge_key": "c", "case_key": "k", **case}])))
    return stored_case(bundle.input_sets[0].cases[0])


def test_false_zero_and_the_empty_text_are_values_and_null_is_none() -> None:
    inputs = [{"key": str(n), "kind": "t", "value": value} for n, value in enumerate((False, 0, "", None))]

    assert [each.get("value", "absent") for each in stored({"inputs": inputs})["inputs"]] == [False, 0, "", "absent"]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_a_case_read_back_is_the_same_case(path: Any) -> None:
    for each in stored_cases(parse_bundle(path.read_bytes())):
        case = read_case(json.loads(json.dumps(each.document)), each.effective_key, each.challenge_key)

        assert stored_case(case) == each.document
        assert case.effective_key == each.effective_key
        assert case.challenge_key == each.challenge_key


@pytest.mark.parametrize(
    "document",
    [
        {"a": 1},
        {"schema_version": 0, "a": 1},
        {"schema_version": "1"},
        {"schema_version": None},
        {"schema_version": True},
    ],
)
def test_an_object_without_a_version_number_is_all_payload(document: Any) -> None:
    case = read_case(document, "row")

    assert case.payload == document
    assert case.effective_key == "row"


@pytest.mark.parametrize("version", [1, 1.0, 2, -1])
def test_a_document_without_a_payload_has_an_empty_one(version: float) -> None:
    case = read_case({"schema_version": version, "case_key": "own", "inputs": [{"key": "a", "kind": "b"}]}, "row")

    assert case.payload == {}
    assert case.effective_key == "own"
    assert case.inputs[0].key == "a"
