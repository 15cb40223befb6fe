"""Place: where somebody is to sit, before the seat is taken."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from arena.client.arena import HERE, Arena
from arena.client.game import Game
from arena.identity import Identity


@dataclass(frozen=True)
class Place:
    """An invite to an arena, and who is to play on it: a name in open mode, an identity where players sign in."""

    invite: str  # or the id of a session, to come back to
    url: str = HERE
    user: str | None = None
    identity: Identity | None = None
    session_key: str | None = None  # of a seat that was taken before

    @asynccontextmanager
    async def taken(self, *, raw: bool = False) -> AsyncIterator[Game]:
        """The seat, over a connection of its own; leaving does not give the game up."""
        async with Arena(self.url, identity=self.identity) as arena:
            if self.session_key is None:
                yield await arena.join(self.invite, self.user, raw=raw)
            else:
                yield await arena.resume(self.invite, self.session_key, raw=raw)
