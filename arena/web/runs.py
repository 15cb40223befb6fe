"""The routes of packs that are played: runs, their events, scorecards and votes."""

from typing import Any

from arena.models import SessionId
from arena.web.calls import runs
from arena.web.errors import CODED
from arena.web.packs import check_keeper
from arena.web.routing import Call, File, Route


async def progress(call: Call) -> Any:
    """How far the runs are."""
    return (await _runs(call)).progress()


async def events(call: Call) -> Any:
    """What happened in a run."""
    _, _, seat, case = call.arguments
    return File(await (await _runs(call)).events(seat, case), "application/x-ndjson")


async def scorecards(call: Call) -> Any:
    """What the evaluation found; all of it to those who keep the packs and ask for it."""
    whole = call.query.get("whole") == "true"
    if whole:
        check_keeper(call)
    return await (await _runs(call)).scorecards(whole=whole)


async def vote(call: Call) -> Any:
    """A vote."""
    await _runs(call)
    return await runs.vote(call.arena, SessionId(call.arguments[1]), call.body, call.origin)


async def _runs(call: Call) -> runs.Runs:
    type_, id_, *_ = call.arguments
    return await runs.runs_of(call.arena, call.viewer, id_, type_)


ROUTES = (
    Route("GET", "/challenges/{name}/{id}/runs", progress, CODED),
    Route("GET", "/challenges/{name}/{id}/runs/{seat}/{case}/events", events, CODED),
    Route("GET", "/challenges/{name}/{id}/scorecards", scorecards, CODED),
    Route("POST", "/challenges/{name}/{id}/votes", vote, CODED),
)
