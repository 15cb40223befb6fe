"""A guest that comes back: one seat in one game, over connections that may break."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from websockets.exceptions import WebSocketException

from arena.client import Client, Frame, client
from arena.errors import CannotStart, RateLimited, Refused, StoreUnavailable
from arena.identity import Identity

LOST = (ConnectionError, OSError, WebSocketException, TimeoutError)
AGAIN = frozenset({StoreUnavailable.code, RateLimited.code})  # what a moment refuses, and the next may grant
PATIENCE = 60.0  # seconds that a server may be away
PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0)  # seconds between attempts


class Guest:
    """A seat: `frames` brings what the server says, each message once, and `send` is carried out once."""

    def __init__(self, url: str, invite: str, user: str | None = None, identity: Identity | None = None) -> None:
        self.url = url
        self.invite = invite
        self.user = user
        self.identity = identity
        self.joined: Frame = {}
        self._client: Client | None = None
        self._here = asyncio.Event()
        self._gone = asyncio.Event()  # nobody will be here again
        self._key = secrets.token_hex(8)
        self._cursors: dict[str, Frame] = {}
        self._anew = False  # whether all is to be heard again, and nothing before that

    @property
    def session(self) -> str:
        """The session of the seat, once it is taken."""
        return str(self.joined["ChallengeID"])

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """What the server says until the game ends, first the answer to `join`; lost connections do not show."""
        try:
            while True:
                async with connected(self.url) as guest:
                    first = not self.joined
                    self.joined = await self._sit(guest)
                    if first:
                        yield {"type": "reply", "result": self.joined}
                    self._client = guest
                    self._here.set()
                    try:
                        async for frame in self._heard(guest):
                            yield frame
                            if frame["type"] == "game_ended":
                                return
                    finally:
                        self._here.clear()
        finally:
            self._gone.set()
            self._here.set()

    async def send(self, type: str, **fields: Any) -> Frame:
        """Have something done once, however often it has to be sent; raises `Refused` with the server's code."""
        fields["key"] = fields.get("key") or secrets.token_hex(8)
        while True:
            await self._here.wait()
            if self._gone.is_set() or self._client is None:
                raise Refused("GAME_NOT_RUNNING", "The game is over.")
            guest = self._client
            try:
                return await guest.call(type, **fields)
            except Refused as refusal:
                if refusal.code not in AGAIN:
                    raise
                await asyncio.sleep(PAUSES[2])
            except LOST:
                await asyncio.sleep(PAUSES[0])

    async def rewind(self) -> None:
        """Hear everything again from the beginning, as somebody who has just come."""
        self._anew = True
        if self._client is not None and self._here.is_set():
            self._here.clear()
            await self._client.socket.close()

    async def _sit(self, guest: Client) -> Frame:
        if self.joined:
            cursors = None if self._anew else dict(self._cursors) or None
            self._anew = False
            return await self._insist(
                guest, "resume", challengeId=self.session, sessionKey=self.joined["sessionKey"], cursors=cursors
            )
        signed = self.identity.sign(f"join:{self.invite}") if self.identity else {}
        return await self._insist(guest, "join", invite=self.invite, userId=self.user, key=self._key, **signed)

    async def _insist(self, guest: Client, type: str, **fields: Any) -> Frame:
        while True:
            try:
                return await guest.call(type, **fields)
            except Refused as refusal:
                if refusal.code not in AGAIN:
                    raise
                await asyncio.sleep(PAUSES[2])

    async def _heard(self, guest: Client) -> AsyncIterator[Frame]:
        """The frames of one connection; what was missed before it comes as if nothing had been."""
        while True:
            try:
                frame = await guest.hear()
            except LOST:
                return
            if self._anew:
                continue
            match frame["type"]:
                case "initial":
                    self._cursors[frame["channel"]] = {"index": frame["next"], "epoch": frame["epoch"]}
                    if frame["recovered"]:
                        for message in frame["messages"]:
                            yield {"type": "new_message", "message": message, "epoch": frame["epoch"]}
                        continue
                case "new_message":
                    message = frame["message"]
                    self._cursors[message["channel"]] = {"index": message["index"] + 1, "epoch": frame["epoch"]}
            yield frame


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Client]:
    """A connection that is tried for until there is one."""
    async with AsyncExitStack() as stack:
        yield await _reach(stack, url)


async def _reach(stack: AsyncExitStack, url: str) -> Client:
    clock, tries = asyncio.get_running_loop().time, 0
    until = clock() + PATIENCE
    while True:
        try:
            return await stack.enter_async_context(client(url))
        except LOST as error:
            if clock() > until:
                raise CannotStart(f"No arena answers at {url}: {error}") from None
        await asyncio.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
        tries += 1
