"""Queues: those who want to play and have nobody to play with."""

from typing import Any

from arena import auth
from arena.auth import Signed
from arena.errors import Invalid, NotFound
from arena.models import UserId
from arena.queueing import QueueState
from arena.runtime import Arena
from arena.ticketing import Wish
from arena.web.calls.bodies import Queue, SignedQueue, read

PURPOSE = "queue:{}"  # what a signature is for, with the challenge


async def enter(arena: Arena, type: str, body: Any, origin: str) -> QueueState:
    """A ticket for a challenge, or the one that its owner has already."""
    arena.leases.spend("joins", origin)
    wish = read(SignedQueue if arena.ring.required else Queue, body)
    user = UserId(wish.user_id) if wish.user_id else None
    if isinstance(wish, SignedQueue):
        signed = Signed(wish.public_key, wish.signature, wish.timestamp)
        user = auth.sign_in(signed, PURPOSE.format(type), arena.clock.now())
        arena.leases.spend("joins", user)
    return await arena.matchmaker.enter(
        Wish(type, wish.options, wish.ranked, user, arena.ring.required, origin, wish.key)
    )


async def state(arena: Arena, type: str, ticket: str, wait: float = 0) -> dict[str, Any]:
    """How a ticket stands, at once or when something has come of it."""
    found = await arena.matchmaker.wait(type, ticket, wait) if wait else await arena.matchmaker.state(type, ticket)
    return _there(found)


async def leave(arena: Arena, type: str, ticket: str | None) -> dict[str, Any]:
    """Give a ticket up."""
    if not ticket:
        raise Invalid("ticket is required")
    return (await arena.matchmaker.leave(type, ticket)).wire()


async def overview(arena: Arena, type: str) -> dict[str, Any]:
    """How many wait for a challenge; not who."""
    return {"challengeType": type, "waiting": await arena.matchmaker.overview(type)}


def _there(found: QueueState) -> dict[str, Any]:
    if found.status == "gone":
        raise NotFound("There is no such ticket, or no more.")
    return found.wire()
