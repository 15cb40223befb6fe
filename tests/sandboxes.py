"""Sandboxes for tests, and ways to look at them from outside."""

import asyncio
import secrets
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from arena.packs.sandbox.bubblewrap import Bubblewrap
from arena.packs.sandbox.cgroups import Cgroups
from arena.packs.sandbox.provider import MIB, Command, Finished, Limits, Way
from arena.packs.sandbox.tree import Tree

SMALL = Limits(seconds=20, memory=128 * MIB, disk=8 * MIB, files=500, processes=24, most_seconds=60)
NO_GROUPS = Cgroups()

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is a program for Linux")


async def run(
    line: str,
    *,
    tree: Tree | None = None,
    seconds: float | None = None,
    env: dict[str, str] | None = None,
    way: Way | None = None,
    limits: Limits = SMALL,
    groups: Cgroups | None = None,
    network: str = "public",
) -> Finished:
    """Run a line of shell in a sandbox of its own."""
    sandbox = Bubblewrap(limits, groups=groups, network=network)
    command = replace(Command.shell(line), seconds=seconds, env=env or {}, network=way)
    return await sandbox.run(tree or Tree(), command)


def python(code: str) -> str:
    """A line of shell that runs Python."""
    return f"python3 - <<'END'\n{code}\nEND\n"


def marker() -> str:
    """A word that is nowhere else on this machine."""
    return f"marked{secrets.token_hex(8)}"


def alive(mark: str) -> list[int]:
    """The processes of this machine that have a mark on their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


async def until(mark: str, *, lives: bool) -> None:
    """Wait until a marked process is there, or gone."""
    async with asyncio.timeout(60):
        while bool(alive(mark)) is not lives:  # noqa: ASYNC110 - the kernel has no event for us
            await asyncio.sleep(0.02)
