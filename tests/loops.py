"""Tests on the loop of a real server."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import uvloop


def on_uvloop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test on the loop of a real server, whose transports are not those of asyncio."""

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        uvloop.run(test(*args, **kwargs))

    return run
