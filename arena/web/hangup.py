"""Hang-up: what ASGI has to say about a client that goes away before it is answered."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

Result = TypeVar("Result")


async def hung_up(receive: Receive) -> None:
    """Return when the client is gone; what it still sends is thrown away."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, Result]) -> Result:
    """What some work comes to; if the client goes away first the work is cancelled, and there is nobody to tell."""
    working = asyncio.create_task(work, name="patient request")
    leaving = asyncio.create_task(hung_up(receive), name="hang-up")
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return await working
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
