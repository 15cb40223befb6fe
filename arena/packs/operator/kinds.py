"""Which work a job of a pack is."""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import JsonValue

from arena.operator import JobFailed
from arena.packs.isolate import Stopped
from arena.packs.operator import evaluation, jobs
from arena.packs.operator.jobs import Desk
from arena.packs.operator.pack import Pack
from arena.packs.operator.seams import Fetch
from arena.workbench import Workbench

KINDS: dict[str, Callable[[Desk], Awaitable[JsonValue]]] = {
    "tool": jobs.tool,
    "upload": jobs.upload,
    "grade": jobs.grade,
    "show": jobs.show,
    "simulate": jobs.simulate,
    "question": evaluation.question,
    "rank": evaluation.rank,
    "evaluate": evaluation.evaluate,
}


async def work(pack: Pack, fetch: Fetch | None, kind: str, payload: Any, bench: Workbench) -> JsonValue:
    """Do a job of a pack."""
    try:
        return await KINDS[kind](Desk(pack, bench, payload or {}, fetch))
    except Stopped as stopped:
        raise JobFailed(f"the work was {stopped}") from None
