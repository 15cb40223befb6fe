"""Agents: what they are made of, as far as their owners say so. None of it is checked, and all answers say that."""

from typing import Any

from arena import auth
from arena.auth import WINDOW, Signed, Viewer
from arena.errors import Invalid, NotFound
from arena.models import Declared, UserId, user_behind
from arena.runtime import Arena
from arena.web.calls.bodies import Agent, SignedAgent, read

PURPOSE = "agent-update"  # what a signature is for


async def declare(arena: Arena, viewer: Viewer, body: Any) -> dict[str, Any]:
    """Say what an agent is made of from now on; games that it sits in already count as what it was."""
    now = arena.clock.now()
    if not arena.ring.required:
        wish = read(Agent, body)
        user = UserId(wish.user_id or viewer.name or "")
        if not user:
            raise Invalid("userId is required")
        await arena.engine.agents.declare(user, wish.declared, now)
        return await _shown(arena, user)
    proof = read(SignedAgent, body)
    signed = Signed(proof.public_key, proof.signature, proof.timestamp)
    user = auth.sign_in(signed, PURPOSE, now)
    await arena.engine.agents.declare(user, proof.declared, now, (int(signed.timestamp), WINDOW))
    return await _shown(arena, user)


async def show(arena: Arena, name: str) -> dict[str, Any]:
    """What a user, or the user of an entrant, has declared."""
    found = await _shown(arena, user_behind(UserId(name)))
    if found["declared"] == {} and not found["variants"]:
        raise NotFound("Nothing was declared of this agent.")
    return found


async def _shown(arena: Arena, user: UserId) -> dict[str, Any]:
    agents = arena.engine.agents
    declared = await agents.current(user) or Declared()
    return {
        "userId": user,
        "entrant": declared.entrant_of(user),
        "declared": declared.wire(),
        "variants": [entrant.wire() for entrant in await agents.variants(user)],
        "selfReported": True,
    }
