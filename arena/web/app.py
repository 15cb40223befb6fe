"""The ASGI app: routes, lifespan, pages."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from arena.catalog import Catalog
from arena.runtime import Arena, open_arena, running
from arena.settings import Settings, is_loopback
from arena.web.handshake import choose_codec
from arena.web.limits import Connections
from arena.web.socket import Connection

logger = logging.getLogger(__name__)

POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
HEADERS = (
    (b"cache-control", b"no-cache"),  # always ask, so that a page never mixes modules of two versions
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


def static_files() -> Path:
    """Where the page lies: inside the wheel, or beside the checkout."""
    inside = Path(__file__).parents[1] / "static"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "static"


class SecureHeaders:
    """Puts our security headers on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back with our headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


async def health(request: Request) -> Response:
    """The process lives."""
    return JSONResponse({"status": "ok"})


async def ready(request: Request) -> Response:
    """Whether requests can be served, and if not why."""
    arena: Arena = request.app.state.arena
    reason = await arena.nodes.ping()
    if reason is None:
        return JSONResponse({"status": "ready"})
    return JSONResponse({"status": "unavailable", "reason": reason}, status_code=503)


async def page(request: Request) -> Response:
    """The live page."""
    return FileResponse(static_files() / "index.html")


async def not_found(request: Request, error: Exception) -> Response:
    """No such page, or not by this method."""
    return PlainTextResponse("404 Not Found", status_code=404)


async def socket(websocket: WebSocket) -> None:
    """The WebSocket door."""
    arena: Arena = websocket.app.state.arena
    connections: Connections = websocket.app.state.connections
    codec = choose_codec(websocket)
    if not is_own_page(websocket, arena.settings):
        await websocket.send_denial_response(PlainTextResponse("This origin may not connect.", status_code=403))
        return
    if codec is None:
        await websocket.send_denial_response(PlainTextResponse("Unknown subprotocol.", status_code=400))
        return
    address = websocket.client.host if websocket.client else "local"
    if not connections.enter(address):
        await websocket.send_denial_response(
            PlainTextResponse("Too many connections.", status_code=429, headers={"retry-after": "10"})
        )
        return
    try:
        connection = Connection(websocket, arena, codec, address)
        with connections.watched(connection):
            await connection.run()
    finally:
        connections.leave(address)


def is_own_page(websocket: WebSocket, settings: Settings) -> bool:
    """Whether a browser comes from our own page or one that the settings allow; programs send no origin.

    On a loopback address the page's host has to be one too, or a name that somebody pointed here would pass for ours.
    """
    origin = websocket.headers.get("origin")
    if origin is None or origin in settings.origins:
        return True
    where = urlsplit(origin)
    if not where.netloc or where.netloc != websocket.headers.get("host"):
        return False
    return is_loopback(where.hostname or "") or not is_loopback(settings.host)


def create_app(
    settings: Settings, catalog: Catalog, store: str, failed: Callable[[], None] = lambda: None
) -> Starlette:
    """The arena as an ASGI app on a store; `failed` is called if it cannot go on."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        connections = Connections(settings.limit_connections_per_address, settings.limit_stall_seconds)
        async with open_arena(settings, catalog, store) as arena, running(arena, connections.watch, failed=failed):
            app.state.arena, app.state.connections = arena, connections
            yield

    return Starlette(
        routes=[
            Route("/health", health),
            Route("/ready", ready),
            Route("/", page),
            *(WebSocketRoute(path, socket) for path in ("/ws", "/api/ws", "/api/v1/ws")),
            Mount("/static", StaticFiles(directory=static_files(), check_dir=False)),
        ],
        middleware=[Middleware(SecureHeaders)],
        exception_handlers={404: not_found, 405: not_found, HTTPException: not_found},
        lifespan=lifespan,
    )
