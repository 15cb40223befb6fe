"""Agents in the store: what users have declared of them, now and for each variant that they ever had."""

from collections.abc import Iterable, Sequence

from arena.models import Declared, Entrant, Millis, UserId
from arena.store import keys
from arena.store.nodes import Nodes
from arena.store.users import AGENT, Users

MOST = 1_000  # variants that are listed


class Agents:
    """The declarations of a store. That of a variant never changes, but for its owner."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    async def declare(self, user: UserId, declared: Declared, now: Millis, signed: Sequence[int] = ()) -> Declared:
        """Say what an agent is made of from now on; `signed` is when, and for how long that holds."""
        text = declared.to_json().decode() if declared != Declared() else ""
        await Users(self.nodes).declare(user, text, now, signed)
        await self.note(Entrant(id=user, owner=declared.owner))
        entrant = declared.entrant_of(user)
        if entrant != user:
            await self.note(Entrant(id=entrant, **declared.model_dump()))
            name = keys.variants(user)
            await self.nodes.run(name, "ZADD", name, "NX", now, entrant)
        return declared

    async def note(self, entrant: Entrant, *condition: str) -> None:
        """Keep what is known of an entrant; with `NX`, if nothing is known yet."""
        name = keys.agent(entrant.id)
        facts = Declared(**entrant.model_dump(exclude={"id"})).to_json()
        await self.nodes.run(name, "SET", name, facts, *condition)

    async def current(self, user: UserId) -> Declared | None:
        """What a user has declared last."""
        name = keys.profile(user)
        found = await self.nodes.run(name, "HGET", name, AGENT)
        return Declared.from_json(found) if found else None

    async def entrant(self, user: UserId) -> Entrant | None:
        """As what a user sits down: none if it is nothing but itself."""
        declared = await self.current(user)
        if declared is None or declared.variant is None:
            return None
        return Entrant(id=declared.entrant_of(user), **declared.model_dump())

    async def declared(self, entrants: Iterable[UserId]) -> dict[UserId, Declared]:
        """What was declared of these, where something was."""
        asked = list(dict.fromkeys(entrants))
        names = [keys.agent(entrant) for entrant in asked]
        found = await self.nodes.run_all([(name, ("GET", name)) for name in names])
        known = {entrant: Declared.from_json(data) for entrant, data in zip(asked, found, strict=True) if data}
        return {entrant: facts for entrant, facts in known.items() if facts != Declared()}

    async def variants(self, user: UserId) -> list[Entrant]:
        """All that a user has ever declared, from old to new."""
        name = keys.variants(user)
        ids = [UserId(one.decode()) for one in await self.nodes.run(name, "ZRANGE", name, 0, MOST - 1)]
        known = await self.declared(ids)
        return [Entrant(id=id_, **known[id_].model_dump()) for id_ in ids if id_ in known]
