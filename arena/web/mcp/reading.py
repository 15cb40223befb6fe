"""Reading: what was said in channels from an index on, and waiting until there is something to read."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

from pydantic import Field
from starlette.requests import ClientDisconnect

from arena.auth import Viewer
from arena.models import Channel
from arena.runtime import Arena
from arena.waiting import LONGEST
from arena.web.calls import moves
from arena.web.hangup import unless_gone
from arena.web.limits import place
from arena.web.mcp.tools import Asked

Wait = Annotated[float, Field(ge=0, le=LONGEST, strict=False, description="Seconds to wait if nothing is there yet.")]


def deadline() -> float:
    """How long a request may wait from now on, however many calls it brings."""
    return asyncio.get_running_loop().time() + LONGEST


async def sync(asked: Asked, viewer: Viewer, channel: Channel, index: int, wait: float) -> dict[str, Any]:
    """Messages of a channel; if there is none yet, the first ones that come while the caller waits."""
    index = max(1, min(index, moves.BEYOND))
    waiting = partial(until, asked, {channel: index}, wait) if wait else None
    return await moves.sync(asked.arena, viewer, channel, index, waiting)


async def until(asked: Asked, indexes: Mapping[Channel, int], seconds: float) -> None:
    """Return when one of the channels has a message at its index, the time is over, or the caller has gone."""
    seconds = min(seconds, asked.until - asyncio.get_running_loop().time())
    if seconds > 0:
        # What else a caller who has gone has asked for is carried out, as if it had stayed.
        with place(asked.arena, asked.address), suppress(ClientDisconnect):
            await unless_gone(asked.receive, _first(asked.arena, indexes, seconds))


async def _first(arena: Arena, indexes: Mapping[Channel, int], seconds: float) -> None:
    waits = [
        asyncio.create_task(arena.waiting.until(channel, index, seconds), name="mcp wait")
        for channel, index in indexes.items()
    ]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
