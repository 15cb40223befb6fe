"""Packs within all limits of size that are made to take long, and a large one that is not."""

import json
import time
from typing import Any

import pytest

from arena.packs.findings import MAX_WARNINGS, examine
from arena.packs.read import parse_bundle
from arena.packs.rules.bundle import MAX_ERRORS
from benchmarks.packs import LIMIT, large
from tests.bundles import small

CASE = {"challenge_key": "c"}
FILES = [{"key": "f", "type": "file_capture", "path": "p"}]


def commands(count: int, words: str) -> list[dict[str, Any]]:
    config = {"test_command": words}
    return [{"key": f"v{n}", "type": "code_execution", "target": "file:f", "config": config} for n in range(count)]


def cases(count: int, **members: Any) -> list[dict[str, Any]]:
    return [{**CASE, "case_key": f"k{n}", **members} for n in range(count)]


def phases(count: int) -> list[dict[str, Any]]:
    turns = [{"message": "{{p0}}"}]
    first = {"id": "first", "actor": "scripted", "turns": turns}
    return [first, *({"id": f"p{n}", "actor": "scripted", "trigger": "manual", "turns": turns} for n in range(count))]


def simulated() -> dict[str, Any]:
    simulator = {"schema_version": 1, "kind": "hybrid", "phases": phases(8_000)}
    payload = {f"p{n}": n for n in range(50_000)}
    return small(
        version__execution_mode="multi_turn", input_sets__0__cases=cases(1, payload=payload, user_simulator=simulator)
    )


def pointing(member: dict[str, Any]) -> dict[str, Any]:
    """A pack whose tool has parameters that point to each other by name."""
    parameters = {"properties": {f"p{n}": {name: f"{text}{n}" for name, text in member.items()} for n in range(5_000)}}
    implementation = {"primitive": "read_file", "args": {}}
    return small(tools={"custom": [{"name": "t", "parameters": parameters, "implementation": implementation}]})


HOSTILE = {
    "many names in a schema": lambda: pointing({"$anchor": "a", "$ref": "#a"}),
    "many ids in a schema": lambda: pointing({"$id": "http://x/", "$ref": "http://x/"}),
    "many commands and many cases": lambda: small(
        version__evaluation_spec__validators=commands(4_000, "{{a}}"),
        version__evaluation_spec__post_execution_checks=FILES,
        input_sets__0__cases=cases(10_000, payload={"a": 1}),
    ),
    "many commands that no case fills": lambda: small(
        version__evaluation_spec__validators=commands(4_000, "{{a}} {{b}} {{c}}"),
        version__evaluation_spec__post_execution_checks=FILES,
        input_sets__0__cases=cases(10_000),
    ),
    "many phases and a large payload": simulated,
    "many keys that nobody knows": lambda: small(**{f"instructoins{n}": n for n in range(100_000)}),
    "many unknown tools": lambda: small(
        tools={"custom": [{"name": f"t{n}", "implementation": {"primitive": f"t{n + 1}"}} for n in range(15_000)]}
    ),
    "many errors": lambda: small(challenges=[{} for _ in range(40_000)]),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_pack_that_is_made_to_take_long_does_not(make: Any) -> None:
    text = json.dumps(make())
    begun = time.process_time()

    found = examine(text)

    assert time.process_time() - begun < 15
    assert not found.decode_error
    assert len(found.errors) <= MAX_ERRORS + 1
    assert len(found.warnings) <= MAX_WARNINGS


def test_whoever_has_too_many_errors_is_told_that_there_are_more() -> None:
    found = examine(json.dumps(small(challenges=[{} for _ in range(5_000)])))

    assert len(found.errors) == MAX_ERRORS + 1
    assert found.errors[-1].field == "bundle"


def test_a_megabyte_with_a_thousand_cases_is_validated_in_time() -> None:
    text = large()
    begun = time.process_time()

    bundle = parse_bundle(text)

    assert time.process_time() - begun < LIMIT
    assert len(bundle.input_sets[0].cases) == 1_000
    assert len(text) > 990_000
