"""The SSE door: `GET /api/chat/ws/:channel`, for pages and programs that only want to read."""

import re

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from arena.errors import ArenaError, RateLimited
from arena.models import Channel, Invite
from arena.runtime import Arena
from arena.web.addresses import caller
from arena.web.calls import seats
from arena.web.chunks import EXTENSION
from arena.web.errors import tell
from arena.web.events import Stream
from arena.web.http import credential_of, query_of
from arena.web.limits import TOO_MANY_SECONDS, Connections
from arena.web.routing import path_of
from arena.wire import Cursor

HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "connection": "keep-alive",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET",
    "access-control-allow-headers": "Cache-Control",
}
_EVENT_ID = re.compile(r"([0-9]{1,15})(?:\.([0-9a-f]{0,64}))?")


class StreamRoute(Route):
    """A route in whose arguments a slash may stand, written as `%2F`."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request is for it, and its arguments."""
        path, decode = path_of(scope)
        match, child = super().matches({**scope, "path": path})
        told = child.get("path_params", {})
        return match, {**child, "path_params": {name: decode(value) for name, value in told.items()}}


async def stream(request: Request) -> Response:
    """One channel, as this viewer may see it, for as long as both sides like."""
    arena: Arena = request.app.state.arena
    channel = Channel(request.path_params["channel"])
    try:
        viewer = await viewer_of(arena, request, channel)
        cursor = await cursor_of(arena, channel, request.headers.get("last-event-id", ""))
    except ArenaError as error:
        return refusal(error)
    if request.method == "HEAD":
        return Response(headers=HEADERS)
    return EventStream(request, channel, viewer, cursor)


async def viewer_of(arena: Arena, request: Request, channel: Channel) -> Invite | None:
    """Who reads: the query may name the session that a key is for, else it is that of the path."""
    query = query_of(request.scope)
    named = query.get("channel") or query.get("challengeId") or channel
    viewer = await seats.viewer(arena, credential_of(request.scope, query), named)
    return None if viewer.name is None else Invite(viewer.name)


async def cursor_of(arena: Arena, channel: Channel, last_event: str) -> Cursor | None:
    """Where a reader left a channel: after the event whose id it sends back, which may be a bare index."""
    found = _EVENT_ID.fullmatch(last_event)
    if found is None or not int(found[1]):
        return None
    index, epoch = int(found[1]), found[2]
    if epoch is None:
        epoch = await arena.sessions.tag_at(channel, index)
    return Cursor(index=index + 1, epoch=epoch)


def refusal(error: ArenaError, *, ours: bool = False) -> Response:
    """The answer to a request that cannot be served; a route that is ours always has a code."""
    told = tell(error, ours=ours)
    headers = {name.decode(): value.decode() for name, value in told.headers}
    return JSONResponse(told.body, status_code=told.status, headers=headers)


class EventStream(Response):
    """An answer that has no end of its own."""

    def __init__(self, request: Request, channel: Channel, viewer: Invite | None, cursor: Cursor | None) -> None:
        self.status_code, self.background = 200, None
        self.init_headers(HEADERS)
        self.arena: Arena = request.app.state.arena
        self.connections: Connections = request.app.state.connections
        self.address = caller(request.scope)
        self.channel, self.viewer, self.cursor = channel, viewer, cursor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a place among the listeners, and then answer, so that a refusal is one."""
        if not self.connections.enter(self.address):
            refused = refusal(RateLimited("Too many connections.", TOO_MANY_SECONDS))
            await refused(scope, receive, send)
            return
        stream = Stream(self.arena, self.channel, receive, send)
        try:
            await stream.follow(self.viewer, self.cursor)
        except ArenaError as error:
            await refusal(error)(scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            with self.connections.watched(stream):
                await stream.run(scope.get("extensions", {}).get(EXTENSION))
        finally:
            stream.leave()
            self.connections.leave(self.address)
