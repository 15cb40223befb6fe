import json
from pathlib import Path
from typing import Any

import pytest

from arena.packs.errors import DecodeError, InvalidPack
from arena.packs.lock import content_hash
from arena.packs.manifest import bundle_of, manifest_json, spec_of
from arena.packs.normal import normalise_bundle
from arena.packs.read import parse_bundle
from arena.packs.rules import validate_bundle
from tests.bundles import OURS, small


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_a_manifest_read_back_is_the_same_pack(path: Path) -> None:
    bundle = parse_bundle(path.read_bytes())
    manifest = manifest_json(bundle)

    again = bundle_of(json.loads(json.dumps(manifest)))

    assert manifest_json(again) == manifest
    assert normalise_bundle(again) == bundle
    assert validate_bundle(again) == []
    assert content_hash(again) == content_hash(bundle)


def test_a_version_has_a_template_id_as_soon_as_there_is_a_sandbox() -> None:
    without = manifest_json(parse_bundle(json.dumps(small())))
    empty = manifest_json(parse_bundle(json.dumps(small(version__sandbox={}))))

    assert "sandbox_template_id" not in without["version"]
    assert "sandbox" not in without
    assert empty["version"]["sandbox_template_id"] == ""
    assert empty["sandbox"] == {"network_access": False}


def test_what_a_pack_does_not_have_is_null_or_left_out() -> None:
    manifest = manifest_json(parse_bundle(json.dumps(small())))

    assert manifest["version"] == {"number": 1, "assets": None, "execution_mode": "native"}
    assert manifest["tool_policy"] is None
    assert manifest["filesystem"] is None
    assert not {"modality", "interface_spec", "scenario", "tools", "security"} & set(manifest)
    assert manifest["input_sets"][0]["cases"] == [{"challenge_key": "c", "case_key": "k", "item_key": "k"}]


def test_the_spec_in_a_manifest_is_as_authored() -> None:
    spec = manifest_json(parse_bundle(json.dumps(small())))["evaluation_spec"]

    assert spec["scorecard"] == {"dimensions": [{"key": "correctness", "source": ""}], "normalization": {}}
    assert spec["runtime_limits"] == {}
    assert spec["pricing"] == {}
    assert spec["metrics"] is None


def test_something_that_is_no_manifest_is_refused() -> None:
    with pytest.raises(DecodeError, match="schema_version"):
        bundle_of({"pack": {}})
    with pytest.raises(DecodeError):
        bundle_of({"schema_version": 1, "version": {"number": "1"}})
    with pytest.raises(DecodeError):
        bundle_of({"schema_version": 1, "version": [1]})
    with pytest.raises(DecodeError, match="nested"):
        bundle_of({"schema_version": 1, "tools": deep(5000)})


def deep(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def test_a_spec_is_read_from_a_manifest_alone() -> None:
    spec = spec_of({"evaluation_spec": small()["version"]["evaluation_spec"], "pack": "whatever"})

    assert spec.scorecard.strategy == "weighted"
    assert spec.scorecard.dimensions[0].source == "validators"


def test_a_manifest_without_a_usable_spec_is_refused() -> None:
    with pytest.raises(InvalidPack, match="evaluation_spec is required"):
        spec_of({"pack": {}})
    with pytest.raises(InvalidPack, match=r"evaluation_spec\.name is required"):
        spec_of({"evaluation_spec": {}})
    with pytest.raises(DecodeError):
        spec_of({"evaluation_spec": {"nmae": "x"}})
    with pytest.raises(DecodeError):
        spec_of({"evaluation_spec": "x"})
