"""Routing of JSON requests: a route is found, the body read once, the answer sent.

There is no request object in between: most requests are small, and there are many of them.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import orjson
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from arena import auth
from arena.auth import ANONYMOUS, Viewer
from arena.errors import ArenaError, Internal, Invalid, trace
from arena.runtime import Arena
from arena.store import keys
from arena.web.addresses import caller
from arena.web.calls import seats
from arena.web.errors import Rows, Told, tell
from arena.web.http import (
    Header,
    credential_of,
    query_of,
    read_body,
    send_bytes,
    send_json,
    send_not_found,
    send_packed,
)

logger = logging.getLogger(__name__)

BROKEN, EMPTY = object(), object()  # a body that is no JSON, and none at all
OF_SESSIONS = ("/challenges/", "/sessions/")  # routes in whose path an id is that of a session


@dataclass(slots=True)
class Call:
    """A request, as its route sees it."""

    arena: Arena
    query: dict[str, str]
    arguments: tuple[str, ...]  # what stands in the path for each {…}
    content: Any  # the JSON of the body
    address: str
    receive: Receive  # tells when the client goes away
    scope: Scope
    viewer: Viewer = ANONYMOUS

    @property
    def argument(self) -> str:
        """What stands in the path for the first {…}."""
        return self.arguments[0]

    @property
    def origin(self) -> str:
        """Whom limits count."""
        return auth.origin(self.arena.secret, self.address)

    @property
    def body(self) -> Any:
        """The body, which the route needs."""
        if self.content is BROKEN or self.content is EMPTY:
            raise Invalid("Invalid JSON in request body")
        return self.content

    @property
    def wish(self) -> Any:
        """The body, where all that it may say is optional: none is an empty object."""
        return {} if self.content is EMPTY else self.body

    @property
    def session(self) -> str | None:
        """The session or channel that the request is about, if it names one."""
        fields = self.content if isinstance(self.content, dict) else {}
        asked, told = self.query, fields.get
        in_path = None
        if self.scope["route"].path.startswith(OF_SESSIONS):
            in_path = next(filter(keys.is_session_id, self.arguments), None)
        named = asked.get("channel") or asked.get("challengeId") or told("challengeId") or told("channel") or in_path
        return named if isinstance(named, str) else None


Handler = Callable[[Call], Awaitable[Any]]


class Route(NamedTuple):
    """One line of the route table."""

    method: str
    path: str  # {…} stands for one segment
    handler: Handler
    but: Rows | None = None  # errors that are told otherwise than elsewhere
    raw: bool = False  # whether it reads the body itself, once it knows from whom that is
    packed: bool = False  # whether it is compressed for those who can read that: long, and the same for everybody


class File(NamedTuple):
    """An answer that is sent as it is; one that has a name is to be saved, and never shown by a browser."""

    content: bytes
    media_type: str
    name: str | None = None

    @property
    def headers(self) -> tuple[Header, ...]:
        """What a client is told of it."""
        kind: Header = (b"content-type", self.media_type.encode())
        if self.name is None:
            return (kind,)
        saved = f"attachment; filename*=UTF-8''{quote(self.name, safe='')}"
        return (kind, (b"content-disposition", saved.encode()))


Found = tuple[Route, tuple[str, ...]]


class Router:
    """An ASGI app of JSON routes below a prefix."""

    def __init__(self, arena: Callable[[], Arena], routes: Sequence[Route], prefix: str = "/api") -> None:
        self.arena = arena
        self.routes = routes
        self.prefix = prefix
        self._plain = {(route.method, route.path): route for route in routes if "{" not in route.path}
        self._patterns = list(_patterns(routes))

    def find(self, scope: Scope) -> Found | None:
        """The route of a request, and what stands in the place of its arguments."""
        path, decode = path_of(scope)
        if not path.startswith(self.prefix):
            return None
        path = path[len(self.prefix) :]
        path = path.removeprefix("/v1") if path.startswith("/v1/") else path
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        plain = self._plain.get((method, path))
        if plain is not None:
            return plain, ()
        for route, pattern in self._patterns:
            if route.method == method and (match := pattern.fullmatch(path)):
                return route, tuple(map(decode, match.groups()))
        return None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
        elif (found := self.find(scope)) is not None:
            await self.answer(found, scope, receive, send)
        else:
            await send_not_found(send)

    async def answer(self, found: Found, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request whose route is known."""
        route, arguments = found
        scope["route"], scope["root_path"] = route, scope.get("app_root_path", "") + self.prefix  # for log and metrics
        try:
            told = await self._answer(route, arguments, scope, receive)
        except ClientDisconnect:
            return
        if isinstance(told.body, File):
            await send_bytes(send, told.status, told.body.content, told.body.headers)
        elif route.packed:
            await send_packed(send, scope, told.status, told.body, told.headers)
        else:
            await send_json(send, told.status, told.body, told.headers)

    async def _answer(self, route: Route, arguments: tuple[str, ...], scope: Scope, receive: Receive) -> Told:
        try:
            call = await self._call(route, arguments, scope, receive)
            return Told(200, await route.handler(call))
        except ArenaError as error:
            return tell(error, route.but)
        except ClientDisconnect:
            raise
        except Exception as error:
            logger.error("request failed method=%s path=%s %s", route.method, route.path, trace(error))
            return tell(Internal("Something went wrong on our side."))

    async def _call(self, route: Route, arguments: tuple[str, ...], scope: Scope, receive: Receive) -> Call:
        arena, query, content = self.arena(), query_of(scope), None
        if route.method == "POST" and not route.raw:
            content = _loaded(await read_body(receive))
        call = Call(arena, query, arguments, content, caller(scope), receive, scope)
        call.viewer = await seats.viewer(arena, credential_of(scope, query, content), call.session)
        return call


class Shortcut:
    """Takes a request to its JSON route, past all that looks for others; most requests are for one of these."""

    def __init__(self, app: ASGIApp, router: Router) -> None:
        self.app = app
        self.router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "http" and (found := self.router.find(scope)) is not None:
            await self.router.answer(found, scope, receive, send)
        else:
            await self.app(scope, receive, send)


def path_of(scope: Scope) -> tuple[str, Callable[[str], str]]:
    """The path, and how to read what stands in it: a slash that was written as `%2F` parts nothing."""
    raw: bytes = scope.get("raw_path") or b""
    if b"%2f" in raw or b"%2F" in raw:
        return raw.decode("latin-1"), unquote
    return scope["path"], str


def _loaded(body: bytes) -> Any:
    if not body:
        return EMPTY
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return BROKEN


def _patterns(routes: Sequence[Route]) -> Iterator[tuple[Route, re.Pattern[str]]]:
    for route in routes:
        if "{" in route.path:
            yield route, re.compile(re.sub(r"\{\w+\}", "([^/]+)", route.path))
