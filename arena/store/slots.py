"""Slots: how many connections an address has over all workers, without anybody waiting for the store.

A worker tells the store how many it has and hears how many the others have. In between it may give away its share of
what was free then; of somebody it has not heard about, its share of all, and it asks when half of that is gone. So many
who come at once are let in, and the limit can be exceeded only in the moment before the answer comes, by less than as
much again. Whoever has few connections is not counted in the store at all.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable

from redis.exceptions import RedisError

from arena import auth
from arena.errors import ArenaError
from arena.store.nodes import Nodes, heed_cancellation

logger = logging.getLogger(__name__)

NEWS = 1.0  # seconds between two reports while something changes
PAUSE = 0.05  # seconds between two early ones
REFRESH = 5.0  # seconds between two reports while nothing does
LIFE = 15_000  # milliseconds that a report is believed
PATIENCE = 0.5  # seconds that the store may take
LITTLE = 0.1  # of a worker's share; who has fewer is not told to the store


class Place:
    """What one worker knows of one subject."""

    __slots__ = ("at", "others", "own", "told")

    def __init__(self) -> None:
        self.own = 0
        self.told = 0  # how many of ours the store has heard of
        self.others = 0  # how many others had then
        self.at = 0.0


class Slots:
    """The slots that a worker has given away, by subject."""

    def __init__(self, nodes: Nodes, secret: bytes, worker: str, most: int, crew: int = 1) -> None:
        self.nodes = nodes
        self.secret = secret
        self.worker = worker
        self.most = most  # of one subject; 0 is no limit
        self.crew = crew  # workers that share them
        self.refused: Callable[[str], None] = lambda limit: None  # told when somebody got none
        self._places: dict[str, Place] = {}
        self._needy = asyncio.Event()

    def enter(self, subject: str) -> bool:
        """Take a slot, unless there are too many."""
        place = self._places.setdefault(subject, Place())
        if self.most:
            share, fresh = self._share(place), place.own + 1 - place.told
            if 2 * fresh > share:
                self._needy.set()
            if fresh > share:
                self.refused("connections")
                return False
        place.own += 1
        return True

    def _share(self, place: Place) -> int:
        """How many we may give away on top of those that the store has heard of."""
        return math.ceil(max(0, self.most - place.told - place.others) / self.crew)

    def leave(self, subject: str) -> None:
        """Give a slot back."""
        place = self._places[subject]
        place.own -= 1
        if not place.own and not place.told:
            del self._places[subject]

    async def run(self) -> None:
        """Tell the store and hear from it, for as long as the server lives."""
        while self.most:
            try:
                async with asyncio.timeout(NEWS):
                    await self._needy.wait()
            except TimeoutError:
                pass
            self._needy.clear()
            await self.report()
            heed_cancellation()
            await asyncio.sleep(PAUSE)

    async def report(self) -> None:
        """Tell what is new or has not been told for long, all of it in one go."""
        now = time.monotonic()
        due = [(subject, place) for subject, place in self._places.items() if self._is_due(place, now)]
        await asyncio.gather(*(self._report(subject, place, now) for subject, place in due))

    def _is_due(self, place: Place, now: float) -> bool:
        if not place.told and 2 * place.own < LITTLE * self.most / self.crew:
            return False
        return place.own != place.told or now - place.at >= REFRESH

    async def _report(self, subject: str, place: Place, now: float) -> None:
        key, own = f"lim:connections:{auth.origin(self.secret, subject)}", place.own
        try:
            async with asyncio.timeout(PATIENCE):
                place.others = await self.nodes.script("slots", [key], self.worker, own, LIFE)
        except (ArenaError, RedisError, OSError):
            logger.debug("connections not told to the store")
            place.told, place.others, place.at = 0, 0, now  # each worker keeps to its own share until the store is back
            return
        place.told, place.at = own, now
        if not place.own and not place.told and self._places.get(subject) is place:
            del self._places[subject]
