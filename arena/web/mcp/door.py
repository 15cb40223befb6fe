"""The doors of the protocol's MCP endpoints: HTTP around JSON-RPC, as its table of requests and answers has it."""

from collections.abc import Callable, Sequence
from typing import Any

import orjson
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from arena.runtime import Arena
from arena.web.addresses import caller
from arena.web.http import Header, read_body, send_bytes, send_json, send_not_found
from arena.web.mcp import reading, rpc
from arena.web.mcp.rpc import AnyTool, Desk, failure
from arena.web.mcp.tools import Asked

STREAM: tuple[Header, ...] = ((b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache, no-transform"))
ALLOW: Header = (b"allow", b"POST")
MOST = 100  # messages in a batch


class Refusal(Exception):
    """A request that is not looked into."""

    def __init__(self, status: int, message: str, code: int = rpc.REFUSED, *headers: Header) -> None:
        super().__init__(message)
        self.status, self.body, self.headers = status, failure(code, message), headers


class Door:
    """One endpoint; it is there only where a handle is an identity."""

    def __init__(self, arena: Callable[[], Arena], tools: Sequence[AnyTool]) -> None:
        self.arena = arena
        self.desk = Desk(tools)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        arena = self.arena()
        if arena.ring.required or scope["method"] not in {"GET", "HEAD", "DELETE", "POST"}:
            await send_not_found(send)
            return
        try:
            _check(scope["method"], Headers(scope=scope))
            messages = _messages(await read_body(receive))
        except Refusal as refusal:
            await send_json(send, refusal.status, refusal.body, refusal.headers)
        except ClientDisconnect:
            return
        else:
            await self._answer(Asked(arena, caller(scope), receive, reading.deadline()), messages, send)

    async def _answer(self, asked: Asked, messages: list[Any], send: Send) -> None:
        """Answer the messages one after the other; what wants no answer is told that it has come."""
        responses = [await self.desk.answer(asked, message) for message in messages]
        events = b"".join(_event(response) for response in responses if response is not None)
        if events:
            await send_bytes(send, 200, events, STREAM)
        else:
            await send_bytes(send, 202, b"", ())


def _check(method: str, headers: Headers) -> None:
    """Refuse what does not look like a message to us, before its body is read."""
    accepted = ",".join(headers.getlist("accept"))
    if method != "POST":
        raise Refusal(405, "Method not allowed.", rpc.REFUSED, ALLOW)
    if "application/json" not in accepted or "text/event-stream" not in accepted:
        raise Refusal(406, "Not Acceptable: Client must accept both application/json and text/event-stream")
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(415, "Unsupported Media Type: Content-Type must be application/json")
    version = headers.get("mcp-protocol-version")
    if version is not None and version not in rpc.VERSIONS:
        raise Refusal(400, f"Bad Request: Unsupported protocol version (supported: {', '.join(rpc.VERSIONS)})")


def _messages(body: bytes) -> list[Any]:
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise Refusal(400, "Parse error", rpc.BROKEN) from None
    messages = said if isinstance(said, list) else [said]
    if not messages or len(messages) > MOST:
        raise Refusal(400, f"Invalid Request: a batch has 1 to {MOST} messages", rpc.INVALID)
    return messages


def _event(response: rpc.Json) -> bytes:
    return b"event: message\ndata: %b\n\n" % orjson.dumps(response)
