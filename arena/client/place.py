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

    invite: str
    url: str = HERE
    user: str | None = None
    identity: Identity | None = None

    @asynccontextmanager
    async def taken(self, *, raw: bool = False) -> AsyncIterator[Game]:
        """The seat, over a connection of its own; leaving does not give the game up."""
        async with Arena(self.url, identity=self.identity) as arena:
            yield await arena.join(self.invite, self.user, raw=raw)
