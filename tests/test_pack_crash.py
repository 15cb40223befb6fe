"""`kill -9` of a worker while it evaluates a run: another does it, and there is one scorecard."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import httpx

from arena.client import client
from tests.bundles import SPEC, small
from tests.guests import comes_true
from tests.model_server import Reply, model_server
from tests.plugins.patience import BUNDLE
from tests.servers import Process
from tests.valkeys import connect


async def test_an_evaluation_outlives_its_worker_and_is_paid_for_once(store: str, tmp_path: Path) -> None:
    case = BUNDLE.input_sets[0].cases[0].effective_key
    cases = len(BUNDLE.input_sets[0].cases)
    evaluating = tmp_path / "evaluating"
    folder = str(tmp_path)
    with Process(store=store, workers=2, ARENA_LOAD="tests.plugins.patience", ARENA_TEST_FOLDER=folder) as process:
        async with client(process.ws) as player:
            made = await player.call("create", challengeType="patience")
            await player.call("join", invite=made["invites"][0])
            for _ in range(cases):
                await player.call("message", challengeId=made["id"], messageType="submit", content="{}")
        await comes_true(lambda: evaluating.exists() and len(evaluating.read_text().split()) >= cases, "all are taken")
        killed = int(evaluating.read_text().split()[0])
        os.kill(killed, signal.SIGKILL)
        (tmp_path / "go").touch()

        cards = await cards_of(f"{process.url}/api/challenges/patience/{made['id']}/scorecards")

    [seat] = cards["seats"]
    assert seat["cases"][0]["case"] == case
    assert (seat["card"]["cases"], len(seat["cases"])) == (cases, cases)
    workers = evaluating.read_text().split()
    assert len(workers) > cases
    assert str(killed) in workers
    paid = (tmp_path / "paid").read_text().split()
    assert len(paid) == len(set(paid)) == cases
    assert "error" not in json.dumps(seat["cases"])


async def cards_of(path: str) -> Any:
    """The scorecards of a game, once it is over."""
    async with httpx.AsyncClient() as reader:

        async def is_over() -> bool:
            return (await reader.get(path)).status_code == 200

        for _ in range(4):  # a runner counts as dead after twenty seconds
            try:
                await comes_true(is_over, "the game is over")
                break
            except AssertionError:
                continue
        return (await reader.get(path)).json()


def judged() -> bytes:
    """A pack with two judges, each of a model of its own."""
    judges = [
        {
            "key": name,
            "mode": "rubric",
            "rubric": "Is it kind?",
            "samples": 1,
            "model": f"gpt-{name}",
            "context_from": ["final_output"],
        }
        for name in ("quick", "slow")
    ]
    dimensions = [{"key": each["key"], "source": "llm_judge", "judge_key": each["key"]} for each in judges]
    spec = {**SPEC, "judge_mode": "hybrid", "llm_judges": judges, "scorecard": {"dimensions": dimensions}}
    pack = small(version__execution_mode="prompt_eval", version__evaluation_spec=spec, pack__slug="judged")
    return json.dumps(pack).encode()


async def test_a_judge_that_has_answered_is_not_asked_again_by_the_next_worker(store: str, tmp_path: Path) -> None:
    config = tmp_path / "arena.json"
    async with model_server() as models:
        models.says("gpt-slow", Reply(never=True))
        routes = [{"match": "*", "api": "openai", "baseUrl": models.openai}]
        config.write_text(json.dumps({"models": {"routes": routes}}))
        first, second = (Process(store=store, ARENA_CONFIG=str(config)) for _ in range(2))
        await asyncio.to_thread(first.start)
        async with httpx.AsyncClient(base_url=first.url) as keeper:
            published = await keeper.post("/api/packs", content=judged())
        async with client(first.ws) as player:
            made = await player.call("create", challengeType="judged")
            await player.call("join", invite=made["invites"][0])
            await player.call("message", challengeId=made["id"], messageType="submit", content="Dear friend")
            await models.hears(2)
            with connect(store) as redis:
                await comes_true(lambda: redis.keys(f"{{jobs}}:m:{made['id']}:*"), "an answer is kept")
            first.kill()
        await asyncio.to_thread(second.start)
        cards = await cards_of(f"{second.url}/api/challenges/judged/{made['id']}/scorecards")
        assert await asyncio.to_thread(second.stop) == 0

    assert published.status_code in {200, 201}, published.text
    [seat] = cards["seats"]
    assert seat["card"]["dimensions"] == {"quick": 0.75, "slow": 0.75}
    assert models.counted == {"gpt-quick": 1, "gpt-slow": 2}
