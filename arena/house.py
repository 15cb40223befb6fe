"""The house: bots with names of their own that keep some tables playing, over sockets like anybody else."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from random import Random
from typing import NamedTuple

from arena.bots import Bot
from arena.catalog import ChallengeType
from arena.client import Ended, client, play
from arena.models import Score

NAMES = ("ada", "ben", "gus", "mia", "kim", "leo", "zoe", "max")
LONGEST = 120.0  # seconds that a game may take
REST = 1.0  # seconds between two games of a table

RNG = Random()  # noqa: S311


class Player(NamedTuple):
    """A bot with a name."""

    user: str
    bot: type[Bot]


class Result(NamedTuple):
    """A game that was played to its end."""

    type: str
    players: Sequence[str]
    scores: Sequence[Score]  # one per player
    breaches: int
    seconds: float


def roster(kinds: Iterable[tuple[str, type[Bot]]], seats: int) -> list[Player]:
    """Players for a challenge: two of each kind in turn, enough for some tables."""
    known = list(kinds)
    players = []
    for number in range(max(len(NAMES), 2 * len(known), 2 * seats)):
        kind, bot = known[number // 2 % len(known)]
        again = number // len(NAMES)
        players.append(Player(f"{kind}-{NAMES[number % len(NAMES)]}{again + 1 if again else ''}", bot))
    return players


class House:
    """Keeps tables playing until it is closed; says what came of each game."""

    def __init__(
        self,
        url: str,
        challenges: Iterable[ChallengeType],
        *,
        pause: float,
        ended: Callable[[Result], None],
        failed: Callable[[str, Exception], None],
    ) -> None:
        self.url = url
        self.pause = pause
        self.ended = ended
        self.failed = failed
        self.rosters = {c.name: roster(c.bots.items(), c.metadata.players) for c in challenges}
        self._busy: Counter[str] = Counter()
        self._closing = asyncio.Event()

    async def run(self, tables: int) -> None:
        """Play at so many tables; returns when the house was closed and the last game is over."""
        async with asyncio.TaskGroup() as group:
            for number in range(tables):
                group.create_task(self._keep_table(number), name=f"table {number}")

    def close(self) -> None:
        """Begin no more games, and play the running ones without a pause."""
        self._closing.set()

    async def _keep_table(self, number: int) -> None:
        await self._rest(number * min(self.pause, REST))  # so that the tables are not in step
        while not self._closing.is_set():
            type_ = RNG.choice(list(self.rosters))
            try:
                async with asyncio.timeout(LONGEST):
                    result = await self._play(type_)
            except Exception as error:  # a bot may raise anything, and the next game is another one
                if not self._closing.is_set():
                    self.failed(type_, first(error))
                await self._rest(REST)
            else:
                self.ended(result)
                await self._rest(min(self.pause, REST))

    async def _play(self, type_: str) -> Result:
        begun = time.monotonic()
        async with client(self.url) as creator:
            made = await creator.call("create", challengeType=type_)
        # Those who sit at no other table come first, in no particular order.
        players = RNG.sample(self.rosters[type_], len(self.rosters[type_]))
        players.sort(key=lambda player: self._busy[player.user])
        seated = dict(zip(made["invites"], players, strict=False))
        self._busy.update(player.user for player in seated.values())
        try:
            async with asyncio.TaskGroup() as group:
                games = [group.create_task(self._sit(*seat), name=seat[1].user) for seat in seated.items()]
        finally:
            self._busy.subtract(player.user for player in seated.values())
        state = games[0].result().state
        return Result(
            type=type_,
            players=[seated[invite].user for invite in state.players],
            scores=state.scores,
            breaches=len(state.attributions or ()),
            seconds=time.monotonic() - begun,
        )

    async def _sit(self, invite: str, player: Player) -> Ended:
        return await play(self.url, invite, player.bot(Random()), player.user, self._think)  # noqa: S311

    async def _think(self) -> None:
        await self._rest(self.pause * RNG.uniform(0.5, 1.5))

    async def _rest(self, seconds: float) -> None:
        """Wait, unless the house closes."""
        with suppress(TimeoutError):
            if seconds:
                await asyncio.wait_for(self._closing.wait(), seconds)


def first(error: BaseException) -> Exception:
    """What really went wrong, out of a group of things."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, Exception) else RuntimeError(type(error).__name__)
