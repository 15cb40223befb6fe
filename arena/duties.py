"""Duties: what a server does by itself. No single item may end them: a fault is logged, and the next one comes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine

from arena.errors import ArenaError, trace
from arena.store.nodes import heed_cancellation

logger = logging.getLogger(__name__)

Duty = Callable[[], Coroutine[None, None, None]]
AFTER_FAULT = 1.0  # seconds


async def again(name: str, pause: float, work: Callable[[], Awaitable[object]]) -> None:
    """Do something for ever, with a pause in between."""
    while True:
        fine = await attempt(name, work())
        heed_cancellation()
        await asyncio.sleep(pause if fine else max(pause, AFTER_FAULT))


async def attempt(name: str, work: Awaitable[object]) -> bool:
    """Do something once; what the store does not allow now, or what is broken, is told in one line of the log."""
    try:
        await work
    except ArenaError as error:
        logger.warning("put off work=%s code=%s", name, error.code)
    except Exception as error:  # a stored record or a plugin may be wrong in any way
        logger.error("failed work=%s %s", name, trace(error))
    else:
        return True
    return False
