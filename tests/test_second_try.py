"""`.ci/pytest`: what fails among others is tried once more alone, and what is broken stays broken."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ONLY_ONCE = """
from pathlib import Path

def test_that_fails_the_first_time():
    seen = Path("seen")
    was_there = seen.exists()
    seen.touch()
    assert was_there
"""
ALWAYS = "def test_that_is_broken(): assert 0\n"
NEVER = "def test_that_passes(): open('passes', 'a').write('.')\n"


def run(folder: Path, *sources: str) -> tuple[int, str]:
    """The script over files of these tests: its exit code and all it said."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    for number, source in enumerate(sources):
        (folder / f"test_{number}.py").write_text(source)
    command = [str(ROOT / ".ci/pytest"), "-q", "-p", "xdist"]
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # they take seconds to load
    ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout


def test_what_fails_once_is_named_tried_again_alone_and_counts_as_passed(tmp_path: Path) -> None:
    code, said = run(tmp_path, ONLY_ONCE, NEVER)

    first, _, second = said.partition("A second try, one at a time, for what failed (1):\n")
    assert code == 0
    assert "1 failed, 1 passed" in first
    assert second.startswith("test_0.py::test_that_fails_the_first_time\n")
    assert second.splitlines()[-1].startswith("1 passed")
    assert (tmp_path / "passes").read_text() == "."


def test_what_is_broken_fails_the_second_time_too(tmp_path: Path) -> None:
    code, said = run(tmp_path, ALWAYS, ONLY_ONCE)

    assert code == 1
    assert said.splitlines()[-1].startswith("1 failed, 1 passed")


@pytest.mark.parametrize(
    ("sources", "code"),
    [([NEVER], 0), ([ALWAYS] * 6, 1), (["import nothing_like_that"], 2), ([""], 5)],
    ids=["nothing failed", "too many", "broken file", "no tests"],
)
def test_otherwise_there_is_one_try_and_its_exit_code(tmp_path: Path, sources: list[str], code: int) -> None:
    found, said = run(tmp_path, *sources)

    assert found == code
    assert "second try" not in said
