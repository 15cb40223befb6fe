"""Roster: what the people who run an arena say of its users, and no user says of itself."""

import asyncio

from arena.catalog import Catalog
from arena.errors import CannotStart
from arena.logs import set_up_logging
from arena.models import UserId, UserProfile
from arena.runtime import open_arena
from arena.server import shared_store_of
from arena.settings import Settings


def mark(settings: Settings, user: UserId, benchmark: bool) -> UserProfile:
    """Say whether a user is a benchmark agent, on the store of a running server or on our own."""
    set_up_logging("warning")
    if settings.store is None and not (settings.data / "appendonlydir").is_dir():
        raise CannotStart(f"There is no store in {settings.data}; give the --data or --store of the server.")
    with shared_store_of(settings) as store:
        return asyncio.run(_mark(settings, store, user, benchmark))


async def _mark(settings: Settings, store: str, user: UserId, benchmark: bool) -> UserProfile:
    async with open_arena(settings, Catalog(), store) as arena:
        return await arena.users.mark(user, benchmark, arena.clock.now())
