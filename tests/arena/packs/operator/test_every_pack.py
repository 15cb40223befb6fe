"""Every pack there is, played to its end by an agent that always says the same, with judges that are models."""

from pathlib import Path
from typing import Any

import pytest

from arena.models import Status
from arena.packs.findings import examine
from arena.packs.operator import pack_type
from arena.testing import Table
from tests.bundles import ELSEWHERE, OURS
from tests.drawers import Drawer
from tests.judging import models_at
from tests.model_server import model_server
from tests.races import RaceTable, card, events, offline, work_off

FOUND = [*OURS, *sorted(ELSEWHERE.glob("*.yaml"))]
PACKS = {path.stem: made.bundle for path in FOUND if (made := examine(path.read_bytes())).ok}
PRICES = [{"match": "*", "input": 1, "output": 1}]
ROUTES: list[dict[str, Any]] = [{"match": "*", "api": "openai"}]


def move(table: RaceTable) -> None:
    """Say something wherever something is waited for; if nobody waits for the agent, let time pass."""
    for seat, runs in enumerate(table.state.runs):
        for case, run in runs.items():
            if run.stage != "running":
                continue
            if run.talk is None:
                table.act(seat, "submit", {"output": "42 kittens", "case": case})
            elif run.talk.waits_for == "agent":
                table.act(seat, "reply", {"content": "42 kittens", "case": case})
            else:
                table.advance(1_800)
            return


@pytest.mark.parametrize("name", PACKS)
async def test_a_pack_is_played_to_its_end_and_scored_as_offline(name: str, tmp_path: Path) -> None:
    bundle = PACKS[name]
    assert bundle is not None
    kind = pack_type(bundle.pack.slug, lambda number: bundle)
    input_set = bundle.input_sets[0].key
    table: RaceTable = Table(kind.operator({"players": 2, "input_set": input_set, "order": "at-once"}))
    table.bench.sandbox = Drawer()
    async with model_server() as server:
        routes = [{**route, "baseUrl": f"{server.url}/v1"} for route in ROUTES]
        async with models_at(server.url, prices=PRICES, routes=routes) as models:
            table.bench.models = models
            for _ in range(500):
                move(table)
                await work_off(table)
                if table.status is Status.ENDED:
                    break

    assert table.status is Status.ENDED
    assert table.faults == []
    case = next(iter(table.state.runs[0]))
    mine, found = card(table, 1, case), events(table, 1, case)
    assert mine == await offline(bundle, case, found, tmp_path, mine["llm_judge_results"], input_set=input_set)
    assert table.again() == table.session
    await table.bench.isolate.close()
