"""Fits: boards that are made of all games at once, made again beside the server whenever there are new ones.

Each fit is a generation of its board and takes the place of the one before in one step. Old fits stay for a while,
thinned out, as the history of the board.
"""

import asyncio
import logging
import os
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import orjson

from arena.clock import Clock
from arena.errors import NotFound
from arena.models import GameResult, Millis, ScoringEntry, strict_json
from arena.scoring import BatchStrategy
from arena.store.boards import GLOBAL, Boards, Counted, Place, Seen, Written, chain_digest, key_of

logger = logging.getLogger(__name__)

PAGE = 1000  # results handed over at a time, and lines written in one step
PATIENCE = 900.0  # seconds that a fit may take
PAUSE = 10.0  # seconds between two fits of a board, at least
SHARE = 0.1  # of the time that fits of one board may take
HOUR = 3_600_000  # milliseconds between two old fits that are kept
KEPT = 200  # old fits of a board

Progress = Callable[[int, int], None]


class Fed(NamedTuple):
    """The results that a fit was made of."""

    games: int
    digest: str
    last: Millis


def _silent(done: int, total: int) -> None:
    """Nobody waits."""


class Fits:
    """The batch strategies of a server."""

    def __init__(self, boards: Boards, clock: Clock, load: Sequence[str] = ()) -> None:
        self.boards = boards
        self.clock = clock
        self.load = list(load)

    async def keep_up(self, type: str, strategy: BatchStrategy, sources: Sequence[str]) -> bool:
        """Fit a board that has new games, unless it was fitted a moment ago or somebody is at it."""
        place, _, frozen = await self.boards.stand(type, strategy.name)
        if place.cursor >= (await self._games(sources) if frozen is None else frozen.limit):
            return False
        turn = key_of(type, "fitting", strategy.name)
        if not await self.boards.nodes.run(turn, "SET", turn, "1", "NX", "PX", round(PATIENCE * 1000)):
            return False
        begun = time.monotonic()
        try:
            await self.fit(type, strategy, sources)
        finally:
            pause = max(PAUSE, (time.monotonic() - begun) / SHARE)
            await self.boards.nodes.run(turn, "PEXPIRE", turn, round(pause * 1000))
        return True

    async def fit(
        self,
        type: str,
        strategy: BatchStrategy,
        sources: Sequence[str],
        progress: Progress = _silent,
        anew: bool = False,
    ) -> int:
        """Make a board of all games of these types and put it in place; returns how many there were.

        With `anew` the old fits go too, since they were made by rules that hold no more.
        """
        place, _, frozen = await self.boards.stand(type, strategy.name)
        new = await self.boards.new_generation(type, strategy.name)
        limit = None if frozen is None or type == GLOBAL else frozen.limit
        if frozen is not None and type == GLOBAL:
            raise NotFound("A frozen board over all challenges cannot be fitted again.")
        fed, told = await self._ask(strategy, sources, limit, progress)
        if "error" in told:
            reason = f"the strategy raised {told['error']}"
            await self.boards.fault(type, strategy.name, place, reason)
            raise NotFound(f"{strategy.name} cannot fit {type}: {reason}; the old board stays.")
        await self._write(type, strategy, Place(new, 0), fed, told)
        if await self.boards.switch(type, strategy.name, place.generation, new) != 1:
            await self.boards.drop(type, strategy.name, new, strategy.metrics)
            raise NotFound(f"Another fit of {type} {strategy.name} has finished meanwhile.")
        await self._retire(type, strategy, new, fed, anew)
        return fed.games

    async def _games(self, types: Sequence[str]) -> int:
        return sum([await self.boards.games(type_) for type_ in types])

    async def _ask(
        self, strategy: BatchStrategy, sources: Sequence[str], limit: int | None, progress: Progress
    ) -> tuple[Fed, dict[str, Any]]:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "arena.fitting", stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment
        )
        try:
            async with asyncio.timeout(PATIENCE):
                fed = await self._feed(child, strategy, sources, limit, progress)
                told = await _hear(child)
        except TimeoutError:
            return Fed(0, "", Millis(0)), {"error": "TimeoutError"}
        finally:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
        return fed, orjson.loads(told or b'{"error": "BrokenPipeError"}')

    async def _feed(
        self, child: Process, strategy: BatchStrategy, sources: Sequence[str], limit: int | None, progress: Progress
    ) -> Fed:
        """Hand all results over, as they are stored."""
        total = await self._games(sources) if limit is None else limit
        done, digests, last = 0, [], Millis(0)
        await _say(child, strict_json({"strategy": strategy.name, "load": self.load}))
        for type_ in sources:
            at, digest = 0, ""
            while lines := await self.boards.lines(type_, at, PAGE if limit is None else min(PAGE, limit - at)):
                await _say(child, b"\n".join(lines))
                digest = chain_digest(digest, lines)
                last = max(last, GameResult.from_json(lines[-1]).completed_at)
                at, done = at + len(lines), done + len(lines)
                progress(done, max(total, done))
                if at == limit:
                    break
            digests.append(digest)
        return Fed(done, digests[0] if len(digests) == 1 else chain_digest("", [d.encode() for d in digests]), last)

    async def _write(self, type: str, strategy: BatchStrategy, place: Place, fed: Fed, told: dict[str, Any]) -> None:
        lines = [(ScoringEntry.from_json(orjson.dumps(entry)), kept) for entry, kept in told["lines"]]
        seen = Seen(fed.digest, self.clock.now(), told["notes"])
        for at in range(0, max(len(lines), 1), PAGE):
            some = {entry.player_id: Written(strict_json(kept), entry) for entry, kept in lines[at : at + PAGE]}
            cursor = fed.games if at + PAGE >= len(lines) else 0
            await self.boards.fold(type, strategy.name, place, strategy.metrics, Counted(cursor, seen, some))

    async def _retire(self, type: str, strategy: BatchStrategy, new: int, fed: Fed, anew: bool) -> None:
        """Drop the numbers of older fits, and all but some of their lines."""
        for generation in await self.boards.generations(type, strategy.name):
            if generation < new:
                await self.boards.drop(type, strategy.name, generation, strategy.metrics, keep="e")
        old = await self.boards.fits(type, strategy.name)
        gone = [one for one, _ in old] if anew else thinned(old)
        await self.boards.note_fit(type, strategy.name, (new, fed.last), gone)


def thinned(fits: Sequence[tuple[int, int]]) -> list[int]:
    """The fits, given with their times from old to new, that are too close to one another or too many to be kept."""
    gone: list[int] = []
    kept: list[tuple[int, int]] = []
    for generation, at in fits:
        if kept and at - kept[-1][1] < HOUR:
            gone.append(generation)
        else:
            kept.append((generation, at))
    return gone + [generation for generation, _ in kept[: max(0, len(kept) - KEPT)]]


async def _hear(child: Process) -> bytes:
    """All that a child says, once it knows that it has been told everything."""
    if child.stdin is None or child.stdout is None:
        return b""
    child.stdin.close()
    return await child.stdout.read()


async def _say(child: Process, line: bytes) -> None:
    """Write to a child; one that has gone away already tells why on its output."""
    if child.stdin is not None:
        child.stdin.write(line + b"\n")
        with suppress(BrokenPipeError, ConnectionResetError):
            await child.stdin.drain()
