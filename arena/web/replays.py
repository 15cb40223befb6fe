"""Replays to take home: a session as one file for a browser, or as lines for programs."""

import asyncio
import re
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from arena.archived import Line
from arena.errors import ArenaError, Internal, Unreadable
from arena.recording import record
from arena.runtime import Arena
from arena.web import offline
from arena.web.sse import refusal

ALONE = "sandbox; default-src 'none'"  # somebody may open the address instead of keeping the file


async def show_page(request: Request) -> Response:
    """A session that plays by itself."""
    return await _answer(request, "html", "text/html; charset=utf-8", offline.render)


async def show_lines(request: Request) -> Response:
    """A session as an archive of its own."""
    return await _answer(request, "ndjson", "application/x-ndjson", offline.ndjson)


ROUTES = {"/sessions/{id}/replay.html": show_page, "/sessions/{id}/replay.ndjson": show_lines}


async def _answer(request: Request, ending: str, kind: str, write: Callable[[list[Line]], str]) -> Response:
    arena: Arena = request.app.state.arena
    try:
        session = await arena.engine.get(request.path_params["id"])
        lines = await record(arena, session)
    except ArenaError as error:
        return refusal(error, ours=True)
    except Unreadable:
        return refusal(Internal("The record of this session is spoiled."), ours=True)
    # A long game has megabytes; others are not to wait for them.
    body = await asyncio.to_thread(write, lines)
    name = f"{re.sub(r'[^a-z0-9]+', '-', session.header.type.lower())}-{session.id[:8]}.{ending}"
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "content-security-policy": ALONE,
        "cache-control": "no-store",
    }
    return Response(body, media_type=kind, headers=headers)
