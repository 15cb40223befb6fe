"""Packs of our own, and real ones where there are any: `ARENA_TEST_PACKS` names a folder of packs with summaries."""

import json
from pathlib import Path

import pytest

from arena.packs.errors import PackError
from arena.packs.findings import examine
from arena.packs.manifest import bundle_of, manifest_json
from arena.packs.read import parse_bundle
from arena.packs.summary import summarise
from tests.bundles import ELSEWHERE, OURS

SUMMARIES = sorted(ELSEWHERE.glob("*.summary.json"))


@pytest.mark.parametrize("summary", SUMMARIES, ids=lambda path: path.name.partition(".")[0])
def test_a_real_pack_is_what_its_summary_says(summary: Path) -> None:
    expected = json.loads(summary.read_text())
    raw = (ELSEWHERE / expected.pop("file")).read_bytes()

    if not expected.pop("accepted"):
        with pytest.raises(PackError):
            parse_bundle(raw)
        assert examine(raw).decode_error is ("decode_error" in expected)
        return
    bundle = parse_bundle(raw)
    assert summarise(bundle) == expected
    assert manifest_json(bundle_of(manifest_json(bundle))) == manifest_json(bundle)


def test_our_packs_cover_every_mode_and_security() -> None:
    summaries = [summarise(parse_bundle(path.read_bytes())) for path in OURS]

    assert {each["execution_mode"] for each in summaries} == {"native", "prompt_eval", "responses", "multi_turn"}
    assert sum(each["is_security_pack"] for each in summaries) == 1
    assert len({each["slug"] for each in summaries}) == len(OURS) == 5


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_packs_are_filed_under_their_slug_and_bring_their_assets(path: Path) -> None:
    bundle = parse_bundle(path.read_bytes())

    assert bundle.pack.slug == path.stem
    assert all((path.parent / asset.path).is_file() for asset in bundle.version.assets)
