"""What authors may write into typed fields of a bundle."""

import json
from typing import Any

import pytest

from arena.packs.blocks import Bundle
from arena.packs.errors import DecodeError, InvalidPack
from arena.packs.manifest import manifest_json
from arena.packs.read import compose_text, decode_bundle, parse_bundle
from tests.bundles import small


def decode(text: str) -> Bundle:
    return decode_bundle(compose_text(text))


@pytest.mark.parametrize(
    ("written", "text"),
    [("12", "12"), ("1.50", "1.50"), ("true", "true"), ("0x1F", "0x1F"), ("2024-01-02", "2024-01-02"), ("~", ""),
     ("'~'", "~"), ("!!binary aGk=", "hi"), ("|\n    a\n    b\n", "a\nb"), ("", "")],
)  # fmt: skip
def test_a_text_field_takes_any_single_value_as_it_is_written(written: str, text: str) -> None:
    assert decode(f"pack:\n  name: {written}\n").pack.name == text


def test_texts_in_lists_and_mappings_are_literal_too() -> None:
    sandbox = decode(
        "version: {sandbox: {env_vars: {A: 1.50, 2: true, C: null}, additional_packages: [1.10]}}"
    ).version.sandbox

    assert sandbox is not None
    assert sandbox.env_vars == {"A": "1.50", "2": "true", "C": ""}
    assert sandbox.additional_packages == ["1.10"]


@pytest.mark.parametrize(
    ("written", "number"), [("1.9", 1), ("-1.9", -1), ("1e3", 1000), ("0x10", 16), ("~", 0), ("2147483647", 2**31 - 1)]
)
def test_a_whole_number_is_cut_off_from_any_number(written: str, number: int) -> None:
    assert decode(f"version: {{number: {written}}}").version.number == number


@pytest.mark.parametrize(
    "written", ['"1"', "true", "2147483648", "-2147483649", ".inf", ".nan", "[1]", "x", "2024-01-02"]
)
def test_what_is_no_whole_number_of_32_bits_is_refused(written: str) -> None:
    with pytest.raises(DecodeError):
        decode(f"version: {{number: {written}}}")


@pytest.mark.parametrize(
    ("written", "flag"),
    [("true", True), ("FALSE", False), ("yes", True), ("y", True), ("Y", True), ("on", True), ("'yes'", True),
     ("no", False), ("n", False), ("N", False), ("off", False), ("~", False)],
)  # fmt: skip
def test_a_flag_is_also_told_in_the_words_of_older_yaml(written: str, flag: bool) -> None:
    sandbox = decode(f"version: {{sandbox: {{network_access: {written}}}}}").version.sandbox

    assert sandbox is not None
    assert sandbox.network_access is flag


@pytest.mark.parametrize("written", ["1", "Yes", "ON", "'true'", "x", "[]", "0"])
def test_what_is_no_flag_is_refused(written: str) -> None:
    with pytest.raises(DecodeError):
        decode(f"version: {{sandbox: {{network_access: {written}}}}}")


@pytest.mark.parametrize(
    "written",
    ["7B0E6A52-4A1E-4E6E-9F0E-0D8F3F1F2A3B",
     "{7b0e6a52-4a1e-4e6e-9f0e-0d8f3f1f2a3b}", "7b0e6a524a1e4e6e9f0e0d8f3f1f2a3b",
     "urn:uuid:7b0e6a52-4a1e-4e6e-9f0e-0d8f3f1f2a3b"],
)  # fmt: skip
def test_an_artifact_id_has_one_form_however_it_is_written(written: str) -> None:
    bundle = decode(f"version: {{assets: [{{artifact_id: '{written}'}}]}}")

    assert bundle.version.assets[0].artifact_id == "7b0e6a52-4a1e-4e6e-9f0e-0d8f3f1f2a3b"


@pytest.mark.parametrize(
    "written", ["''", "x", "7b0e6a52-4a1e-4e6e-9f0e-0d8f3f1f2a3", "7b0e6a52-4a1e4e6e-9f0e-0d8f3f1f2a3b", "[]"]
)
def test_a_malformed_artifact_id_is_refused(written: str) -> None:
    with pytest.raises(DecodeError):
        decode(f"version: {{assets: [{{artifact_id: {written}}}]}}")


@pytest.mark.parametrize(
    "text",
    ["[]", "hello", "pack: []", "pack: x", "challenges: {a: 1}", "challenges: x", "challenges: [x]", "tools: []",
     "version: {tool_policy: []}", "version: {evaluation_spec: []}", "input_sets: [{cases: [{payload: [1]}]}]",
     "version: {sandbox: {env_vars: {A: {b: 1}}}}", "pack: {name: [a]}", "version: {sandbox: {network_allowlist: x}}",
     "version: {deployment_defaults: {lineups: {a: x}}}"],
)  # fmt: skip
def test_a_list_for_a_mapping_or_the_reverse_is_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        decode(text)


def test_the_error_names_the_field_and_its_line() -> None:
    with pytest.raises(DecodeError) as refused:
        decode("input_sets:\n  - cases:\n      - payload: [1]\n")

    assert str(refused.value) == "line 3: input_sets[0].cases[0].payload this list should be a mapping"
    assert refused.value.path == ("input_sets", 0, "cases", 0, "payload")


def test_the_error_of_a_spec_names_the_field_and_its_line_too() -> None:
    with pytest.raises(DecodeError) as refused:
        decode("version:\n  evaluation_spec:\n    validators:\n      - key: a\n        targt: b\n")

    assert refused.value.line == 5
    assert refused.value.path == ("version", "evaluation_spec", "validators", 0)
    assert "did you mean 'target'" in str(refused.value)


@pytest.mark.parametrize("text", ["null", "---\n...\n", "# nothing\n", "{}"])
def test_an_empty_bundle_has_every_error_of_an_empty_bundle(text: str) -> None:
    with pytest.raises(InvalidPack) as refused:
        parse_bundle(text)

    paths = {error.path for error in refused.value.errors}
    assert paths >= {"pack.slug", "version.number", "challenges", "input_sets", "version.evaluation_spec.name"}


@pytest.mark.parametrize(
    "place", ["payload: {x: .inf}", "payload: {x: [.nan]}", "inputs: [{key: a, kind: b, value: -.inf}]"]
)
def test_numbers_that_json_does_not_know_are_refused(place: str) -> None:
    with pytest.raises(DecodeError, match="JSON"):
        decode(f"input_sets: [{{cases: [{{{place}}}]}}]")


def test_the_spec_goes_through_json_where_whole_floats_are_integers() -> None:
    bundle = json.dumps(small()).replace('"version_number": 1', '"version_number": 1.0')

    assert parse_bundle(bundle).version.evaluation_spec.version_number == 1
    with pytest.raises(DecodeError):
        parse_bundle(json.dumps(small(version__evaluation_spec__version_number=1.5)))
    with pytest.raises(DecodeError):
        parse_bundle(json.dumps(small(version__evaluation_spec__name=12)))


def test_free_values_keep_their_types_and_keys_become_text() -> None:
    payload: Any = (
        decode(
            "input_sets: [{cases: [{payload: {1: a, true: b, 1.50: c, d: 2024-01-02, e: 0777, f: yes, g: {2: x}}}]}]"
        )
        .input_sets[0]
        .cases[0]
        .payload
    )

    assert payload == {
        "1": "a",
        "true": "b",
        "1.50": "c",
        "d": "2024-01-02T00:00:00Z",
        "e": 511,
        "f": "yes",
        "g": {"2": "x"},
    }


def test_unknown_keys_are_passed_over() -> None:
    bundle = parse_bundle(json.dumps(small(pack__color="red", unknown={"a": 1})))

    assert "color" not in json.dumps(manifest_json(bundle))
