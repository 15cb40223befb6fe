"""Races: packs that are played at a table, without a server."""

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from arena.catalog import ChallengeType
from arena.models import Status
from arena.pack_score import Run, score
from arena.packs.blocks import Bundle
from arena.packs.operator import pack_type
from arena.packs.operator.options import PackOptions
from arena.packs.operator.state import Race
from arena.packs.read import parse_bundle
from arena.testing import Table
from tests.bundles import ROOT

PACKS = ROOT / "challenges" / "packs"
RaceTable = Table[Race, PackOptions]


def bundle_of(pack: str | dict[str, Any]) -> Bundle:
    """A pack of ours by name, or one that is given."""
    text = (PACKS / f"{pack}.yaml").read_bytes() if isinstance(pack, str) else json.dumps(pack).encode()
    return parse_bundle(text)


def kind_of(pack: str | dict[str, Any]) -> ChallengeType:
    """The challenge that a pack is."""
    bundle = bundle_of(pack)
    return pack_type(bundle.pack.slug, lambda number: bundle)


def race(pack: str | dict[str, Any], *, seated: int | None = None, **options: Any) -> RaceTable:
    """A table at which a pack is played."""
    return Table(kind_of(pack).operator(options), seated=seated)


def told(table: RaceTable, seat: int, type: str | None = None) -> list[dict[str, Any]]:
    """What a seat was told, as data."""
    found = [json.loads(text) for text in table.told(seat) if text.startswith("{")]
    return [each for each in found if type in {None, each["type"]}]


def said(table: RaceTable, type: str | None = None) -> list[dict[str, Any]]:
    """What everybody was told, as data."""
    found = [json.loads(text) for text in table.said if text.startswith("{")]
    return [each for each in found if type in {None, each["type"]}]


async def work_off(table: RaceTable) -> None:
    """Do all jobs that the table waits for, and those that come of them."""
    while table.jobs and table.status is Status.ACTIVE:
        await table.work()


def card(table: RaceTable, seat: int, case: str) -> dict[str, Any]:
    """The evaluation of a run, as it was kept, with its posture if the pack is about security."""
    made = table.state.runs[seat][case].card
    assert made is not None, f"no card: {table.faults}"
    assert made.card, made.reason
    found: dict[str, Any] = json.loads(table.bench.kept[made.card])
    return found


def events(table: RaceTable, seat: int, case: str) -> list[dict[str, Any]]:
    """The events of a run, with what graders found."""
    graded = table.state.runs[seat][case].graded
    found = [
        line["event"] for line in table.notes if (line["seat"], line.get("case")) == (seat, case) and "event" in line
    ]
    return [*found, *(json.loads(table.bench.kept[graded]) if graded else ())]


async def offline(
    bundle: Bundle, case: str, found: Iterable[dict[str, Any]], folder: Path, judges: Any = None, **more: Any
) -> dict[str, Any]:
    """What `arena pack score` makes of the same events."""
    path = folder / "events.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in found))
    if judges is not None:
        (folder / "judges.json").write_text(json.dumps(judges))
        more["judges"] = folder / "judges.json"
    made = await asyncio.to_thread(score, bundle, Run(case, path, **more))
    found_offline: dict[str, Any] = json.loads(json.dumps(made))
    return found_offline
