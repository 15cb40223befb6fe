"""Inbox: what has been heard and the model has not been told, and when that is worth a call.

What the operator says is, at once. What players say is as well, but not without end: they do not pay for it.
"""

import asyncio
from typing import NamedTuple

from arena.chat import operator_channel
from arena.client import ChatMessage, Game
from arena.models import OPERATOR

SETTLE = 0.1  # seconds in which more may come that belongs together
BURST = 20  # calls in a row that talk alone may cause
REFILL = 30.0  # seconds until it may cause another
MOST = 500  # messages of players that are kept; the oldest go


class News(NamedTuple):
    """What came in, in the order of its coming."""

    operator: list[ChatMessage]
    players: list[ChatMessage]
    lost: int = 0  # messages of players that there was no room for

    def __bool__(self) -> bool:
        return bool(self.operator or self.players)


class Inbox:
    """The news of one game."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.is_deaf = False  # to talk that comes alone
        self._begun = asyncio.Event()
        self._bell = asyncio.Event()
        self._news = News([], [])
        self._lost = 0
        self._tokens = float(BURST)
        self._filled_at = _now()

    def begin(self) -> None:
        """All sit."""
        self._begun.set()

    def hear(self, message: ChatMessage) -> None:
        """Keep a message of somebody else."""
        if message.from_ == OPERATOR and message.channel == operator_channel(self.game.id):
            self._news.operator.append(message)
        elif not self.game.is_own(message):
            self._news.players.append(message)
            if len(self._news.players) > MOST:
                del self._news.players[0]
                self._lost += 1
        self._bell.set()

    async def begun(self) -> None:
        """Wait until the game is on."""
        await self._begun.wait()
        await asyncio.sleep(SETTLE)

    async def wait(self, within: float | None) -> bool:
        """Wait for something that is worth a call; False if nothing is for so many seconds."""
        until = None if within is None else _now() + within
        while True:
            self._bell.clear()
            pause = self._pause()
            if pause == 0.0:
                await asyncio.sleep(SETTLE)
                return True
            left = None if until is None else until - _now()
            if left is not None and left <= 0:
                return False
            limits = [each for each in (left, pause) if each is not None]
            try:
                async with asyncio.timeout(min(limits) if limits else None):
                    await self._bell.wait()
            except TimeoutError:
                continue

    def take(self) -> News:
        """Everything that is there."""
        news, self._news = self._news._replace(lost=self._lost), News([], [])
        self._lost = 0
        if news.players and not news.operator:
            self._tokens = max(0.0, self._filled() - 1)
        return news

    def _pause(self) -> float | None:
        """Seconds until what is there is worth a call; none if nothing is, for all that is known."""
        if self._news.operator:
            return 0.0
        if not self._news.players or self.is_deaf:
            return None
        return max(0.0, (1 - self._filled()) * REFILL)

    def _filled(self) -> float:
        now = _now()
        self._tokens = min(float(BURST), self._tokens + (now - self._filled_at) / REFILL)
        self._filled_at = now
        return self._tokens


def _now() -> float:
    return asyncio.get_running_loop().time()
