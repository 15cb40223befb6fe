"""Sessions of a server as runs: what each seat came to, once the game is over."""

import re
from typing import Any

from arena.client import client
from arena.client.connection import LOST
from arena.errors import CannotStart, Refused
from arena.evals.play import Server
from arena.evals.runs import PackRef, Run, trial_of
from arena.models import Millis

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_session(name: str) -> bool:
    """Whether a name is the id of a session, and not one of a run that is kept here."""
    return _ID.fullmatch(name) is not None


async def runs_of(server: Server, id_: str) -> list[Run]:
    """The seats of a session, a run for each."""
    try:
        async with client(server.ws) as guest:
            told = await guest.call("scorecards", challengeId=id_)
    except Refused as refusal:
        raise CannotStart(f"{refusal.message} ({refusal.code})") from None
    except LOST as error:
        raise CannotStart(f"{server.url} does not answer: {error}") from None
    return [_run(id_, seat) for seat in told["seats"]]


def _run(id_: str, seat: dict[str, Any]) -> Run:
    packs = (case["pack"] for case in seat["cases"] if "pack" in case)
    ref = PackRef.model_validate(next(packs, {"slug": "", "version": 0, "content_hash": ""}))
    name = f"{id_}-{seat['seat'] + 1}"
    return Run(id=name, created_at=Millis(0), pack=ref, agent=f"seat {seat['seat'] + 1}", trials=[trial_of(seat, id_)])
