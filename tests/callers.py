"""Callers for tests: people who use the REST door, and the games they play through it."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx

from arena.identity import Identity
from tests.servers import Served

Body = dict[str, Any]
TLS = ssl.create_default_context()  # made once: every client would read the authorities anew


class Told(NamedTuple):
    status: int
    body: Any


class Caller:
    """A client of the REST door."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def ask(self, method: str, path: str, **options: Any) -> Told:
        """Send a request; its status, and its JSON."""
        answer = await self.client.request(method, f"/api{path}", **options)
        assert answer.headers["content-type"] == "application/json", answer.text
        return Told(answer.status_code, answer.json())

    async def get(self, path: str, **query: Any) -> Any:
        """Read something that is there."""
        told = await self.ask("GET", path, params=query)
        assert told.status == 200, told
        return told.body

    async def post(self, path: str, /, **body: Any) -> Any:
        """Do something that works."""
        told = await self.ask("POST", path, json=body)
        assert told.status == 200, told
        return told.body

    async def refusal(self, path: str, /, **body: Any) -> Told:
        """Do something that does not work."""
        told = await self.ask("POST", path, json=body)
        assert told.status != 200, told
        return told

    async def create(self, type: str = "psi", **body: Any) -> "Session":
        """Open a session."""
        made = await self.post(f"/challenges/{type}", **body)
        return Session(self, made["id"], made["invites"])

    async def sit_down(self, *users: str, type: str = "psi", **body: Any) -> "Session":
        """Open a session and take all its seats."""
        session = await self.create(type, **body)
        for seat in range(len(session.invites)):
            await session.join(seat, *users[seat : seat + 1])
        return session


@dataclass
class Session:
    """A session, and how its players play it in open mode."""

    caller: Caller
    id: str
    invites: list[str]
    keys: list[str] = field(default_factory=list)  # of its players, in auth mode

    async def join(self, seat: int, user: str | None = None) -> Any:
        """Take a seat."""
        named = {"userId": user} if user else {}
        return await self.caller.post("/arena/join", invite=self.invites[seat], **named)

    async def sign_in(self, seat: int, identity: Identity) -> Any:
        """Take a seat by signature."""
        invite = self.invites[seat]
        joined = await self.caller.post("/arena/join", invite=invite, **identity.sign(f"join:{invite}"))
        self.keys.append(joined["sessionKey"])
        return joined

    def move(self, seat: int, content: str = "1", type: str = "guess", **more: Any) -> Body:
        """The body of a move."""
        return {
            "challengeId": self.id,
            "from": self.invites[seat],
            "messageType": type,
            "content": content,
            **more,
        }

    async def act(self, seat: int, content: str = "1", type: str = "guess", **more: Any) -> Told:
        """Make a move; its answer."""
        return await self.caller.ask("POST", "/arena/message", json=self.move(seat, content, type, **more))

    async def end(self) -> None:
        """Bring a game of psi to its end."""
        for seat in range(2):
            assert (await self.act(seat)).status == 200

    async def operator(self, viewer: int | None = None, **query: Any) -> list[Body]:
        """The operator channel as a player sees it, or somebody else."""
        known = {} if viewer is None else {"from": self.invites[viewer]}
        messages: list[Body] = (await self.caller.get("/arena/sync", channel=self.id, **known, **query))["messages"]
        return messages


@asynccontextmanager
async def calling(arena: Served, **options: Any) -> AsyncIterator[Caller]:
    """A caller of a server."""
    async with httpx.AsyncClient(base_url=arena.url, timeout=30, verify=TLS, **options) as client:
        yield Caller(client)
