"""`arena …` as a person runs it, and what it said: in a process of its own, or in this one where that is no matter."""

import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.cli import main
from arena.logs import OURS

COMMAND = [sys.executable, "-m", "arena"]
NOBODY = 65534
# Everything is imported before, since nobody may be unable to read where the interpreter or this checkout lies.
DROPPING = f"""
import os
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
"""


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


def arena(
    *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, stdin: str = ""
) -> Done:
    """Run it to its end; whatever happens, nobody is shown a traceback."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        env=environment(**env or {}),
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def call(
    *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, stdin: str = ""
) -> Done:
    """The same without the second that a process takes to begin, for what only looks, complains or computes."""
    said, complained = TextIOWrapper(BytesIO()), TextIOWrapper(BytesIO())
    with pytest.MonkeyPatch.context() as patch, own_logging():
        for name in os.environ.keys() - environment().keys():
            patch.delenv(name)
        for name, value in environment(**env or {}).items():
            patch.setenv(name, value)
        patch.chdir(cwd or Path.cwd())
        patch.setattr(sys, "argv", ["arena", *map(str, arguments)])
        patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin.encode())))
        patch.setattr(sys, "stdout", said)
        patch.setattr(sys, "stderr", complained)
        with pytest.raises(SystemExit) as end:
            main()
    out, err = (text_of(stream) for stream in (said, complained))
    assert "Traceback" not in out + err, err
    return Done(end.value.code or 0, out, err)  # type: ignore[arg-type]


def text_of(stream: TextIOWrapper) -> str:
    """All that was written to it."""
    stream.seek(0)
    return stream.read()


@contextmanager
def own_logging() -> Iterator[None]:
    """Let a command set up the logging of its process, and put ours back."""
    loggers = [logging.getLogger(name) for name in (None, *OURS)]
    before = [(logger, logger.level, logger.handlers[:]) for logger in loggers]
    silent = logging.root.manager.disable
    try:
        yield
    finally:
        logging.disable(silent)
        for logger, level, handlers in before:
            logger.handlers[:] = handlers
            logger.setLevel(level)


@contextmanager
def begun(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Run it beside the test; what it says to standard error can be read line by line."""
    command = [*COMMAND, *map(str, arguments)]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=environment(), **pipes) as running:  # type: ignore[call-overload]
        try:
            yield running
        finally:
            running.kill()


def as_nobody(imports: str, code: str, *arguments: str | Path) -> str:
    """Run Python without the rights of root, for whom no file is read-only; what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", imports + DROPPING + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def read_only_directory() -> Iterator[Path]:
    """A directory that everybody may look into and nobody but root may write to."""
    home = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        home.chmod(0o755)
        (home / "data").mkdir()
        (home / "data").chmod(0o555)
        yield home / "data"
    finally:
        shutil.rmtree(home)
