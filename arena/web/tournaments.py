"""The door of tournaments: they are begun, shown, stopped and gone on with. Nothing that comes in here is ever run."""

from typing import Any

from pydantic import Field, JsonValue

from arena.errors import Forbidden, Invalid
from arena.models import Key
from arena.session import Session
from arena.tournament import report_text
from arena.tournament.entry import Entry
from arena.tournament.games import Game
from arena.tournament.report import report
from arena.tournament.shown import FRESH
from arena.tournament.views import games_view, head_view, view
from arena.web.calls.bodies import Body, read
from arena.web.calls.lists import stretch
from arena.web.errors import CODED
from arena.web.packs import is_keeper
from arena.web.routing import Call, File, Route

FORMATS = {"md": "text/markdown; charset=utf-8", "html": "text/html; charset=utf-8", "json": "application/json"}


class NewTournament(Body):
    """A tournament that is to begin."""

    setup: dict[str, JsonValue]
    key: Key | None = None


class Paused(Body):
    """There is nothing to say about it."""


class Resumed(Body):
    """What is to be otherwise from now on."""

    budget: dict[str, JsonValue] | None = None
    concurrency: int | None = Field(default=None, ge=1, le=64)


async def tournaments(call: Call) -> Any:
    """All of them, the newest first."""
    part = stretch(call.query, 20)
    store = call.arena.tournaments.store
    ids, total = await store.ids(part.offset, part.limit)
    found = [await call.arena.tournaments.shown.get(id_, head_view, fresh=FRESH) for id_ in ids]
    return {"tournaments": found, "total": total, **part._asdict()}


async def create(call: Call) -> Any:
    """A new one."""
    check_host(call)
    wish = read(NewTournament, call.body)
    entry = await call.arena.tournaments.create(wish.setup, wish.key or "")
    call.arena.tournaments.nudge()
    return view(entry)


async def tournament(call: Call) -> Any:
    """One of them."""
    return await call.arena.tournaments.shown.get(call.argument, view, fresh=FRESH)


async def games(call: Call) -> Any:
    """Its games."""
    part = stretch(call.query, 100)
    found = await call.arena.tournaments.shown.get(call.argument, games_view)
    return {"games": found[part.offset : part.offset + part.limit], "total": len(found), **part._asdict()}


async def show_report(call: Call) -> Any:
    """What it has to say."""
    form = call.query.get("format", "json")
    if form not in FORMATS:
        raise Invalid(f"A report is {', '.join(FORMATS)}.")
    told = await call.arena.tournaments.shown.get(call.argument, report, aside=True)
    if form == "json":
        return told
    text = report_text.markdown(told) if form == "md" else report_text.html(told)
    return File(text.encode(), FORMATS[form], f"tournament-{told['tournament']['id']}.{form}")


async def seats(call: Call) -> Any:
    """The seats that wait for programs and models, with their invites, for whoever runs these."""
    check_host(call)
    entry = await _entry(call)
    waiting = [game for game in entry.games.values() if not game.is_over and _waits(entry, game)]
    sessions = [await call.arena.sessions.load(game.session) for game in waiting]
    there = [(game, session) for game, session in zip(waiting, sessions, strict=True) if session is not None]
    return {"games": [_seats(*pair) for pair in there], "phase": entry.standing.phase}


async def pause(call: Call) -> Any:
    """No more games for now."""
    check_host(call)
    read(Paused, call.wish)
    return view(await call.arena.tournaments.pause(call.argument))


async def resume(call: Call) -> Any:
    """More games."""
    check_host(call)
    wish = read(Resumed, call.wish)
    entry = await call.arena.tournaments.resume(call.argument, budget=wish.budget, concurrency=wish.concurrency)
    return view(entry)


def check_host(call: Call) -> None:
    """Refuse whoever may not have tournaments played here."""
    if not is_keeper(call):
        raise Forbidden("Tournaments are held by admins: show the token of this server as a bearer.")


async def _entry(call: Call) -> Entry:
    return await call.arena.tournaments.load(call.argument)


def _waits(entry: Entry, game: Game) -> bool:
    """Whether others than the server play it, and it was begun since they came last."""
    return game.run == entry.standing.run and not all(entry.setup.agent(name).is_ours for name in game.seats)


def _seats(game: Game, session: Session) -> dict[str, Any]:
    invites = session.header.invites[: len(game.seats)]
    return {
        "key": game.key,
        "session": game.session,
        "attempt": game.attempt,
        "seats": [{"agent": name, "invite": invite} for name, invite in zip(game.seats, invites, strict=True)],
    }


ROUTES = (
    Route("GET", "/tournaments", tournaments, CODED),
    Route("POST", "/tournaments", create, CODED),
    Route("GET", "/tournaments/{id}", tournament, CODED),
    Route("GET", "/tournaments/{id}/games", games, CODED),
    Route("GET", "/tournaments/{id}/report", show_report, CODED),
    Route("GET", "/tournaments/{id}/seats", seats, CODED),
    Route("POST", "/tournaments/{id}/pause", pause, CODED),
    Route("POST", "/tournaments/{id}/resume", resume, CODED),
)
