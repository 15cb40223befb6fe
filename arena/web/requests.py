"""Requests as a whole: each has an id, is counted, gets an answer whatever happens, and leaves a line in the log."""

import logging
import time
from collections.abc import Callable
from functools import partial

from starlette.responses import JSONResponse
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.errors import trace
from arena.logs import REQUEST, request_id
from arena.metrics import Metrics
from arena.web.headers import complete
from arena.web.http import header
from arena.web.protocol import at_end

logger = logging.getLogger("arena.access")

UNKNOWN = "unknown"  # the template of what fits no route
STREAM = "text/event-stream"
ID = b"x-request-id"


def template(scope: Scope) -> str:
    """The route that a request took, as it stands in our code: without the ids, invites and keys of an address."""
    route = scope.get("route")
    path = getattr(route, "path", None)
    if path is None:
        return UNKNOWN
    inside = "" if isinstance(route, Mount) else scope["root_path"].removeprefix(scope.get("app_root_path", ""))
    return f"{inside}{path}"


class Requests:
    """Serves requests and sockets, each under its id."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one of either kind."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        id_ = request_id(header(scope["headers"], ID))
        token = REQUEST.set(id_)
        serve = self._answer if scope["type"] == "http" else self._connect
        try:
            await serve(scope, receive, send, id_)
        finally:
            REQUEST.reset(token)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, id_: str) -> None:
        begun, status, leave = time.perf_counter(), 0, _nothing

        async def send_with_id(message: Message) -> None:
            nonlocal status, leave
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"] = complete([*message["headers"], (ID, id_.encode())])
                if (header(headers, b"content-type") or "").startswith(STREAM):
                    leave = self.metrics.enter("sse")
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except Exception as error:  # the door: whatever was not foreseen is told here, once, and not to the client
            logger.error("request failed %s", trace(error))
            if not status:
                await JSONResponse({"error": "Internal server error"}, 500)(scope, receive, send_with_id)
        finally:
            leave()
            route, took = template(scope), (time.perf_counter() - begun) * 1000
            self.metrics.answered(route, status)
            logger.info("request method=%s route=%s status=%d ms=%.1f", _method(scope), route, status, took)

    async def _connect(self, scope: Scope, receive: Receive, send: Send, id_: str) -> None:
        begun, status, leave = time.perf_counter(), 0, _nothing

        async def send_with_id(message: Message) -> None:
            nonlocal status, leave
            if message["type"] in {"websocket.accept", "websocket.http.response.start"}:
                status = message.get("status", 101)
                headers = [*message.get("headers", ()), (ID, id_.encode())]
                message["headers"] = headers if status == 101 else complete(headers)
                leave = self.metrics.enter("ws") if status == 101 else _nothing
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except Exception as error:  # as above
            logger.error("connection failed %s", trace(error))
        finally:
            at_end(scope, partial(_disconnect, template(scope), status, begun, leave))


def _disconnect(route: str, status: int, begun: float, leave: Callable[[], None]) -> None:
    leave()
    logger.info("connection route=%s status=%d seconds=%.1f", route, status, time.perf_counter() - begun)


def _method(scope: Scope) -> str:
    """The method, if it is one that there is."""
    method: str = scope["method"]
    return method if method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} else UNKNOWN


def _nothing() -> None:
    """Nobody has entered."""
