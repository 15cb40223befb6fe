"""The entrance of `/mcp`: it opens when the first agent knocks, since what is behind it is large."""

import asyncio
import importlib
from collections.abc import Callable

import orjson
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.runtime import Arena
from arena.web.http import read_body, send_json
from arena.web.mcp.door import ALLOW
from arena.web.mcp.rpc import BROKEN, REFUSED, failure

CARRIER = "arena.web.mcp.sdk"


class Entrance:
    """An ASGI app that reads requests and hands them to the SDK, which it fetches when it is first wanted."""

    def __init__(self, arena: Callable[[], Arena]) -> None:
        self.arena = arena
        self._wanted = asyncio.Event()
        self._open = asyncio.Event()
        self._carry: ASGIApp  # once it is open

    async def keep(self) -> None:
        """Fetch the SDK when somebody wants it, and run it from then on."""
        await self._wanted.wait()
        sdk = await asyncio.to_thread(importlib.import_module, CARRIER)  # half a second that nobody else waits for
        carrier = sdk.make_carrier(self.arena())
        async with carrier.run():
            self._carry = carrier.handle_request
            self._open.set()
            await asyncio.Event().wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. There are no streams to open and no sessions to end here, so only messages are taken."""
        if scope["method"] != "POST":
            await send_json(send, 405, failure(REFUSED, "Method not allowed."), (ALLOW,))
            return
        try:
            body = await read_body(receive)
            orjson.loads(body)  # what is no JSON elsewhere, a lone surrogate say, is none here
        except orjson.JSONDecodeError:
            await send_json(send, 400, failure(BROKEN, "Parse error"))
        except ClientDisconnect:
            return
        else:
            self._wanted.set()
            await self._open.wait()
            await self._carry(scope, _again(body, receive), send)


def _again(body: bytes, receive: Receive) -> Receive:
    """A body that has been read, to be read once more."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again
