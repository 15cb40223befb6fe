"""Patience: tide-tables as a plugin, whose evaluation tells who does it and waits until it may go on."""

import asyncio
import os
from pathlib import Path

from pydantic import JsonValue

from arena.packs.operator.referee import Referee
from arena.packs.read import parse_bundle
from arena.workbench import Workbench

BUNDLE = parse_bundle((Path(__file__).parents[2] / "challenges" / "packs" / "tide-tables.yaml").read_bytes())
HERE = Path(os.environ.get("ARENA_TEST_FOLDER", "."))  # where those who evaluate leave a word


class Patience(Referee):
    """Pays for something once, however many workers die of it."""

    name = "patience"
    load = staticmethod(lambda number=0: BUNDLE)

    async def work(self, kind: str, payload: JsonValue, bench: Workbench) -> JsonValue:
        if await bench.recall("paid") is None:
            with (HERE / "paid").open("a") as file:
                file.write(f"{bench.job_id}\n")
            await bench.remember("paid", True)
        with (HERE / "evaluating").open("a") as file:
            file.write(f"{os.getpid()}\n")
        while not (HERE / "go").exists():  # noqa: ASYNC110 - told by another process
            await asyncio.sleep(0.01)
        return await super().work(kind, payload, bench)
