"""The ASGI app: routes, lifespan, pages."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from arena.catalog import Catalog
from arena.duties import again
from arena.metrics import Metrics
from arena.runtime import Arena, open_arena, running
from arena.settings import Settings
from arena.web import pages, proofs, replays, sse
from arena.web.addresses import TrustedProxies, caller
from arena.web.bodies import BodyLimit
from arena.web.handshake import choose_codec
from arena.web.headers import cors
from arena.web.house import Host
from arena.web.limits import Connections, RequestLimit
from arena.web.local import is_own_page
from arena.web.mcp import protocol
from arena.web.mcp.door import Door
from arena.web.mcp.entrance import Entrance
from arena.web.metrics import metrics as show_metrics
from arena.web.protocol import at_end
from arena.web.requests import Requests
from arena.web.rest import ROUTES
from arena.web.routing import Router, Shortcut
from arena.web.socket import Connection
from arena.web.spec import pages as spec

logger = logging.getLogger(__name__)

PARTS = 64 * 1024  # bytes between the parts of an upload
PUBLISH_PAUSE = 1.0  # seconds until other workers know what this one has counted
SAMPLE_PAUSE = 5.0  # seconds between two looks at numbers that nobody counts as they change


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


async def not_found(request: Request, error: Exception) -> Response:
    """No such page, or not by this method."""
    return await pages.nowhere(request)


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
    address = caller(websocket.scope)
    if not connections.enter(address):
        await websocket.send_denial_response(
            PlainTextResponse("Too many connections.", status_code=429, headers={"retry-after": "10"})
        )
        return
    connection = Connection(websocket, arena, codec, address)
    connections.add(connection)
    try:
        await connection.run(websocket)
    finally:
        at_end(websocket.scope, partial(connections.drop, connection, address))


class OwnPages:
    """A door that lets in programs, our own page, and pages that the settings allow."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on unless it comes from somebody else's page."""
        if is_own_page(HTTPConnection(scope), self.settings):
            await self.app(scope, receive, send)
        else:
            await PlainTextResponse("This origin may not connect.", status_code=403)(scope, receive, send)


def middleware(settings: Settings, metrics: Metrics, router: Router) -> list[Middleware]:
    """What every request passes on its way in, outermost first."""
    trusted, origins = settings.trusted_proxies, settings.origins
    return [
        *([Middleware(TrustedProxies, trusted=trusted, header=settings.proxy_header)] if trusted else []),
        Middleware(Requests, metrics=metrics),
        *([Middleware(cors, origins=origins)] if origins else []),
        Middleware(RequestLimit),
        Middleware(BodyLimit, most=partial(most_bytes, settings)),
        Middleware(Shortcut, router=router),
    ]


def most_bytes(settings: Settings, scope: Scope) -> int:
    """The bytes that a request may have: packs and their files are larger than anything else; 0 is no limit."""
    path = scope["path"].removeprefix("/api").removeprefix("/v1")
    pack, asset = settings.limit_pack_bytes, settings.limit_asset_bytes
    match scope["method"], path.split("/"):
        case "POST", ["", "packs"]:
            return pack + asset + PARTS if pack and asset else 0
        case "PUT", ["", "packs", *_]:
            return asset
        case _:
            return settings.limit_body_bytes


def create_app(
    settings: Settings, catalog: Catalog, store: str, failed: Callable[[], None] = lambda: None
) -> Starlette:
    """The arena as an ASGI app on a store; `failed` is called if it cannot go on."""
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with open_arena(settings, catalog, store) as arena:
            connections = Connections(arena.slots, settings.limit_stall_seconds)
            app.state.arena, app.state.connections, app.state.metrics = arena, connections, metrics
            connections.at_close += [arena.waiting.release, arena.matchmaker.followers.release]
            arena.measure(metrics)
            arena.matchmaker.house = host = Host(arena)

            async def publish() -> None:
                metrics.publish()

            async def sample() -> None:
                metrics.behind.set(arena.hub.behind)

            duties = (
                connections.watch,
                entrance.keep,
                lambda: again("metrics", PUBLISH_PAUSE, publish),
                lambda: again("readers", SAMPLE_PAUSE, sample),
            )
            async with running(arena, *duties, failed=failed):
                yield
                await host.close()

    def arena() -> Arena:
        running: Arena = app.state.arena
        return running

    router = Router(arena, ROUTES)
    entrance = Entrance(arena)
    doors: dict[str, ASGIApp] = {
        "/mcp": entrance,
        **{f"{base}/arena/mcp": Door(arena, protocol.ARENA) for base in ("/api", "/api/v1")},
        **{f"{base}/chat/mcp": Door(arena, protocol.CHAT) for base in ("/api", "/api/v1")},
    }
    app = Starlette(
        routes=[
            *(WebSocketRoute(path, socket) for path in ("/ws", "/api/ws", "/api/v1/ws")),
            *(sse.StreamRoute(f"{base}/chat/ws/{{channel}}", sse.stream) for base in ("/api", "/api/v1")),
            *(Route(f"{base}{path}", show) for base in ("/api", "/api/v1") for path, show in replays.ROUTES.items()),
            *(Route(path, OwnPages(door, settings)) for path, door in doors.items()),
            Mount("/api", router),
            Route("/health", health),
            Route("/ready", ready),
            Route("/metrics", show_metrics),
            Route(proofs.KEYS, proofs.keys),
            *pages.ROUTES,
            *spec.routes(pages.static_files()),
            Mount("/static", pages.Files(directory=pages.static_files(), check_dir=False)),
        ],
        middleware=middleware(settings, metrics, router),
        exception_handlers={404: not_found, 405: not_found, HTTPException: not_found},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.documents = spec.Documents(app.routes, settings, catalog)
    return app
