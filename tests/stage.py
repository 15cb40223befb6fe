"""The stage: packs that are published and played for those who look at pages."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.bundles import ROOT
from tests.guests import Guest, visit
from tests.servers import Served

PACKS = ROOT / "challenges" / "packs"
END: dict[str, Any] = {}  # in place of a message: there will be none


@dataclass
class Race:
    """A session of a pack whose players are seated."""

    id: str
    type: str
    invites: list[str]
    players: list[Guest]

    async def act(self, seat: int, type: str, content: Any) -> None:
        """Make a move."""
        text = content if isinstance(content, str) else json.dumps(content)
        await self.players[seat].get("message", challengeId=self.id, messageType=type, content=text)

    async def submit(self, seat: int, *outputs: str) -> None:
        """Hand in answers, one after the other."""
        for output in outputs:
            await self.act(seat, "submit", output)

    async def reply(self, seat: int, *answers: str) -> None:
        """Answer the user of a conversation, whenever the user has spoken."""
        for turn, answer in enumerate(answers):
            await self.heard(seat, "user", turn + 1)
            await self.act(seat, "reply", answer)

    async def sit(self, arena: Served, number: int) -> int:
        """Take the invite of somebody who does not play; its place among the guests."""
        guest = await visit(arena)
        await guest.get("join", invite=self.invites[number])
        self.players.append(guest)
        return len(self.players) - 1

    async def answer_all(self, seat: int, type: str, respond: Callable[[dict[str, Any]], tuple[str, Any]]) -> None:
        """Respond to everything of a type that a seat is told, until the game ends."""
        guest, done = self.players[seat], 0
        while True:
            found = await guest.until(lambda done=done: self._next(seat, type, done), f"{type} or the end")  # type: ignore[misc]
            if found is END:
                return
            await self.act(seat, *respond(found))
            done += 1

    def _next(self, seat: int, type: str, done: int) -> dict[str, Any] | None:
        told = self.told(seat, type)
        if len(told) > done:
            return told[done]
        return END if self.players[seat].of("game_ended", challengeId=self.id) else None

    def told(self, seat: int, type: str) -> list[dict[str, Any]]:
        """What of a type the operator has told a seat."""
        texts = [message["content"] for message in self.players[seat].messages(f"challenge_{self.id}")]
        told = [json.loads(text) for text in texts if text.startswith("{")]
        return [each for each in told if each["type"] == type]

    async def heard(self, seat: int, type: str, count: int = 1) -> list[dict[str, Any]]:
        """What the operator told a seat, once there is so much of it."""

        def find() -> list[dict[str, Any]] | None:
            found = self.told(seat, type)
            return found if len(found) >= count else None

        return await self.players[seat].until(find, f"{count} times {type}")


async def publish(arena: Served, pack: bytes | str) -> str:
    """Put a pack on the server's shelf, one of ours by its name; its slug."""
    text = pack if isinstance(pack, bytes) else await asyncio.to_thread((PACKS / f"{pack}.yaml").read_bytes)
    async with httpx.AsyncClient(base_url=arena.url) as keeper:
        answer = await keeper.post("/api/packs", content=text)
    assert answer.status_code in {200, 201}, answer.text
    return str(answer.json()["slug"])


async def start(arena: Served, type: str, *users: str, **options: Any) -> Race:
    """Open a session of a pack and seat its players."""
    guests = [await visit(arena) for _ in users]
    made = await guests[0].get("create", challengeType=type, options={"players": len(users), **options})
    for guest, invite, user in zip(guests, made["invites"], users, strict=False):
        await guest.get("join", invite=invite, userId=user)
    return Race(made["id"], type, made["invites"], guests)
