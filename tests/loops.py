"""Tests on the loop of a real server."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import uvloop

LONGEST = 240.0  # seconds


def on_uvloop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test on the loop of a real server, whose transports are not those of asyncio.

    Its time is limited here, since uvloop takes the signal of pytest's own limit for the fault of a callback.
    """

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        uvloop.run(asyncio.wait_for(test(*args, **kwargs), LONGEST))

    return run
