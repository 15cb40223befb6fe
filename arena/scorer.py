"""Scorer: has every game counted by every strategy of its type, exactly once and in one order.

The order is that of the result log. A strategy's writes go together with its cursor, so whoever loses a race, or dies,
leaves nothing half done: the next one reads again from where the cursor stands.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from pydantic import JsonValue

from arena.catalog import Catalog
from arena.errors import NotFound, trace
from arena.models import GameResult, MetricDescriptor, RankedEntry, ScoringEntry, UserId, UserProfile
from arena.scoring import GlobalStrategy, ScoringStrategy
from arena.store.boards import GLOBAL, Boards, Place, Written
from arena.store.sessions import Sessions

logger = logging.getLogger(__name__)

BATCH = 100  # results counted in one commit
TOP = 100  # lines of a board that are pushed to those who watch it


@dataclass(frozen=True)
class ScoringConfig:
    """Which strategies count which games."""

    default: Sequence[str] = ("average",)
    by_type: dict[str, Sequence[str]] | None = None
    overall: str = "global-average"
    source: str = "average"


class Buffer:
    """What one batch of games reads and puts; nothing reaches the store before the cursor moves."""

    def __init__(self, kept: dict[UserId, JsonValue]) -> None:
        self.kept = kept
        self.written: dict[UserId, Written] = {}
        self._game: dict[UserId, Written] = {}

    async def get(self, player: UserId) -> JsonValue:
        """What was put last, in this batch or before it."""
        for puts in (self._game, self.written):
            if player in puts:
                return puts[player].kept
        return self.kept.get(player)

    def put(self, player: UserId, kept: JsonValue, entry: ScoringEntry) -> None:
        """Keep something for a player, if the game is counted to its end."""
        self._game[player] = Written(kept, entry)

    def keep_game(self) -> None:
        """The game was counted: its puts belong to the batch."""
        self.written |= self._game
        self._game = {}

    def drop_game(self) -> None:
        """The strategy raised: the game left nothing."""
        self._game = {}


class Scorer:
    """The scoring of a server."""

    def __init__(self, boards: Boards, sessions: Sessions, catalog: Catalog, config: ScoringConfig) -> None:
        self.boards = boards
        self.sessions = sessions
        self.catalog = catalog
        self.config = config
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._faults: set[tuple[str, str, Place]] = set()

    def strategies(self, type: str) -> list[ScoringStrategy]:
        """The strategies that count a type's games, in order; names that nobody provides are left out."""
        names = dict.fromkeys(chain(self.config.default, (self.config.by_type or {}).get(type, ())))
        return [self.catalog.strategies[name] for name in names if name in self.catalog.strategies]

    @property
    def overall(self) -> GlobalStrategy | None:
        """The strategy of the global board."""
        return self.catalog.global_strategies.get(self.config.overall)

    async def count(self, result: GameResult) -> None:
        """Give a game its place, and have all strategies count up to it."""
        await self.boards.append(result)
        await self.catch_up(result.challenge_type)

    async def catch_up(self, type: str) -> None:
        """Have all strategies of a type count what is in its log, and the global board hear of it."""
        async with self._locks[type]:
            for strategy in self.strategies(type):
                await self._fold(type, strategy)
            await self._spread(type)

    async def _fold(
        self,
        type: str,
        strategy: ScoringStrategy,
        generation: int | None = None,
        counted: Callable[[int], None] = lambda cursor: None,
    ) -> tuple[int, Exception | None]:
        """Count results until there are no more, or one that the strategy cannot count; says how many it has."""
        while True:
            place = await self.boards.place(type, strategy.name, generation)
            results = await self.boards.results(type, place.cursor, BATCH)
            if not results:
                return place.cursor, None
            players = list(dict.fromkeys(user for result in results for user in result.users))
            buffer = Buffer(await self.boards.kept(type, strategy.name, place.generation, players))
            fault = await self._count_batch(strategy, results, buffer)
            cursor = place.cursor + (len(results) if fault is None else fault[0])
            if fault is not None and fault[0] == 0:
                await self._stop(type, strategy, place, fault[1])
                return place.cursor, fault[1]
            await self.boards.fold(type, strategy.name, place, cursor, strategy.metrics, buffer.written)
            counted(cursor)

    async def _count_batch(
        self, strategy: ScoringStrategy, results: Sequence[GameResult], buffer: Buffer
    ) -> tuple[int, Exception] | None:
        for number, result in enumerate(results):
            if not result.counts:
                continue
            try:
                await strategy.update(result, buffer)
            except Exception as error:  # a plugin may raise anything; its own board stops, the others go on
                buffer.drop_game()
                return number, error
            buffer.keep_game()
        return None

    async def _stop(self, type: str, strategy: ScoringStrategy, place: Place, error: Exception) -> None:
        await self.boards.fault(type, strategy.name, place, strategy_fault(error))
        if (type, strategy.name, place) not in self._faults:
            self._faults.add((type, strategy.name, place))
            game = place.cursor + 1
            logger.error("board stopped type=%s strategy=%s game=%d %s", type, strategy.name, game, trace(error))

    async def _spread(self, type: str) -> None:
        """Send every entry of the source strategy that has changed to the global board."""
        overall, source = self.overall, self.config.source
        if overall is None or source not in {strategy.name for strategy in self.strategies(type)}:
            return
        place, sent = await self.boards.place(type, source), await self.boards.sent(type, source)
        if sent == place or (place.cursor == 0 and sent.cursor == 0):
            return
        start = sent.cursor if sent.generation == place.generation else 0
        players: dict[UserId, None] = {}
        for at in range(start, place.cursor, BATCH):
            results = await self.boards.results(type, at, min(BATCH, place.cursor - at))
            players |= dict.fromkeys(user for result in results for user in result.users)
        found = {entry.player_id: entry for entry in await self.boards.entries(type, source, list(players))}
        for player in players:
            await self._combine(overall, type, place, player, found.get(player))
        await self.boards.set_sent(type, source, place)

    async def _combine(
        self, overall: GlobalStrategy, type: str, place: Place, player: UserId, entry: ScoringEntry | None
    ) -> None:
        while True:
            state, sources = await self.boards.source(player, type, place, entry)
            made = overall.combine(player, sources)
            if await self.boards.combine(state, overall.name, overall.metrics, player, made):
                return

    async def recompute(
        self, type: str, strategy: ScoringStrategy, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> int:
        """Count all games of a type anew, beside the running board, and switch over; returns how many there were."""
        old = (await self.boards.place(type, strategy.name)).generation
        new = await self.boards.new_generation(type, strategy.name)
        while True:
            total = await self.boards.games(type)
            counted, fault = await self._fold(type, strategy, new, lambda done: progress(done, total))  # noqa: B023
            if fault is not None:
                await self.boards.drop(type, strategy.name, new, strategy.metrics)
                raise NotFound(f"{strategy.name} cannot count game {counted + 1} of {type}; the old board stays.")
            progress(counted, counted)
            switched = await self.boards.switch(type, strategy.name, old, new)
            if switched == 1:
                break
            if switched == -1:
                await self.boards.drop(type, strategy.name, new, strategy.metrics)
                raise NotFound(f"Another recompute of {type} {strategy.name} has finished meanwhile.")
        for generation in await self.boards.generations(type, strategy.name):
            if generation < new:
                await self.boards.drop(type, strategy.name, generation, strategy.metrics)
        async with self._locks[type]:
            await self._spread(type)
        return counted

    async def board(self, type: str | None, strategy: str | None) -> tuple[str, str, list[RankedEntry]]:
        """The top of a board, by the first metric of its strategy."""
        name, metrics = self._find(type, strategy)
        where = type or GLOBAL
        entries = await self.boards.top(where, name, metrics[0].key, 0, TOP)
        profiles = await self.sessions.profiles(entry.player_id for entry in entries)
        return where, name, [ranked(entry, profiles.get(entry.player_id)) for entry in entries]

    def _find(self, type: str | None, strategy: str | None) -> tuple[str, Sequence[MetricDescriptor]]:
        found: GlobalStrategy | ScoringStrategy | None
        if type is None:
            found = self.overall if strategy in {None, self.config.overall} else None
        else:
            self.catalog.challenge(type)
            offered = {known.name: known for known in self.strategies(type)}
            found = offered.get(strategy) if strategy else next(iter(offered.values()), None)
        if found is None:
            raise NotFound("There is no such board.")
        return found.name, found.metrics


def strategy_fault(error: Exception) -> str:
    """A fault in words that may be shown: the kind of error, not its text, which may quote a player."""
    return f"the strategy raised {type(error).__name__}"


def ranked(entry: ScoringEntry, profile: UserProfile | None) -> RankedEntry:
    """A line of a board with what the player's profile says."""
    told = {} if profile is None else profile.model_dump(exclude={"user_id"})
    return RankedEntry(**entry.model_dump(), **told)
