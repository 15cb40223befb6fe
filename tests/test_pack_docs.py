"""Every YAML example about packs is a pack, or a change to the first one on its page that makes another pack."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from arena.packs.findings import examine
from arena.packs.nodes import MAX_BYTES, MAX_DEPTH, MAX_NODES, Items, compose
from arena.packs.shapes import decode_any
from tests.commands import call

PAGE = Path(__file__).parents[1] / "docs" / "packs.md"
EXAMPLES = [
    (PAGE.read_text()[: found.start()].count("\n") + 1, found[1])
    for found in re.finditer(r"^```yaml[^\n]*\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
]
FIRST = EXAMPLES[0][1]


def merged(base: Any, change: Any) -> Any:
    """A pack with a change laid over it: mappings member by member, everything else as a whole."""
    if not isinstance(base, dict) or not isinstance(change, dict):
        return change
    return {**base, **{name: merged(base.get(name), value) for name, value in change.items()}}


def read(text: str) -> Any:
    return decode_any(compose(text) or Items(1))


@pytest.mark.parametrize("example", [text for _, text in EXAMPLES], ids=[f"line {line}" for line, _ in EXAMPLES])
def test_an_example_on_the_page_makes_a_pack(example: str) -> None:
    found = examine(json.dumps(merged(copy.deepcopy(read(FIRST)), read(example))))

    assert found.errors == []
    assert found.warnings == []


def test_an_example_with_a_mistake_would_be_found() -> None:
    found = examine(json.dumps(merged(read(FIRST), {"version": {"execution_mode": "agentic"}})))

    assert [each.field for each in found.errors] == ["version.execution_mode"]


def test_the_limits_on_the_page_are_those_of_the_code() -> None:
    text = " ".join(PAGE.read_text().split())

    assert f"{MAX_BYTES // 2**20} MiB, {MAX_NODES:,} values with all aliases unfolded, and {MAX_DEPTH} levels" in text


def test_the_tutorial_can_be_followed_to_its_score(tmp_path: Path) -> None:
    text = PAGE.read_text()
    (tmp_path / "recipes.yaml").write_text(FIRST)
    events = re.search(r"^```json file=flour.json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert events
    (tmp_path / "flour.json").write_text(events[1])
    told = re.search(r"^```text\n(recipes flour.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert told

    checked = call("pack", "validate", "--strict", "recipes.yaml", cwd=tmp_path)
    score = call("pack", "score", "--pack", "recipes.yaml", "--case", "flour", "--events", "flour.json", cwd=tmp_path)

    assert checked.out == "recipes.yaml: ok\n"
    assert score.out.startswith(told[1])
