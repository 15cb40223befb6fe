import json
from typing import Any

import pytest

from arena.packs.blocks import Bundle
from arena.packs.manifest import manifest_json
from arena.packs.normal import normalise_bundle
from arena.packs.read import compose_text, decode_bundle, parse_bundle
from tests.bundles import OURS, small


def normal(**changes: Any) -> Bundle:
    return decode_bundle(compose_text(json.dumps(small(**changes))))


def test_names_are_trimmed_and_the_family_is_in_lower_case() -> None:
    bundle = normal(
        pack={"slug": " s ", "name": "\u2003N\u00a0", "family": " Test "},
        version__execution_mode=" native\n",
        challenges__0__difficulty=" easy ",
        challenges__0__instructions="\n Do it. \n",
        input_sets__0__key=" d ",
        version__assets=[{"key": " a ", "path": " p ", "kind": " k ", "media_type": " m "}],
    )

    assert (bundle.pack.slug, bundle.pack.name, bundle.pack.family) == ("s", "N", "test")
    assert bundle.version.execution_mode == "native"
    assert bundle.challenges[0].difficulty == "easy"
    assert bundle.challenges[0].instructions == "Do it."
    assert bundle.input_sets[0].key == "d"
    assert bundle.version.assets[0].document() == {"key": "a", "path": "p", "kind": "k", "media_type": "m"}


def test_what_unicode_does_not_call_white_space_is_kept() -> None:
    assert normal(pack__name="\x1cN\u200b").pack.name == "\x1cN\u200b"


@pytest.mark.parametrize(
    ("challenge", "definition"),
    [
        ({"instructions": "Do."}, {"instructions": "Do."}),
        ({"instructions": "Do.", "definition": {"a": 1}}, {"a": 1, "instructions": "Do."}),
        ({"instructions": "Do.", "definition": {"instructions": None}}, {"instructions": None}),
        ({"instructions": " ", "definition": None}, {}),
    ],
)
def test_instructions_are_copied_into_the_definition_unless_it_has_its_own(challenge: Any, definition: Any) -> None:
    bundle = normal(challenges=[{"key": "c", "title": "T", "category": "x", "difficulty": "easy", **challenge}])

    assert bundle.challenges[0].definition == definition


@pytest.mark.parametrize(
    ("case", "keys"),
    [
        ({"case_key": "a"}, ("a", "a")),
        ({"item_key": " b "}, ("b", "b")),
        ({"case_key": "a", "item_key": "b"}, ("a", "b")),
        ({"case_key": " ", "item_key": "b"}, ("b", "b")),
        ({}, ("", "")),
    ],
)
def test_the_two_keys_of_a_case_stand_in_for_each_other(case: Any, keys: tuple[str, str]) -> None:
    found = normal(input_sets__0__cases=[{"challenge_key": "c", **case}]).input_sets[0].cases[0]

    assert (found.case_key, found.item_key) == keys
    assert found.effective_key == keys[0]


def test_items_become_cases_only_when_there_are_none() -> None:
    items = [{"challenge_key": " c ", "item_key": " i ", "payload": {"a": 1}, "assets": [{"key": " x ", "path": "p"}]}]
    older = normal(input_sets=[{"key": "d", "name": "D", "items": items}]).input_sets[0]
    newer = normal(input_sets__0__items=items).input_sets[0]

    assert [(case.challenge_key, case.case_key, case.item_key) for case in older.cases] == [("c", "i", "i")]
    assert older.cases[0].assets[0].key == "x"
    assert older.items == []
    assert [case.case_key for case in newer.cases] == ["k"]


def test_deployment_defaults_that_say_nothing_are_unset() -> None:
    assert normal(version__deployment_defaults={"aliases": {}, "lineups": {}}).version.deployment_defaults is None
    kept = normal(version__deployment_defaults={"aliases": {" a ": " b "}}).version.deployment_defaults
    assert kept is not None
    assert kept.aliases == {"a": "b"}


def test_the_security_block_is_trimmed_and_lowered_where_case_means_nothing() -> None:
    security = normal(
        security={
            "default_severity": " HIGH ",
            "planted_secrets": [{"name": " N ", "value": " Va ", "location": " ENV ", "severity": "Low"}],
            "forbidden_egress": [{"description": " d ", "host": " Evil.COM ", "allow": [" Ok.COM "]}],
            "adversarial_prompts": [{"name": " n ", "text": " Text ", "strategy": " Urgency "}],
        }
    ).security

    assert security is not None
    assert security.document() == {
        "default_severity": "high",
        "planted_secrets": [{"name": "N", "value": "Va", "location": "env", "severity": "low"}],
        "forbidden_egress": [{"description": "d", "host": "evil.com", "allow": ["ok.com"]}],
        "adversarial_prompts": [{"name": "n", "text": " Text ", "strategy": "urgency"}],
    }


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_normalising_twice_is_normalising_once(path: Any) -> None:
    bundle = parse_bundle(path.read_bytes())

    assert normalise_bundle(bundle) == bundle
    assert manifest_json(normalise_bundle(bundle)) == manifest_json(bundle)
