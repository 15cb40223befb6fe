"""Guests for tests: connections that keep every frame in the order in which it came, and the games they sit in."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from arena.wire import JSON, Codec
from tests.servers import Served

Frame = dict[str, Any]
Found = TypeVar("Found")
PATIENCE = 60.0  # seconds that anything may take before it counts as broken


async def comes_true(condition: Callable[[], object], what: str) -> None:
    """Return as soon as a condition holds, which may have to be awaited; for what no frame tells."""
    until = time.monotonic() + PATIENCE
    while True:
        holds = condition()
        if await holds if isinstance(holds, Awaitable) else holds:
            return
        assert time.monotonic() < until, f"never came true: {what}"
        await asyncio.sleep(0.01)


class Guest:
    """A connection. `ask` finds its own answer; `hear` goes through everything else in the order in which it came."""

    def __init__(self, socket: ClientConnection, codec: Codec = JSON) -> None:
        self.socket = socket
        self.codec = codec
        self.frames: list[Frame] = []
        self._heard = 0
        self._ids = itertools.count(1)
        self._more = asyncio.Event()
        self._is_over = False

    async def listen(self) -> None:
        """Keep what comes, until the connection ends."""
        try:
            async for data in self.socket:
                self.frames.append(self.codec.load(data.encode() if isinstance(data, str) else data))
                self._more.set()
        except ConnectionClosed:
            pass
        finally:
            self._is_over = True
            self._more.set()

    async def until(self, find: Callable[[], Found | None], what: str) -> Found:
        """Wait until something is among the frames."""
        try:
            async with asyncio.timeout(PATIENCE):
                while (found := find()) is None:
                    if self._is_over:
                        raise ConnectionError(f"closed with {self.socket.close_code} before {what}")
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError:
            raise AssertionError(f"never heard {what}; last: {self.frames[-5:]}") from None
        return found

    async def send(self, frame: Mapping[str, Any]) -> None:
        """Send a frame as it is."""
        data = self.codec.encode(frame)
        await self.socket.send(data.decode() if self.codec.text else data)

    async def ask(self, type: str, **fields: Any) -> Frame:
        """Send a frame and wait for its answer, a `reply` or an `error`."""
        id_ = f"ask-{next(self._ids)}"
        await self.send({"type": type, "id": id_, **fields})
        return await self.until(lambda: next((f for f in self.frames if f.get("id") == id_), None), f"answer to {type}")

    async def get(self, type: str, **fields: Any) -> Frame:
        """Send a frame and wait for the result in its reply."""
        answer = await self.ask(type, **fields)
        assert answer["type"] == "reply", answer
        result: Frame = answer["result"]
        return result

    async def refusal(self, type: str, **fields: Any) -> str:
        """Send a frame and wait for the code of its error."""
        answer = await self.ask(type, **fields)
        assert answer["type"] == "error", answer
        assert isinstance(answer["error"], str)
        return str(answer["code"])

    async def hear(self, type: str, **fields: Any) -> Frame:
        """The next frame of this type with these fields; what came before it counts as heard."""

        def find() -> Frame | None:
            for number in range(self._heard, len(self.frames)):
                frame = self.frames[number]
                if frame["type"] == type and fields.items() <= frame.items():
                    self._heard = number + 1
                    return frame
            return None

        return await self.until(find, f"{type} {fields}")

    def of(self, type: str, **fields: Any) -> list[Frame]:
        """All frames of this type so far."""
        return [f for f in self.frames if f["type"] == type and fields.items() <= f.items()]

    def messages(self, channel: str) -> list[Frame]:
        """The messages of a channel so far, by `initial` and `new_message`, in the order in which they came."""
        found: list[Frame] = []
        for frame in self.frames:
            if frame["type"] == "initial" and frame["channel"] == channel:
                found += frame["messages"]
            elif frame["type"] == "new_message" and frame["message"]["channel"] == channel:
                found.append(frame["message"])
        return found

    async def hear_messages(self, channel: str, count: int) -> list[Frame]:
        """Wait until a channel has brought so many messages."""

        def find() -> list[Frame] | None:
            found = self.messages(channel)
            return found if len(found) >= count else None

        return await self.until(find, f"{count} messages, not {len(self.messages(channel))}")

    async def closed(self) -> int | None:
        """Wait for the end of the connection; its close code."""
        async with asyncio.timeout(PATIENCE):
            await self.socket.wait_closed()
        return self.socket.close_code


@asynccontextmanager
async def guest_at(url: str, codec: Codec | None = JSON, **options: Any) -> AsyncIterator[Guest]:
    """Connect; no codec offers no subprotocol."""
    offered = {} if codec is None else {"subprotocols": [Subprotocol(codec.protocol)]}
    async with connect(url, max_size=None, compression=None, proxy=None, **{**offered, **options}) as socket:
        guest = Guest(socket, codec or JSON)
        listening = asyncio.create_task(guest.listen(), name="guest")
        try:
            yield guest
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


async def visit(arena: Served, codec: Codec | None = JSON, query: str = "", **options: Any) -> Guest:
    """A guest that is closed with its server."""
    return await arena.guests.enter_async_context(guest_at(arena.ws + query, codec, **options))


@dataclass
class Game:
    """A session whose seats are taken, each over a connection of its own."""

    id: str
    invites: list[str]
    players: list[Guest]
    keys: list[str]

    @property
    def operator_channel(self) -> str:
        """Where the operator speaks."""
        return f"challenge_{self.id}"

    async def act(self, seat: int, type: str, content: str = "", **fields: Any) -> Frame:
        """Make a move; its answer."""
        fields = {"challengeId": self.id, "messageType": type, "content": content, **fields}
        return await self.players[seat].ask("message", **fields)

    async def say(self, seat: int, content: str, **fields: Any) -> Frame:
        """Talk; its answer."""
        return await self.players[seat].ask("chat", channel=self.id, content=content, **fields)

    async def end(self) -> None:
        """Bring a game of psi to its end."""
        for seat in range(2):
            assert (await self.act(seat, "guess", "1"))["type"] == "reply"


async def sit_down(
    arena: Served, type: str = "psi", users: tuple[str, ...] = (), *, others: Served | None = None, **fields: Any
) -> Game:
    """Create a session and take all its seats; with others, every second guest goes to that server."""
    first = await visit(arena)
    made = await first.get("create", challengeType=type, **fields)
    guests, keys = [], []
    for seat, invite in enumerate(made["invites"]):
        guest = await visit(others if others and seat % 2 else arena)
        known = {"userId": users[seat]} if users else {}
        joined = await guest.get("join", invite=invite, **known)
        guests.append(guest)
        keys.append(joined["sessionKey"])
    return Game(made["id"], made["invites"], guests, keys)
