"""Bodies of requests: what is too large is refused without being read."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.errors import TooLarge
from arena.web.http import header

DRAIN_SECONDS, DRAIN_BYTES = 1.0, 2**20  # what is thrown away so that a client who sends first and reads then hears us


class BodyLimit:
    """Answers 413 to a body above the limit: by its announced length, or as soon as more than that has come."""

    def __init__(self, app: ASGIApp, most: Callable[[Scope], int]) -> None:
        self.app = app
        self.most = most  # bytes; 0 is no limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; whatever the app makes of `TooLarge`, the answer to it is ours."""
        most = self.most(scope) if scope["type"] == "http" else 0
        if not most:
            await self.app(scope, receive, send)
            return
        announced = _announced(scope)
        if announced is None:
            await self._watch(most, scope, receive, send)
        elif announced > most:
            await self._refuse(most, receive, send)
        else:  # the server reads no more than that
            await self.app(scope, receive, send)

    async def _watch(self, most: int, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that does not say how long it is."""
        came, begun = 0, False

        async def receive_some() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > most:
                raise TooLarge(_told(most))
            return message

        async def send_unless_refused(message: Message) -> None:
            nonlocal begun
            if begun or came <= most:
                begun = True
                await send(message)

        with suppress(TooLarge):
            await self.app(scope, receive_some, send_unless_refused)
        if came > most and not begun:
            await self._refuse(most, receive, send)

    async def _refuse(self, most: int, receive: Receive, send: Send) -> None:
        body = orjson.dumps({"error": _told(most), "code": TooLarge.code})
        length = str(len(body)).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", length), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await _drain(receive)
        await send({"type": "http.response.body", "body": b""})


def _told(most: int) -> str:
    """The limit in words."""
    return f"A request may have at most {most} bytes."


async def _drain(receive: Receive) -> None:
    came = 0
    while came < DRAIN_BYTES:
        message = await receive()
        came += len(message.get("body", b""))
        if not message.get("more_body"):
            return


def _announced(scope: Scope) -> int | None:
    length = header(scope["headers"], b"content-length") or ""
    return int(length) if length.isascii() and length.isdigit() else None
