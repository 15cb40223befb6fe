"""Pairs: two sessions on one deal. Nobody sits on two of its seats, and nothing is shown before both have ended."""

import secrets
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from arena import deals
from arena.errors import NotFound, Refused
from arena.models import Millis, SessionId, Status
from arena.session import Session, Unveil
from arena.store import keys
from arena.store.sessions import Key

if TYPE_CHECKING:
    from arena.engine import Engine


class Pairs:
    """What sessions of a pair need beyond what all sessions have."""

    def __init__(self, engine: "Engine") -> None:
        self.engine = engine

    async def create(
        self,
        type: str,
        options: Mapping[str, JsonValue] | None = None,
        *,
        deal: deals.Deal | None = None,
        swap: bool = False,
        origin: str | None = None,
    ) -> list[Session]:
        """Open two sessions on the same deal, in no public list since what one shows is news in the other."""
        kind, *_ = await self.engine.catalog.offer(type, options)
        if swap and not kind.operator.replayable:
            raise Refused("NOT_REPLAYABLE", "Who swaps seats in this challenge knows everything; it does not allow it.")
        await self.engine.check_waiting(origin, 2)
        first = keys.new_session_id()
        ids = (first, keys.new_session_id(beside=first))  # in one shard, so that a join can look at both
        deal = (deal or deals.draw())._replace(pair=secrets.token_hex(16), swap=swap)
        return [
            await self.engine.create(
                type, options, private=True, origin=origin, id_=id_, deal=deal._replace(twins=(twin,))
            )
            for id_, twin in (ids, ids[::-1])
        ]

    async def unveil(self, sessions: Iterable[SessionId]) -> None:
        """Open the sessions of a pair to everybody, if the last of them has ended; one that is gone keeps nobody."""
        there = await self._loaded(sessions)
        if not all(session.standing.status is Status.ENDED for session in there):
            return
        for session in there:
            if not session.standing.revealed:
                await self.engine.put(session.id, Key("r:unveil", "0" * 32), _unveil)

    async def is_over(self, session: Session) -> bool:
        """Whether no session of a pair is still played, so that it may be shown."""
        return all(twin.standing.status is Status.ENDED for twin in await self._loaded(session.header.twins))

    async def _loaded(self, sessions: Iterable[SessionId]) -> list[Session]:
        found = []
        for id_ in sessions:
            try:
                found.append(await self.engine.get(id_))
            except NotFound:
                continue
        return found


def _unveil(session: Session, now: Millis) -> Unveil:
    return Unveil(at=now)
