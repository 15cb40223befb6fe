"""Shown: what many look at is made once. A tournament that is watched by hundreds costs no more than one by two."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from arena.store.tournaments import Tournaments
from arena.tournament.entry import Entry

KEPT = 64  # things that were made
FRESH = 0.5  # seconds for which a look at a tournament under way is good enough


class Made(NamedTuple):
    """Something that was made of a tournament."""

    changes: int  # as of which it is
    at: float
    shown: Any


class Shown:
    """Looks at tournaments, remembered until something changes."""

    def __init__(self, store: Tournaments) -> None:
        self.store = store
        self._made: OrderedDict[tuple[str, str], Made] = OrderedDict()
        self._making: dict[tuple[str, str], asyncio.Lock] = {}

    async def get(self, id_: str, make: Callable[[Entry], Any], *, fresh: float = 0.0, aside: bool = False) -> Any:
        """What `make` makes of a tournament as it stands, or stood so long ago at most; slow work is done aside."""
        key = (id_, make.__name__)
        async with self._making.setdefault(key, asyncio.Lock()):
            try:
                return await self._get(key, make, fresh, aside)
            finally:
                if key not in self._made:
                    self._making.pop(key, None)

    async def _get(self, key: tuple[str, str], make: Callable[[Entry], Any], fresh: float, aside: bool) -> Any:
        made = self._made.get(key)
        if made is not None and time.monotonic() - made.at < fresh:
            return made.shown
        changes = await self.store.changes(key[0])
        if made is not None and made.changes == changes:
            return made.shown
        entry = await self.store.load(key[0])
        shown = await asyncio.to_thread(make, entry) if aside else make(entry)
        self._made[key] = Made(changes, time.monotonic(), shown)
        while len(self._made) > KEPT:
            self._making.pop(self._made.popitem(last=False)[0], None)
        return shown

    def forget(self, id_: str) -> None:
        """Look again."""
        for key in [key for key in self._made if key[0] == id_]:
            self._made.pop(key)
