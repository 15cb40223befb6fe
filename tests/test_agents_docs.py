"""The quick starts of docs/agents.md as a reader follows them: ten lines of Python, and a player in plain shell."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

from arena.client import Arena
from tests.commands import COMMAND, environment
from tests.servers import Served
from tests.test_docs import ROOT, blocks

PAGE = ROOT / "docs" / "agents.md"


def written(folder: Path, name: str) -> str:
    """A file of the page, saved under its name; its code."""
    (block,) = (block for block in blocks(PAGE) if block.file == name)
    (folder / name).write_text(block.code)
    return block.code


async def test_the_first_agent_has_ten_lines_and_beats_or_loses_to_one_in_shell(arena: Served, tmp_path: Path) -> None:
    python, shell = written(tmp_path, "agent.py"), written(tmp_path, "agent.sh")
    async with Arena(arena.url) as host:
        first, second = (await host.create("millionaire")).invites

        async def run(*words: str) -> tuple[int | None, str]:
            running = await asyncio.create_subprocess_exec(
                *words, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=tmp_path, env=environment(ARENA_URL=arena.url)
            )
            out, err = await running.communicate()
            assert running.returncode == 0, err.decode()
            return running.returncode, out.decode()

        ours, theirs = await asyncio.gather(
            run(sys.executable, "agent.py", first, arena.url),
            run(*COMMAND, "play", second, "--cmd", "sh agent.sh", "--user", "plain-shell"),
        )
        board = await host.leaderboard("millionaire")

    assert next(block.file for block in blocks(PAGE)) == "agent.py"
    assert len([line for line in python.splitlines() if line.strip()]) == 10
    assert "python" not in shell
    assert "utility" in ours[1]
    assert "agent (player" in theirs[1]
    assert {entry.player_id for entry in board} == {"ten-lines", "plain-shell"}
