"""What tests look at: conditions that come true in the end, cursors, logs and boards."""

import asyncio
from collections.abc import Awaitable, Callable

from arena.chat import operator_channel, player_channel
from arena.models import SessionId
from arena.runtime import Arena
from tests.guests import PATIENCE, Frame, Guest


async def until(condition: Callable[[], Awaitable[object]], what: str, seconds: float = PATIENCE) -> None:
    """Return as soon as the condition holds, and fail by name if it does not."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                if await condition():
                    return
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"not within {seconds:g} s: {what}") from None


def cursors_of(guest: Guest) -> dict[str, Frame]:
    """Where a guest has come to in each channel, as a client would remember it."""
    cursors: dict[str, Frame] = {}
    for frame in guest.frames:
        if frame["type"] == "initial":
            cursors[frame["channel"]] = {"index": frame["next"], "epoch": frame["epoch"]}
        elif frame["type"] == "new_message":
            message = frame["message"]
            cursors[message["channel"]] = {"index": message["index"] + 1, "epoch": frame["epoch"]}
    return cursors


async def stored(arena: Arena, session: str) -> tuple[list[Frame], list[Frame]]:
    """Both logs of a session as they lie in the store, the operator's first."""
    id_ = SessionId(session)
    pages = [
        await arena.sessions.page(channel, 1, "", 2**30) for channel in (operator_channel(id_), player_channel(id_))
    ]
    operator, player = ([entry.fields(index) for index, entry in enumerate(page.entries, 1)] for page in pages)
    return operator, player


async def tallies(arena: Arena, type: str | None = "psi") -> dict[str, int]:
    """Games played by player, on the board of a type or the global one."""
    _, _, entries = await arena.scorer.board(type, None)
    return {entry.player_id: entry.games_played for entry in entries}
