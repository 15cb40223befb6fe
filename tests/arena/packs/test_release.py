"""Releases: what is made of a pack before it is stored, without a server."""

import json
import pickle

import pytest

from arena.errors import Rejected, TooLarge
from arena.packs.library import named
from arena.packs.manifest import bundle_of, manifest_json
from arena.packs.public import public_manifest, scrubbed
from arena.packs.read import parse_bundle
from arena.packs.release import AssetHead, pack_id, prepare
from tests.shelves import quiz, vault


def test_the_same_content_has_the_same_ids_however_it_is_written() -> None:
    one, other = prepare(quiz()).release, prepare(b"# a remark\n" + quiz()).release

    same = ("challenge_pack_id", "challenge_pack_version_id", "evaluation_spec_id", "input_set_ids", "content_hash")
    assert [getattr(one, name) for name in same] == [getattr(other, name) for name in same]
    assert one.bundle_artifact_id != other.bundle_artifact_id
    assert one.challenge_pack_id == str(pack_id("quiz"))


def test_other_content_or_another_number_is_another_version_of_the_same_pack() -> None:
    releases = [
        prepare(text).release for text in (quiz(), quiz(number=2), quiz(challenges__0__title="Other"), quiz("other"))
    ]

    assert len({release.challenge_pack_version_id for release in releases}) == 4
    assert len({release.challenge_pack_id for release in releases}) == 2


@pytest.mark.parametrize("slug", ["Ünit", "a/b", "{meta}", "a@1", "-a", "x" * 65, "A", "a b"])
def test_a_slug_that_cannot_stand_in_an_address_is_refused(slug: str) -> None:
    with pytest.raises(Rejected) as refused:
        prepare(quiz(slug))

    assert [each["field"] for each in refused.value.findings] == ["pack.slug"]


def test_a_manifest_can_be_read_back_as_the_same_pack() -> None:
    manifest = json.loads(prepare(quiz()).manifest)

    assert manifest == manifest_json(parse_bundle(quiz()))
    assert manifest_json(bundle_of(manifest)) == manifest


def test_a_pack_that_grows_too_much_with_its_aliases_is_refused() -> None:
    cases = ", ".join(f'{{"challenge_key": "c", "case_key": "k{n}", "payload": {{"text": *x}}}}' for n in range(100))
    text = f"x: &x {'y' * 20_000}\npack: {{slug: a, name: A, family: f}}\n".encode() + (
        b"version: {number: 1, execution_mode: prompt_eval, evaluation_spec: {name: s, version_number: 1, "
        b"judge_mode: deterministic, validators: [{key: v, type: contains, target: final_output, "
        b"expected_from: 'literal:x'}], scorecard: {dimensions: [correctness]}}}\n"
        b"challenges: [{key: c, title: T, category: x, difficulty: easy}]\n"
        b"input_sets: [{key: d, name: D, cases: [" + cases.encode() + b"]}]\n"
    )

    with pytest.raises(TooLarge, match="aliases"):
        prepare(text)


def test_what_is_wrong_survives_the_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(Rejected("no", [{"field": "a"}])))

    assert (error.message, error.findings, error.code) == ("no", [{"field": "a"}], "INVALID_PACK")


def test_the_public_manifest_holds_no_secret_in_any_place() -> None:
    text, secrets = vault()
    made = prepare(text)

    shown = public_manifest(made.manifest).decode() + made.release.to_json().decode()

    assert [secret for secret in secrets if secret not in made.manifest.decode()] == []
    assert [secret for secret in secrets if secret in shown] == []


def test_secrets_are_hidden_in_keys_and_texts_the_longest_first() -> None:
    hidden = scrubbed({"a-long-secret": ["x long y", 1, None, True]}, ["a-long-secret", "long"])

    assert hidden == {"[hidden]": ["x [hidden] y", 1, None, True]}


def test_a_file_is_named_by_its_path_or_by_a_key_that_is_its_own() -> None:
    one, two, three = (AssetHead(key=key, path=path) for key, path in (("a", "x"), ("a", "y"), ("x", "z")))

    assert named([one, two, three], "y") == two
    assert named([one, two, three], "x") == one
    assert named([two, three], "x") == three
    for name, error in (("a", "Several"), ("b", "no such file")):
        with pytest.raises(Exception, match=error):
            named([one, two, three], name)
