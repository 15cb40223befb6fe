"""`arena …` as a person runs it: a process of its own, and what it said."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

COMMAND = [sys.executable, "-m", "arena"]


class Done(NamedTuple):
    code: int
    out: str
    err: str


def environment(**env: str) -> dict[str, str]:
    """Ours, without what would change the arena's settings or colour its words."""
    return {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")} | {
        "COLUMNS": "200",
        "NO_COLOR": "1",
        **env,
    }


def arena(*arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Done:
    """Run it to its end; whatever happens, nobody is shown a traceback."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=cwd,
        env=environment(**env or {}),
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)
