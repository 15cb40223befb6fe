"""Bundles for tests: a small one that works, and ways to change it."""

import copy
import json
import os
from pathlib import Path
from typing import Any

from arena.packs.errors import InvalidPack
from arena.packs.nodes import Items, compose
from arena.packs.read import parse_bundle
from arena.packs.shapes import decode_any

ROOT = Path(__file__).parents[1]
OURS = sorted((ROOT / "challenges" / "packs").glob("*.yaml"))
ELSEWHERE = Path(os.environ.get("ARENA_TEST_PACKS") or ROOT.parent / "shared" / "packs")  # real packs, if there are any

SPEC: dict[str, Any] = {
    "name": "spec",
    "version_number": 1,
    "judge_mode": "deterministic",
    "validators": [{"key": "v", "type": "exact_match", "target": "final_output", "expected_from": "literal:x"}],
    "scorecard": {"dimensions": ["correctness"]},
}
SMALL: dict[str, Any] = {
    "pack": {"slug": "small", "name": "Small", "family": "test"},
    "version": {"number": 1, "execution_mode": "native", "evaluation_spec": SPEC},
    "challenges": [{"key": "c", "title": "T", "category": "x", "difficulty": "easy", "instructions": "Do."}],
    "input_sets": [{"key": "d", "name": "D", "cases": [{"challenge_key": "c", "case_key": "k"}]}],
}


def data(path: Path) -> Any:
    """A pack as plain data, as its author wrote it."""
    return decode_any(compose(path.read_text()) or Items(1))


def small(**changes: Any) -> dict[str, Any]:
    """The small bundle; `version__sandbox={}` sets a member inside a member, `challenges__0__key` in a list."""
    bundle = copy.deepcopy(SMALL)
    for path, value in changes.items():
        *way, last = (int(part) if part.isdigit() else part for part in path.split("__"))
        place: Any = bundle
        for part in way:
            place = place[part]
        place[last] = value
    return bundle


def errors(**changes: Any) -> list[str]:
    """The paths of what is wrong with the small bundle after changes, sorted."""
    try:
        parse_bundle(json.dumps(small(**changes)))
    except InvalidPack as error:
        return sorted(each.path for each in error.errors)
    return []
