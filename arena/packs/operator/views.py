"""Views: what of a race may be seen by whom. Nothing else turns the runs of a pack into something that leaves."""

from collections.abc import Sequence
from typing import Any

import orjson

from arena.packs.operator.cards import public
from arena.packs.operator.pack import Pack
from arena.packs.operator.seams import Event
from arena.packs.operator.state import Race, Run

_GRADED = ("validator_key", "exit_code", "timed_out", "passed_tests", "failed_tests", "error_tests", "total_tests")


def progress(race: Race, *, over: bool) -> list[dict[str, Any]]:
    """How far the runs are: before the end no more than that, after it why one failed."""
    return [
        {"seat": seat, "case": case, "stage": run.stage, **({"failed": run.failed} if over and run.failed else {})}
        for seat, runs in enumerate(race.runs)
        for case, run in runs.items()
    ]


def run_card(pack: Pack, run: Run, case: str, kept: bytes | None, *, whole: bool) -> Any:
    """The scorecard of a run; whole it tells what was expected, and is for admins alone."""
    if kept is None:
        reason = run.card.reason if run.card else ""
        return {"case": case, "error": reason or "there is no scorecard"}
    card = orjson.loads(kept)
    return card if whole else pack.veil(public(card))


def shown_events(pack: Pack, events: Sequence[Event], *, whole: bool) -> list[Any]:
    """Run events as their reader may see them: without planted secrets, and without what tests expected."""
    if whole:
        return list(events)
    return [pack.veil(_graded(event)) for event in events]


def _graded(event: Event) -> Event:
    if event["type"] != "grader.verification.code_executed":
        return event
    payload = {name: event["payload"][name] for name in _GRADED if name in event["payload"]}
    return {**event, "payload": payload}
