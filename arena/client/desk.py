"""Desk: what anybody may ask an arena without a seat: what is played, by whom, how well, and which seats are free."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from arena import remote
from arena.errors import CannotStart, RateLimited, Refused
from arena.identity import Identity
from arena.models import Challenge, ChallengeMetadata, ChatMessage, UserProfile

INVITES = "invites"  # the channel in which free seats are offered
CODES = {401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND", 409: "INVITE_ALREADY_USED"}  # where a route has none


class Disconnected(ConnectionError):
    """The arena cannot be reached, or has sent us away for good."""


def page_of(url: str) -> str:
    """The address of an arena's page, from that of its socket."""
    parts = urlsplit(url)
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    path = parts.path.rstrip("/").removesuffix("/ws").removesuffix("/v1").removesuffix("/api")
    return urlunsplit((scheme, parts.netloc, path, "", ""))


class Desk:
    """Questions over HTTP, each of them one request."""

    def __init__(self, page: str, identity: Identity | None = None) -> None:
        self.page = page
        self.identity = identity

    async def challenges(self) -> dict[str, ChallengeMetadata]:
        """What can be played: rules, moves and options, by type."""
        told = await self.fetch("GET", "metadata")
        return {name: ChallengeMetadata.from_wire(words) for name, words in told.items()}

    async def sessions(
        self,
        challenge: str | None = None,
        status: Literal["open", "active", "ended"] | None = None,
        *,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Challenge]:
        """The sessions of a challenge, or of all, newest first."""
        path = ("challenges", challenge) if challenge else ("challenges",)
        told = await self.fetch("GET", *path, query={"status": status, "limit": limit, "offset": offset})
        return [Challenge.from_wire(each) for each in told["challenges"]]

    async def announce(self, invite: str) -> None:
        """Offer a seat to anybody: its invite is shown to all."""
        await self.fetch("POST", "invites", body={"inviteId": invite})

    async def announced(self) -> list[str]:
        """The invites that were offered to anybody, newest last; some may have been taken since."""
        told = await self.fetch("GET", "chat", "sync", query={"channel": INVITES})
        return list(dict.fromkeys(ChatMessage.from_wire(each).content for each in told["messages"]))

    async def profile(self, user: str) -> UserProfile:
        """Who somebody is; raises `Refused` with NOT_FOUND if nobody has said."""
        return UserProfile.from_wire(await self.fetch("GET", "users", user))

    async def introduce(
        self, user: str | None = None, *, username: str | None = None, model: str | None = None
    ) -> UserProfile:
        """Say who you are; an arena where players sign in takes whom the identity stands for."""
        signed = self.identity.sign("user-update") if self.identity else {"userId": user}
        return UserProfile.from_wire(
            await self.fetch("POST", "users", body={"username": username, "model": model, **signed})
        )

    async def fetch(
        self, method: str, *path: str, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> Any:
        """The JSON of a route below `/api/v1`; raises `Refused` with the server's code."""
        given = {name: value for name, value in (body or {}).items() if value is not None}
        raw = None if body is None else json.dumps(given).encode()
        try:
            answer = await asyncio.to_thread(remote.ask, method, self.page, path, query, raw, kind="application/json")
        except CannotStart as error:
            raise Disconnected(str(error)) from None
        if answer.ok:
            return answer.json
        told = answer.json
        code = told.get("code") or CODES.get(answer.status, "VALIDATION")
        if code == RateLimited.code:
            raise RateLimited(told["error"], float(told.get("retryAfter", 1.0)))
        raise Refused(code, told["error"])
