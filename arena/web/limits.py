"""Limits of one worker: frames per connection, connections per address."""

import time
from collections import Counter
from collections.abc import Callable


class Bucket:
    """A token bucket: so many a second, with a burst of twice as many; 0 has no bottom."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._tokens = 2 * rate
        self._at = clock()

    def take(self) -> float:
        """Take a token; if there is none, the seconds until there will be one."""
        if not self.rate:
            return 0.0
        now = self._clock()
        self._tokens = min(2 * self.rate, self._tokens + (now - self._at) * self.rate)
        self._at = now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) / self.rate


class Addresses:
    """How many connections each address has."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._open: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Count a new connection, unless there are too many."""
        if self.limit and self._open[address] >= self.limit:
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        """A connection is gone."""
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]
