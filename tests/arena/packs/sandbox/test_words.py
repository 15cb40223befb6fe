"""What the page and the doctor say of sandboxes is so."""

import re
from pathlib import Path

import pytest

from arena.doctor import Level, sandboxes
from arena.packs.composed import may_use
from arena.packs.sandbox.tools.primitives import PRIMITIVES
from arena.settings import Settings
from tests.sandboxes import linux_only

PAGE = Path(__file__).parents[4] / "docs" / "sandbox.md"


def test_the_table_of_primitives_is_that_of_the_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (always|`allow_shell`|\w+) \| ([^|]*) \|", PAGE.read_text(), re.MULTILINE)

    told = {name: set(re.findall(r"`(\w+)`", arguments)) for name, _, arguments in rows}
    assert told == {name: set(each.parameters["properties"]) for name, each in PRIMITIVES.items()}
    for name, kind, _ in rows:
        policy = {"allow_shell": True} if "shell" in kind else {"allowed_tool_kinds": [kind]}
        assert kind == "always" or may_use(name, policy)
        assert kind == "always" or not may_use(name, {"allowed_tool_kinds": ["browser"]})


@linux_only
async def test_the_doctor_names_a_provider_that_works() -> None:
    found = [finding async for finding in sandboxes(Settings(sandbox="bubblewrap"))]

    assert [(each.level, each.check) for each in found] == [(Level.OK, "sandbox")]
    assert found[0].text.startswith("bubblewrap: memory is held by")


async def test_the_doctor_says_what_is_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    found = [finding async for finding in sandboxes(Settings())]

    assert [each.level for each in found] == [Level.WARN, Level.WARN]
    assert "bubblewrap is not installed" in found[0].text
    assert "native challenge packs are refused" in found[1].hint


async def test_switched_off_is_fine_with_the_doctor() -> None:
    assert [finding.level async for finding in sandboxes(Settings(sandbox="none"))] == [Level.OK]
