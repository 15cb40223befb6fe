"""Pump: brings a connection what waits for it in the log, in a task of the moment."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context

from arena.errors import NotFound, StoreUnavailable

STORE_PAUSE = 0.5  # seconds between two tries while the store does not answer


class Pump:
    """Calls `bring` for as long as it says that there is more; an idle one costs nothing."""

    __slots__ = ("_bring", "_context", "_task", "_wanted")

    def __init__(self, bring: Callable[[], Awaitable[bool]], context: Context) -> None:
        self._bring = bring
        self._context = context  # that of the connection: log lines of what is brought have its id
        self._wanted = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Something waits in the log."""
        self._wanted = True
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="pump", context=self._context)

    async def _run(self) -> None:
        try:
            while self._wanted:
                self._wanted = False
                try:
                    while await self._bring():
                        pass
                except NotFound:
                    continue  # it was removed, and its room will say so
                except StoreUnavailable:
                    await asyncio.sleep(STORE_PAUSE)
                    self._wanted = True
        finally:
            self._task = None

    def stop(self) -> None:
        """Bring no more, and forget for whom."""
        if self._task is not None:
            self._task.cancel()
        self._bring = _nothing


async def _nothing() -> bool:
    """All that there is for somebody who is gone."""
    return False
