"""Leases: rates that all workers share, without anybody waiting for the store.

A worker has a share of its own to begin with, and fetches what was spent of it from the store in the background: once a
second, or earlier when half is gone. Who spends much gets more than the share; what is not needed is brought back. So
half of what a rate allows at once lies with the workers and half in the store, which is filled at that rate. While the
store is away each worker goes on with its share. Those who take little are not counted in the store at all.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from redis.exceptions import RedisError

from arena import auth
from arena.errors import ArenaError, RateLimited
from arena.store.nodes import Nodes, heed_cancellation

logger = logging.getLogger(__name__)

LEASE = 1.0  # seconds
PAUSE = 0.05  # seconds between two early renewals
PATIENCE = 0.5  # seconds that the store may take
MOST = 10_000  # subjects that a worker counts one by one; all others together count as one
LITTLE = 0.1  # of a worker's share; who takes less is not counted in the store
EVERYBODY = ""

Subject = tuple[str, str]  # which rate, and who is counted


class Reply(NamedTuple):
    """What the store says to a renewal."""

    granted: int
    left: float  # in the store


class Lease:
    """What one worker may let one subject do until it asks the store again."""

    __slots__ = ("at", "left", "low", "refused", "spent", "wait")

    def __init__(self, share: float) -> None:
        self.left = share
        self.low = share / 2  # below this it is renewed at once
        self.spent = 0
        self.refused = False
        self.wait = 0.0  # seconds until there is something again
        self.at = time.monotonic()

    def is_due(self, now: float) -> bool:
        """Whether to ask the store."""
        return self.left < self.low or now - self.at >= LEASE


class Leases:
    """The leases of a worker, by rate and subject."""

    def __init__(self, nodes: Nodes, secret: bytes, rates: Mapping[str, float], crew: int = 1) -> None:
        self.nodes = nodes
        self.secret = secret
        self.rates = rates  # tokens a second; 0 is no limit
        self.crew = crew  # workers that share them
        self.refused: Callable[[str], None] = lambda rate: None  # told the rate that refused somebody
        self._held: dict[Subject, Lease] = {}
        self._needy = asyncio.Event()

    def spend(self, rate: str, *subjects: str) -> None:
        """Take a token for each subject, or raise with the time to wait."""
        for subject in subjects:
            wait = self.take(rate, subject)
            if wait > 0:
                raise RateLimited("Too many requests.", round(wait, 3))

    def take(self, rate: str, subject: str) -> float:
        """Take a token; if there is none, the seconds until there may be one."""
        if not self.rates[rate]:
            return 0.0
        lease = self._held.get((rate, subject)) or self._begin(rate, subject)
        if lease.left >= 1:
            lease.left -= 1
            lease.spent += 1
            if lease.left < lease.low:
                self._needy.set()
            return 0.0
        lease.refused = True
        self._needy.set()
        self.refused(rate)
        return max(lease.wait, PAUSE)

    def _begin(self, rate: str, subject: str) -> Lease:
        """Begin with our share, which is ours without asking."""
        if len(self._held) >= MOST:
            subject = EVERYBODY
        return self._held.setdefault((rate, subject), Lease(self._share(rate)))

    def _share(self, rate: str) -> float:
        return max(1.0, self.rates[rate] / self.crew)

    async def run(self) -> None:
        """Renew what is due, for as long as the server lives."""
        while True:
            try:
                async with asyncio.timeout(LEASE):
                    await self._needy.wait()
            except TimeoutError:
                pass
            self._needy.clear()
            await self.renew()
            heed_cancellation()
            await asyncio.sleep(PAUSE)

    async def renew(self) -> None:
        """Renew what is due, all of it in one go."""
        now = time.monotonic()
        due = [(subject, lease) for subject, lease in self._held.items() if lease.is_due(now)]
        asked = [self._renew(subject, lease, now) for subject, lease in due if not self._settle(subject, lease, now)]
        await asyncio.gather(*asked)

    def _settle(self, subject: Subject, lease: Lease, now: float) -> bool:
        """Fill up here what is as good as full."""
        share = self._share(subject[0])
        if lease.refused or lease.spent > LITTLE * share or not share <= lease.left + lease.spent < share + 1:
            return False
        if not lease.spent:
            del self._held[subject]
        lease.left, lease.spent, lease.at = share, 0, now
        return True

    async def _renew(self, subject: Subject, lease: Lease, now: float) -> None:
        share, most = self._share(subject[0]), max(1.0, self.rates[subject[0]])
        wish, elapsed = min(most, max(share, 2.0 * lease.spent)), now - lease.at
        want, surplus = max(0, math.ceil(wish - lease.left)), max(0.0, lease.left - wish)
        lease.left -= surplus
        lease.spent, lease.refused, lease.low, lease.at = 0, False, wish / 2, now
        reply = await self._ask(subject, surplus, want)
        if reply is None:
            lease.left = min(share, lease.left + elapsed * share)
            return
        lease.left += reply.granted
        lease.wait = max(0.0, 1 - reply.left) / self.rates[subject[0]]

    async def _ask(self, subject: Subject, back: float, want: int) -> Reply | None:
        rate, who = subject
        tokens = self.rates[rate]
        key = f"lim:{rate}:{auth.origin(self.secret, who)}"
        try:
            async with asyncio.timeout(PATIENCE):
                granted, left = await self.nodes.script("lease", [key], tokens, max(1.0, tokens), back, want)
        except (ArenaError, RedisError, OSError):
            logger.debug("no lease from the store rate=%s", rate)
            return None
        return Reply(granted, float(left))
