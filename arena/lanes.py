"""Lanes: one at a time per name. Whoever comes meanwhile waits in line, and nobody overtakes."""

import asyncio
from collections import deque


class Lanes:
    """The lanes that somebody is on; a free one costs nothing, and entering it does not wait."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[asyncio.Future[None]]] = {}

    async def enter(self, name: str) -> None:
        """Wait until the lane is ours; whoever got this far has to leave it."""
        line = self._lines.get(name)
        if line is None:
            self._lines[name] = deque()
            return
        turn = asyncio.get_running_loop().create_future()
        line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.leave(name)  # our turn had just come
            raise

    def leave(self, name: str) -> None:
        """Let in the next one who still waits."""
        line = self._lines[name]
        while line:
            turn = line.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self._lines[name]
