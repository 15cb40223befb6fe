"""Notary: the signing keys of a store, for the person who runs it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from arena import catalog
from arena.catalog import Catalog
from arena.logs import set_up_logging
from arena.proving import openings_of
from arena.recompute import check_store
from arena.runtime import Arena, open_arena
from arena.server import shared_store_of
from arena.settings import Settings
from arena.store.signing import PublicKey


async def published(settings: Settings) -> list[PublicKey]:
    """All keys of a store, the newest first."""
    async with _opened(settings) as arena:
        return await arena.signing.published()


async def rotate(settings: Settings, *, revoke: bool) -> PublicKey:
    """Have a store's records signed with a new key."""
    async with _opened(settings) as arena:
        made = await arena.signing.rotate(arena.clock.now(), revoke=revoke)
        return made.shown


async def openings(settings: Settings, id_: str) -> bytes:
    """What opens the record of a game in a store."""
    async with _opened(settings, catalog.load(settings.load)) as arena:
        return await openings_of(arena, await arena.engine.get(id_))


@asynccontextmanager
async def _opened(settings: Settings, known: Catalog | None = None) -> AsyncIterator[Arena]:
    set_up_logging("warning")
    check_store(settings)
    with shared_store_of(settings) as store:
        async with open_arena(settings, known or Catalog(), store) as arena:
            yield arena
