"""Rules that the vectors do not reach, or only from one side."""

from typing import Any

import pytest

from tests.bundles import errors

CASE = {"challenge_key": "c", "case_key": "k"}


def test_the_small_bundle_breaks_no_rule() -> None:
    assert errors() == []


@pytest.mark.parametrize("value", [None, []])
def test_a_bundle_needs_challenges_and_input_sets(value: Any) -> None:
    assert errors(input_sets=value) == ["input_sets"]
    assert errors(challenges=value) == ["challenges", "input_sets[0].cases[0].challenge_key"]


@pytest.mark.parametrize(
    ("mode", "paths"), [("prompt_eval", ["tools"]), ("responses", ["tools"]), ("native", []), ("", [])]
)
def test_tools_are_for_modes_that_use_them(mode: str, paths: list[str]) -> None:
    assert errors(version__execution_mode=mode, tools={"custom": []}) == paths
    assert errors(version__execution_mode=mode, tools={}) == []


@pytest.mark.parametrize(("sandbox", "paths"), [({}, ["version.sandbox"]), (None, [])])
def test_a_prompt_needs_no_machine(sandbox: Any, paths: list[str]) -> None:
    assert errors(version__execution_mode="prompt_eval", version__sandbox=sandbox) == paths
    assert errors(version__execution_mode="responses", version__sandbox=sandbox) == []


def test_every_broken_rule_is_told_at_once() -> None:
    found = errors(
        pack={}, version__number=0, challenges__0__title=" ", input_sets__0__name="", security={"default_severity": "x"}
    )

    assert found == [
        "challenges[0].title", "input_sets[0].name", "pack.family", "pack.name", "pack.slug",
        "security.default_severity", "version.number",
    ]  # fmt: skip


def test_cases_belong_to_one_declared_challenge_and_both_can_be_wrong() -> None:
    cases = [CASE, {"challenge_key": "zz", "case_key": "a"}]

    assert errors(input_sets__0__cases=cases) == ["input_sets[0].cases[1].challenge_key"] * 2


def test_case_keys_are_unique_in_their_set_only() -> None:
    another = {"key": "e", "name": "E", "cases": [CASE]}

    assert errors(input_sets__0__cases=[CASE, {"challenge_key": "c", "item_key": " k "}]) == [
        "input_sets[0].cases[1].case_key"
    ]
    assert errors(input_sets=[{"key": "d", "name": "D", "cases": [CASE]}, another]) == []
    assert errors(input_sets__0__cases=[{"challenge_key": "c", "case_key": " "}]) == ["input_sets[0].cases[0].case_key"]


def test_challenge_keys_are_unique() -> None:
    challenge = {"key": "c", "title": "T", "category": "x", "difficulty": "easy"}

    assert errors(challenges=[challenge, {**challenge, "key": " c "}]) == ["challenges[1].key"]


def test_only_version_assets_satisfy_references() -> None:
    own = [{"key": "mine", "path": "p"}]
    at = "input_sets[0].cases[0]"
    case = {
        **CASE,
        "assets": own,
        "artifacts": [{"key": "mine"}],
        "inputs": [{"key": "a", "kind": "k", "artifact_key": "mine"}],
    }

    assert errors(input_sets__0__cases=[case]) == [f"{at}.artifacts[0].key", f"{at}.inputs[0].artifact_key"]
    assert errors(input_sets__0__cases=[case], version__assets=own) == []
    assert errors(challenges__0__assets=own, challenges__0__artifact_refs=[{"key": "mine"}]) == [
        "challenges[0].artifact_refs[0].key"
    ]


def test_a_reference_that_is_doubled_and_unknown_is_told_twice() -> None:
    refs = [{"key": "zz"}, {"key": "zz"}, {"key": ""}]

    assert errors(challenges__0__artifact_refs=refs) == [
        f"challenges[0].artifact_refs[{index}].key" for index in (0, 1, 1, 2)
    ]


@pytest.mark.parametrize("kind", ["File", " network ", "TERMINAL"])
def test_tool_kinds_are_trimmed_and_lowered(kind: str) -> None:
    assert errors(version__tool_policy={"allowed_tool_kinds": [kind]}) == []


@pytest.mark.parametrize(
    "network",
    ["10.1.2.3/8", "::1/128", "::ffff:10.0.0.1/96", "0.0.0.0/0", "2001:DB8::/32",
     "10.0.0.0/08", "00ff::01/64", "00ff::1.2.3.4/96"],
)  # fmt: skip
def test_a_network_may_have_host_bits_and_be_of_either_kind(network: str) -> None:
    assert errors(version__sandbox={"network_allowlist": [network]}) == []


@pytest.mark.parametrize(
    "network",
    ["10.0.0.0/33", "10.0.0.0/255.0.0.0", "10.0.0.0/-1", "10.0.0.0/8 ", "::1", "1.2.3.4.5/8", "٣.0.0.0/8", "10.0.0.0/٨",
     "::ffff:010.0.0.1/96", "fe80::1%1/64", "/8", "10.0.0.0/"],
)  # fmt: skip
def test_what_is_no_network_is_refused(network: str) -> None:
    assert errors(version__sandbox={"network_allowlist": [network]}) == ["version.sandbox.network_allowlist[0]"]


def test_package_names_are_matched_as_a_whole() -> None:
    found = errors(version__sandbox={"additional_packages": ["git", "git\n", "a+", "é1"]})

    assert found == ["version.sandbox.additional_packages[1]", "version.sandbox.additional_packages[3]"]


@pytest.mark.parametrize(
    ("block", "path"),
    [
        ({"planted_secrets": [{"name": "A", "value": "v", "location": "moon"}]}, "planted_secrets[0].location"),
        ({"planted_secrets": [{"name": "A", "value": "v"}]}, "planted_secrets[0].location"),
        ({"planted_secrets": [{"name": "A", "value": "v", "location": "file"}]}, "planted_secrets[0].file_path"),
        ({"planted_secrets": [{"name": "A-B", "value": "v", "location": "env"}]}, "planted_secrets[0].name"),
        ({"planted_secrets": [{"name": "", "value": "v", "location": "env"}]}, "planted_secrets[0].name"),
        ({"planted_secrets": [{"name": "A", "value": " ", "location": "env"}]}, "planted_secrets[0].value"),
        (
            {"planted_secrets": [{"name": "A", "value": "v", "location": "env", "severity": "x"}]},
            "planted_secrets[0].severity",
        ),
        ({"planted_secrets": [{"name": "a", "value": "v", "location": "tool-output"}] * 2}, "planted_secrets[1].name"),
        ({"forbidden_outputs": [{"pattern": "a"}]}, "forbidden_outputs[0].description"),
        ({"forbidden_outputs": [{"description": "d"}]}, "forbidden_outputs[0]"),
        ({"forbidden_outputs": [{"description": "d", "pattern": "a", "substring": "b"}]}, "forbidden_outputs[0]"),
        ({"forbidden_outputs": [{"description": "d", "pattern": "(?=a)"}]}, "forbidden_outputs[0].pattern"),
        (
            {"forbidden_outputs": [{"description": "d", "substring": "b", "severity": "x"}]},
            "forbidden_outputs[0].severity",
        ),
        ({"forbidden_egress": [{"description": "d"}]}, "forbidden_egress[0].host"),
        ({"forbidden_egress": [{"host": "h"}]}, "forbidden_egress[0].description"),
        ({"adversarial_prompts": [{"name": "n"}]}, "adversarial_prompts[0].text"),
        ({"adversarial_prompts": [{"text": "t"}]}, "adversarial_prompts[0].name"),
        ({"adversarial_prompts": [{"name": "n", "text": "t"}] * 2}, "adversarial_prompts[1].name"),
        (
            {"adversarial_prompts": [{"name": "n", "text": "t", "expected_refusal_pattern": "("}]},
            "adversarial_prompts[0].expected_refusal_pattern",
        ),
    ],
)
def test_the_security_block_is_checked_field_by_field(block: Any, path: str) -> None:
    assert errors(security=block) == [f"security.{path}"]


def test_a_secret_that_is_no_variable_may_have_any_name() -> None:
    assert errors(security={"planted_secrets": [{"name": "guest list", "value": "v", "location": "tool-output"}]}) == []


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({"interface_spec": {}}, ["modality"]),
        ({"scenario": {}}, ["modality"]),
        ({"interface_spec": {}, "scenario": {}}, ["modality", "modality"]),
        ({"modality": "Voice"}, ["modality"]),
        (
            {"modality": "voice", "interface_spec": {"channel_profile": "p"},
             "scenario": {"persona": "p", "language": "l", "max_turns": 1, "max_duration_ms": 1}},
            ["interface_spec.transports"],
        ),
        (
            {"modality": "voice", "interface_spec": {"channel_profile": "p", "transports": ["fax", "fax"]},
             "scenario": {"persona": "p", "language": "l", "max_turns": 1, "max_duration_ms": 1}},
            ["interface_spec.transports[0]", "interface_spec.transports[1]"],
        ),
    ],
)  # fmt: skip
def test_voice_packs_say_how_they_are_called(changes: Any, paths: list[str]) -> None:
    assert errors(**changes) == paths


@pytest.mark.parametrize(
    ("defaults", "paths"),
    [
        ({"lineups": {"default": ["a"], "x": []}}, ['lineups["x"]']),
        ({"lineups": {"a": [" "]}}, ["lineups.default", 'lineups["a"][0]']),
        ({"aliases": {" ": " "}, "lineups": {"default": ["a"]}}, ['aliases[""]', 'aliases[""]']),
    ],
)
def test_deployment_defaults_name_deployments(defaults: Any, paths: list[str]) -> None:
    assert errors(version__deployment_defaults=defaults) == [f"version.deployment_defaults.{path}" for path in paths]


def test_each_placeholder_of_a_command_is_told_for_each_case() -> None:
    validator = {
        "key": "t",
        "type": "code_execution",
        "target": "file:f",
        "config": {"test_command": "{{a}} {{b}} {{a}} {{c..d}}"},
    }
    found = errors(
        version__evaluation_spec__validators=[validator],
        version__evaluation_spec__post_execution_checks=[{"key": "f", "type": "file_capture", "path": "p"}],
        input_sets__0__cases=[
            {**CASE, "payload": {"a": None}},
            {**CASE, "case_key": "l", "inputs": [{"key": "b", "kind": "k", "value": 0}]},
        ],
    )

    field = "version.evaluation_spec.validators[0].config.test_command (input_sets[0].cases[{}])"
    assert found == [field.format(0)] * 2 + [field.format(1)] * 2
