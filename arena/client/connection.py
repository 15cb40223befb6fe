"""One connection to an arena, frame by frame: what is asked gets its answer, the rest is heard in order."""

import asyncio
import itertools
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.typing import Subprotocol

from arena.errors import RateLimited, Refused
from arena.wire import JSON, Codec

Frame = dict[str, Any]
LOST = (OSError, WebSocketException, TimeoutError)  # what a connection may end with, or not even begin


def new_key() -> str:
    """A name for an action that makes it safe to send it again."""
    return secrets.token_hex(16)


class Client:
    """A connection: `call` waits for the answer to a frame, `hear` for the next frame that nobody asked for."""

    def __init__(self, socket: ClientConnection, codec: Codec) -> None:
        self.socket = socket
        self.codec = codec
        self.welcome: Frame = {}
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Frame]] = {}
        self._heard: asyncio.Queue[Frame | None] = asyncio.Queue()

    async def call(self, type: str, **fields: Any) -> Frame:
        """Send a frame and wait for what comes of it; raises `Refused` with the server's code."""
        id_ = next(self._ids)
        answer = self._answers[id_] = asyncio.get_running_loop().create_future()
        try:
            given = {name: value for name, value in fields.items() if value is not None}
            await self.send({"type": type, "id": id_, **given})
            frame = await answer
        finally:
            del self._answers[id_]
        if frame["type"] == "error":
            raise _refusal(frame)
        result: Frame = frame["result"]
        return result

    async def send(self, frame: Mapping[str, Any]) -> None:
        """Send a frame as it is."""
        data = self.codec.encode(frame)
        try:
            await self.socket.send(data.decode() if self.codec.text else data)
        except ConnectionClosed:
            raise self._closed() from None

    async def hear(self) -> Frame:
        """The next frame that nobody asked for; raises `ConnectionError` when there will be no more."""
        frame = await self._heard.get()
        if frame is None:
            self._heard.put_nowait(None)
            raise self._closed()
        return frame

    def _closed(self) -> ConnectionError:
        return ConnectionError(f"closed with {self.socket.close_code}")

    async def listen(self) -> None:
        """Sort what comes in, until the connection ends."""
        try:
            async for data in self.socket:
                frame = self.codec.decode(data.encode() if isinstance(data, str) else data)
                answer = self._answers.get(frame.get("id", 0)) if frame["type"] in {"reply", "error"} else None
                if answer is not None and not answer.done():
                    answer.set_result(frame)
                else:
                    self._heard.put_nowait(frame)
        finally:
            self._heard.put_nowait(None)
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(self._closed())
                    answer.exception()  # seen, should nobody wait for it any more


def _refusal(frame: Frame) -> Refused | RateLimited:
    if frame["code"] == RateLimited.code:
        return RateLimited(frame["error"], frame.get("retryAfter", 1.0))
    return Refused(frame["code"], frame["error"])


@asynccontextmanager
async def client(url: str, codec: Codec = JSON, *, token: str | None = None) -> AsyncIterator[Client]:
    """Connect to an arena: `url` is that of its `/ws`, and a token that of its admins."""
    protocol, headers = Subprotocol(codec.protocol), {"Authorization": f"Bearer {token}"} if token else None
    async with connect(
        url, subprotocols=[protocol], additional_headers=headers, max_size=None, compression=None, proxy=None
    ) as socket:
        guest = Client(socket, codec)
        listening = asyncio.create_task(guest.listen(), name="client")
        try:
            guest.welcome = await guest.hear()
            yield guest
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
