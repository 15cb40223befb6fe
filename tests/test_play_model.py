"""`arena play --model` as people run it: a process of its own against a real server and a scripted provider."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from arena.client import Arena
from arena.players import play, player_of
from tests.model_server import Call, ModelServer, Reply, model_server
from tests.servers import Served

KEY = "sk-very-secret-0123456789"


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        yield running


async def run(arena: Served, *words: str, **env: str) -> tuple[int, str, str]:
    """Run `arena play` on one seat, with a house bot on the other."""
    async with Arena(arena.url) as host:
        mine, other = (await host.create("psi")).invites
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "arena", "play", mine, "--url", arena.url, "--user", "ada", *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **env},
    )
    rival = asyncio.create_task(play(player_of(bot="psi/honest"), other, arena.url, user="ben", rng=Random(7)))
    async with asyncio.timeout(120):
        out, err = await process.communicate()
        if process.returncode in {0, 3, 4}:
            await rival
    rival.cancel()
    await asyncio.gather(rival, return_exceptions=True)
    return process.returncode or 0, out.decode(), err.decode()


def guess(call: Call) -> Reply:
    found = re.findall(r"private set is: \{([^}]*)\}", json.dumps(call.body))[0]
    return Reply("\x1b[2J", tools=[("chat", {"text": "Hi \x1b[2J"}), ("guess", {"content": found})])


async def test_a_game_from_the_command_line(arena: Served, models: ModelServer, tmp_path: Path) -> None:
    models.otherwise = guess
    hint, file = tmp_path / "hint.txt", tmp_path / "game.jsonl"
    hint.write_text("Play like a pirate.")
    words = ["--base-url", models.openai, "--price", "2/8", "--max-cost", "1", "--temperature", "0.5"]

    code, out, err = await run(
        arena,
        *("--model", "tiny", *words, "--system", str(hint), "--transcript", str(file), "--json"),
        ARENA_MODEL_KEY=KEY,
        OPENAI_API_KEY="sk-of-somebody-else",
    )

    assert code == 0, err
    told = json.loads(out)
    assert (told["model"], told["moves"], told["usage"]["calls"]) == ("tiny", 1, len(models.calls))
    assert told["score"] == told["state"]["scores"][told["playerIndex"]]
    assert {call.key for call in models.calls} == {KEY}
    assert models.calls[0].body["temperature"] == 0.5
    assert "Play like a pirate." in models.calls[0].system
    assert KEY not in out + err + file.read_text()


async def test_what_a_person_sees_can_do_nothing_to_a_terminal(arena: Served, models: ModelServer) -> None:
    models.otherwise = guess

    code, out, err = await run(arena, "--model", "claude-tiny", "--base-url", models.url, "--api", "anthropic")

    assert code == 0, err
    assert "The model took 1 calls, 100 tokens in, 10 out" in out
    assert "guess" in err
    assert "\x1b" not in out + err


async def test_exit_codes_tell_what_stopped_a_model(arena: Served, models: ModelServer) -> None:
    models.otherwise = lambda call: Reply(status=401)
    place = ("--model", "tiny", "--base-url", models.openai)

    failed = await run(arena, *place)
    spent = await run(arena, *place, "--max-turns", "0")
    priceless = await run(arena, *place, "--max-cost", "1")

    assert (failed[0], spent[0], priceless[0]) == (3, 4, 1)
    assert "the key is not accepted" in failed[1]
    assert "there are no more" in spent[1]
    assert "price" in priceless[2]
    assert len(models.calls) == 1
