"""Clock: the time of the arena is the store's, so that several machines agree on a deadline."""

import time

from arena.models import Millis


class Clock:
    """Milliseconds since the epoch, shifted to the store's clock; never runs backwards within a process."""

    def __init__(self) -> None:
        self.offset = 0.0
        self._last = 0

    def now(self) -> Millis:
        """The moment of an input."""
        self._last = max(self._last, int((time.time() + self.offset) * 1000))
        return Millis(self._last)
