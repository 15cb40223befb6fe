"""The doors of signed records: a game with all that proves it, and the keys that such proofs are made with."""

import re

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena import proving
from arena.errors import ArenaError, Internal, NotFound, Unreadable
from arena.models import Model
from arena.runtime import Arena
from arena.store.signing import PublicKey
from arena.web.errors import CODED
from arena.web.routing import Call, File, Route
from arena.web.sse import refusal

NDJSON = "application/x-ndjson"


class Keys(Model):
    """The keys of a server, the newest first: that one signs."""

    keys: list[PublicKey]


async def record(call: Call) -> File:
    """The record of a game of this type."""
    type_, id_ = call.arguments
    return await _file(call.arena, id_, type_)


async def record_of(call: Call) -> File:
    """The record of a game."""
    return await _file(call.arena, call.argument)


async def _file(arena: Arena, id_: str, type: str | None = None) -> File:
    try:
        session = await arena.engine.get(id_)
        if type not in {None, session.header.type}:
            raise NotFound("Challenge not found")
        made = await proving.proof_of(arena, session)
    except Unreadable:
        raise Internal("The record of this session is spoiled.") from None
    kind = re.sub(r"[^a-z0-9]+", "-", session.header.type.lower())
    return File(made, NDJSON, f"{kind}-{session.id[:8]}.record.ndjson")


async def keys(request: Request) -> Response:
    """The public keys of this server, for whoever wants to pin one."""
    arena: Arena = request.app.state.arena
    try:
        found = Keys(keys=await arena.signing.published())
    except ArenaError as error:
        return refusal(error, ours=True)
    return JSONResponse(found.wire(), headers={"cache-control": "no-cache"})


ROUTES = (
    Route("GET", "/challenges/{name}/{id}/record", record, CODED),
    Route("GET", "/sessions/{id}/record", record_of, CODED),
)
KEYS = "/.well-known/arena-keys.json"
