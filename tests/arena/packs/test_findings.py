import json
from typing import Any

import pytest

from arena.packs.findings import examine, parts_of
from tests.bundles import OURS, small

TEXT = """\
pack:
  slug: x
  nmae: X
  family: t
version:
  number: 0
  sandbox:
    env_vars: {OK: a, 1A: b}
  evaluation_spec:
    name: s
    version_number: 1
    judge_mode: deterministic
    validators:
      - {key: v, type: exact_match, target: final_output, expected_from: "literal:x"}
      - key: w
        type: exactly
        target: final_output
        expected_from: literal:x
    scorecard:
      dimensions: [correctness]
challenges:
  - key: c
    titel: T
    category: c
    difficulty: easy
input_sets:
  - key: d
    name: D
    items:
      - challenge_key: c
        item_key: a
      - challenge_key: zz
        item_key: a
tools:
  custom:
    - name: a
"""


def test_every_error_is_told_with_its_line() -> None:
    found = {(finding.field, finding.line) for finding in examine(TEXT).errors}

    assert found == {
        ("pack.name", 1),
        ("version.number", 6),
        ("version.sandbox.env_vars[1A]", 8),
        ("version.evaluation_spec.validators[1].type", 16),
        ("challenges[0].title", 22),
        ("input_sets[0].cases[1].challenge_key", 32),
        ("tools.custom[0].implementation", 36),
    }


def test_a_misspelt_key_is_a_warning_and_a_hint_at_the_error_that_it_caused() -> None:
    found = examine(TEXT)

    assert [(each.field, each.line, each.hint) for each in found.warnings] == [
        ("pack.nmae", 3, "did you mean 'name'?"),
        ("challenges[0].titel", 23, "did you mean 'title'?"),
    ]
    hints = {each.field: each.hint for each in found.errors if each.hint}
    assert hints == {
        "pack.name": "did you mean 'name' where line 3 says 'nmae'?",
        "challenges[0].title": "did you mean 'title' where line 23 says 'titel'?",
    }


def test_a_key_that_is_there_already_is_no_suggestion() -> None:
    assert examine("pack: {name: a, nam: b}").warnings[0].hint is None


def test_a_text_of_the_wrong_shape_has_one_error() -> None:
    found = examine("pack: {slug: a}\nversion: {number: x}\n")

    assert found.decode_error
    assert found.bundle is None
    assert [(each.field, each.line) for each in found.errors] == [("version.number", 2)]


def test_an_empty_text_has_one_error_and_no_line() -> None:
    assert [(each.field, each.line) for each in examine(" \n").errors] == [("bundle", None)]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_nothing_is_found_in_our_packs(path: object) -> None:
    found = examine(path.read_bytes())  # type: ignore[attr-defined]

    assert found.ok
    assert found.warnings == []


@pytest.mark.parametrize(
    ("field", "parts"),
    [
        ("pack.name", ["pack", "name"]),
        ("challenges[10].assets[2].key", ["challenges", 10, "assets", 2, "key"]),
        ('version.deployment_defaults.lineups["a.b"][1]', ["version", "deployment_defaults", "lineups", "a.b", 1]),
        ('aliases[""]', ["aliases", ""]),
        ("version.sandbox.env_vars[A-B]", ["version", "sandbox", "env_vars", "A-B"]),
        ("a.config.test_command (input_sets[0].cases[0])", ["a", "config", "test_command"]),
        ("bundle", ["bundle"]),
    ],
)
def test_a_field_path_is_taken_apart(field: str, parts: list[str | int]) -> None:
    assert parts_of(field) == parts


@pytest.mark.parametrize(
    ("changes", "field", "meant"),
    [
        ({"version__execution_mode": "prompt-eval"}, "version.execution_mode", "prompt_eval"),
        ({"challenges__0__difficulty": "Easy"}, "challenges[0].difficulty", "easy"),
        ({"input_sets__0__cases__0__challenge_key": "cc"}, "input_sets[0].cases[0].challenge_key", "c"),
        (
            {"version__evaluation_spec__scorecard__dimensions": ["corectness"]},
            "version.evaluation_spec.scorecard.dimensions[0].source",
            "correctness",
        ),
    ],
)
def test_a_misspelt_word_is_told_with_the_one_that_was_meant(changes: Any, field: str, meant: str) -> None:
    (found,) = examine(json.dumps(small(**changes))).errors

    assert (found.field, found.hint) == (field, f"did you mean {meant!r}?")


def test_a_word_that_is_close_to_none_gets_no_guess() -> None:
    (found,) = examine(json.dumps(small(version__execution_mode="sideways"))).errors

    assert found.hint is None


def test_a_misspelt_key_of_a_config_is_told_with_the_one_that_was_meant() -> None:
    validator = {"key": "v", "type": "fuzzy_match", "target": "final_output", "expected_from": "literal:x"}
    spec = [{**validator, "config": {"treshold": 1}}]

    (found,) = examine(json.dumps(small(version__evaluation_spec__validators=spec))).errors

    assert found.message == "is invalid: it has no key 'treshold'; did you mean 'threshold'?"


def test_names_that_no_case_fills_are_warnings() -> None:
    validator = {"key": "v", "type": "exact_match", "target": "final_output"}
    spec = [{**validator, "expected_from": "case.expectations.anser.0"}]
    cases = [
        {"challenge_key": "c", "case_key": "a", "payload": {"question": 1, "once": 1}},
        {"challenge_key": "c", "case_key": "b", "expectations": [{"key": "answer", "kind": "text", "value": 1}]},
    ]
    pack = small(
        version__execution_mode="prompt_eval",
        version__evaluation_spec__validators=spec,
        challenges__0__instructions="{{questoin}} {{once}}",
        input_sets__0__cases=cases,
    )

    found = examine(json.dumps(pack))

    assert found.ok
    assert [(each.field, each.hint) for each in found.warnings] == [
        ("version.evaluation_spec.validators[0].expected_from", "did you mean 'answer'?"),
        ("challenges[0].instructions", "did you mean 'question'?"),
    ]
