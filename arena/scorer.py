"""Scorer: has every game counted by every strategy of its type, exactly once and in one order.

The order is that of the result log. A strategy's writes go together with its cursor, so whoever loses a race, or dies,
leaves nothing half done: the next one reads again from where the cursor stands.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple, cast

import orjson
from pydantic import JsonValue
from pydantic_core import from_json

from arena.catalog import Catalog
from arena.clock import Clock
from arena.config import ScoringConfig
from arena.duties import attempt
from arena.errors import NotFound, trace
from arena.fits import Fits
from arena.models import GameResult, MetricDescriptor, RankedEntry, ScoringEntry, UserId, UserProfile, strict_json
from arena.record import Record, pairs_of
from arena.scoring import BatchStrategy, GlobalStrategy, ScoringStrategy, Strategy
from arena.store.boards import (
    GLOBAL,
    Boards,
    Counted,
    Logged,
    Place,
    Seen,
    Sources,
    Written,
    chain_digest,
    history_line,
)
from arena.store.records import Records
from arena.store.sessions import Sessions

logger = logging.getLogger(__name__)

BATCH = 100  # results counted in one commit
TOP = 100  # lines of a board that are pushed to those who watch it


class Pages:
    """The results of a type as one round reads them: strategies that stand at the same place share them."""

    def __init__(self, boards: Boards, type: str) -> None:
        self.boards = boards
        self.type = type
        self._pages: dict[int, asyncio.Task[list[Logged]]] = {}

    async def after(self, cursor: int, least: int = 0) -> list[Logged]:
        """The next batch after a cursor; read again if it has to have more by now."""
        if cursor not in self._pages:
            self._pages = {at: page for at, page in self._pages.items() if at >= cursor - BATCH}
            self._pages[cursor] = asyncio.create_task(self.boards.logged(self.type, cursor, BATCH), name="results")
        found = await self._pages[cursor]
        return found if len(found) >= least else await self.boards.logged(self.type, cursor, BATCH)


class Step(NamedTuple):
    """What became of one batch: where the strategy stands, whether there may be more, and what it could not count."""

    cursor: int
    more: bool
    fault: Exception | None = None


class Buffer:
    """What one batch of games reads and puts; nothing reaches the store before the cursor moves."""

    def __init__(self, kept: dict[UserId, bytes]) -> None:
        self.kept = kept
        self.written: dict[UserId, Written] = {}
        self.history: dict[int, bytes] = {}
        self._game: dict[UserId, Written] = {}

    async def get(self, player: UserId) -> JsonValue:
        """What was put last, in this batch or before it."""
        put = self._game.get(player) or self.written.get(player)
        found = put.kept if put else self.kept.get(player)
        return None if found is None else cast(JsonValue, from_json(found))

    def put(self, player: UserId, kept: JsonValue, entry: ScoringEntry) -> None:
        """Keep something for a player, if the game is counted to its end; raises for what cannot be written."""
        self._game[player] = Written(_json(kept), ScoringEntry.model_validate(entry))

    def keep_game(self, position: int, metrics: Sequence[MetricDescriptor]) -> None:
        """The game was counted: its puts belong to the batch."""
        if self._game:
            lines = {player: history_line(put.entry, metrics) for player, put in self._game.items()}
            self.history[position] = orjson.dumps(lines)
        self.written |= self._game
        self._game = {}

    def drop_game(self) -> None:
        """The strategy raised: the game left nothing."""
        self._game = {}


class Scorer:
    """The scoring of a server."""

    def __init__(
        self,
        boards: Boards,
        sessions: Sessions,
        catalog: Catalog,
        config: ScoringConfig,
        clock: Clock | None = None,
        fits: Fits | None = None,
    ) -> None:
        self.boards = boards
        self.records = Records(boards.nodes)
        self.sessions = sessions
        self.catalog = catalog
        self.config = config
        self.clock = clock or Clock()
        self.fits = fits or Fits(boards, self.clock)
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._rounds: dict[str, asyncio.Task[None]] = {}  # that have not begun
        self._tasks: set[asyncio.Task[None]] = set()
        self._faults: set[tuple[str, str, Place]] = set()

    def strategies(self, type: str) -> list[Strategy]:
        """The strategies that count a type's games, in order; names that nobody provides are left out."""
        kind = self.catalog.challenges.get(type)
        own = kind.operator.scoring if kind is not None else ()
        names = dict.fromkeys(chain(self.config.default, self.config.by_type.get(type, ()), own))
        return [self.catalog.strategies[name] for name in names if name in self.catalog.strategies]

    def online(self, type: str) -> list[ScoringStrategy]:
        """Those that count game by game."""
        return [strategy for strategy in self.strategies(type) if not isinstance(strategy, BatchStrategy)]

    @property
    def overall(self) -> GlobalStrategy | None:
        """The strategy of the global board."""
        return self.catalog.global_strategies.get(self.config.overall)

    async def count(self, *results: GameResult) -> None:
        """Give games their places, and have all strategies count up to them."""
        await self.append(*results)
        types = dict.fromkeys(result.challenge_type for result in results)
        await asyncio.gather(*map(self.catch_up, types))

    async def append(self, *results: GameResult) -> None:
        """Give games their places, with the scores that their challenges say decide them."""
        await self.boards.append(*map(self._decided, results))

    def _decided(self, result: GameResult) -> GameResult:
        known = self.catalog.challenges.get(result.challenge_type)
        decided_by = result.decided_by if known is None else list(known.operator.decided_by)
        return result if decided_by == result.decided_by else result.model_copy(update={"decided_by": decided_by})

    async def catch_up(self, type: str) -> None:
        """Have all strategies of a type count what is in its log, and the global board hear of it.

        Those who ask while a round is under way share the one after it: it begins when their games are in the log.
        """
        waiting = self._rounds.get(type)
        if waiting is None:
            waiting = self._rounds[type] = asyncio.create_task(self._catch_up(type), name="scoring round")
            self._tasks.add(waiting)
            waiting.add_done_callback(self._forget)
        await asyncio.shield(waiting)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # told to those who waited, if they still do

    async def close(self) -> None:
        """Wait for what is being counted."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _catch_up(self, type: str) -> None:
        async with self._locks[type]:
            del self._rounds[type]  # whoever comes from now on has a game that we may not see
            pages = Pages(self.boards, type)
            active: list[ScoringStrategy] = self.online(type)
            record = True
            while active or record:
                counting = [self._step(type, strategy, pages) for strategy in active]
                recording = [self._record(type, pages)] if record else []
                steps = await asyncio.gather(*counting, *recording, return_exceptions=True)
                failed = next((step for step in steps if isinstance(step, BaseException)), None)
                if failed is not None:
                    raise failed
                more = [cast(Step, step).more for step in steps]
                record = more.pop() if record else False
                active = [strategy for strategy, again in zip(active, more, strict=True) if again]
            await self._spread(type, pages)

    async def _record(self, type: str, pages: Pages) -> Step:
        """Count the next results for the record."""
        cursor = await self.records.cursor(type)
        games = await pages.after(cursor)
        if not games:
            return Step(cursor, more=False)
        users = list(dict.fromkeys(user for logged in games for user in logged.users))
        pairs = list(dict.fromkeys(pair for logged in games for pair in pairs_of(logged.result)))
        record = Record(*await asyncio.gather(self.records.facts(type, users), self.records.meetings(type, pairs)))
        for logged in games:
            record.add(logged.result)
        first = await self.records.write(type, cursor, record.facts, record.meetings, games)
        return Step(cursor + len(games), more=not first or len(games) == BATCH)

    async def _fold(
        self,
        type: str,
        strategy: ScoringStrategy,
        generation: int | None = None,
        counted: Callable[[int], None] = lambda cursor: None,
    ) -> tuple[int, Exception | None]:
        """Count results until there are no more, or one that the strategy cannot count; says how many it has."""
        pages = Pages(self.boards, type)
        while True:
            step = await self._step(type, strategy, pages, generation)
            counted(step.cursor)
            if not step.more:
                return step.cursor, step.fault

    async def _step(self, type: str, strategy: ScoringStrategy, pages: Pages, generation: int | None = None) -> Step:
        """Count the next batch, as far as the strategy can and a frozen board goes."""
        place, seen, frozen = await self.boards.stand(type, strategy.name, generation)
        games = [logged for logged in await pages.after(place.cursor) if not frozen or logged.position <= frozen.limit]
        if not games:
            return Step(place.cursor, more=False)
        players = list(dict.fromkeys(user for logged in games for user in logged.users))
        buffer = Buffer(await self.boards.kept(type, strategy.name, place.generation, players))
        fault = await self._count_batch(strategy, games, buffer)
        if fault is not None and fault[0] == 0:
            await self._stop(type, strategy, place, fault[1])
            return Step(place.cursor, more=False, fault=fault[1])
        done = games if fault is None else games[: fault[0]]
        counted = Counted(done[-1].position, self._seen(place, seen, done), buffer.written, buffer.history)
        first = await self.boards.fold(type, strategy.name, place, strategy.metrics, counted)
        return Step(counted.cursor, more=not first or fault is not None or len(games) == BATCH)

    def _seen(self, place: Place, seen: Seen, games: Sequence[Logged]) -> Seen:
        """The hash of all results so far; a board that did not begin with one has none."""
        digest = chain_digest(seen.digest, (logged.line for logged in games)) if seen.digest or not place.cursor else ""
        return Seen(digest, self.clock.now())

    async def _count_batch(
        self, strategy: ScoringStrategy, games: Sequence[Logged], buffer: Buffer
    ) -> tuple[int, Exception] | None:
        for number, logged in enumerate(games):
            if not logged.counts:
                continue
            try:
                await strategy.update(logged.result, buffer)
            except Exception as error:  # a plugin may raise anything; its own board stops, the others go on
                buffer.drop_game()
                return number, error
            buffer.keep_game(logged.position, strategy.metrics)
        return None

    async def _stop(self, type: str, strategy: ScoringStrategy, place: Place, error: Exception) -> None:
        await self.boards.fault(type, strategy.name, place, strategy_fault(error))
        if (type, strategy.name, place) not in self._faults:
            self._faults.add((type, strategy.name, place))
            game = place.cursor + 1
            logger.error("board stopped type=%s strategy=%s game=%d %s", type, strategy.name, game, trace(error))

    async def _spread(self, type: str, pages: Pages) -> None:
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
            most = min(BATCH, place.cursor - at)
            games = (await pages.after(at, most))[:most]
            players |= dict.fromkeys(user for logged in games for user in logged.users)
        for at in range(0, len(players), BATCH):
            some = list(players)[at : at + BATCH]
            found = {entry.player_id: entry for entry in await self.boards.entries(type, source, some)}
            await self._combine(overall, await self.boards.source(type, place, {one: found.get(one) for one in some}))
        await self.boards.set_sent(type, source, place)

    async def _combine(self, overall: GlobalStrategy, sources: Sequence[Sources]) -> None:
        """Make the global lines of some players anew, again for those whose sources have changed meanwhile."""
        while sources:
            made = [(each, overall.combine(each.player, each.entries)) for each in sources]
            late = await self.boards.combine(overall.name, overall.metrics, made, self.clock.now())
            sources = await self.boards.sources(late)

    def batch_boards(self) -> list[tuple[str, BatchStrategy, list[str]]]:
        """The boards that are fitted: where, by what, and of which types; the global ones at last."""
        found: list[tuple[str, BatchStrategy, list[str]]] = []
        sources: dict[str, list[str]] = {}
        for type_ in self.catalog.challenges:
            for strategy in self.strategies(type_):
                if isinstance(strategy, BatchStrategy):
                    found.append((type_, strategy, [type_]))
                    sources.setdefault(strategy.name, []).append(type_)
        overall = {strategy.name: strategy for _, strategy, _ in found}
        return found + [(GLOBAL, strategy, sources[name]) for name, strategy in overall.items()]

    async def refit(self) -> None:
        """Fit the boards that have new games."""
        for type_, strategy, sources in self.batch_boards():
            await attempt(f"fit of {type_} {strategy.name}", self.fits.keep_up(type_, strategy, sources))

    async def recompute(
        self, type: str, strategy: Strategy, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> int:
        """Count all games of a type anew, beside the running board, and switch over; returns how many there were."""
        if isinstance(strategy, BatchStrategy):
            found = {(where, known.name): sources for where, known, sources in self.batch_boards()}
            return await self.fits.fit(type, strategy, found[type, strategy.name], progress, anew=True)
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
            await self._spread(type, Pages(self.boards, type))
        return counted

    async def freeze(self, type: str, strategy: Strategy | GlobalStrategy) -> None:
        """Stop a board where it stands now: games that end later do not move it."""
        now = self.clock.now()
        if type == GLOBAL:
            await self.boards.freeze_overall(strategy.name, now)
            return
        while not await self.records.freeze(type, strategy.name, now, isinstance(strategy, BatchStrategy)):
            if strategy.name in await self.boards.faults(type):
                raise NotFound("A board that stands still by a fault cannot be frozen; recompute it first.")
            await self.catch_up(type)

    async def thaw(self, type: str, strategy: Strategy | GlobalStrategy) -> bool:
        """Let a board go on, with all games that it has missed; False if it was not frozen."""
        thawed = await self.records.thaw(type, strategy.name)
        if type != GLOBAL:
            await self.catch_up(type)
        elif self.overall is not None and strategy.name == self.overall.name:
            players = await self.boards.stale()
            for at in range(0, len(players), BATCH):
                some = players[at : at + BATCH]
                await self._combine(self.overall, await self.boards.sources(some))
                await self.boards.freshened(*some)  # whoever is left after a crash is made good by the next thaw
        return thawed

    async def board(self, type: str | None, strategy: str | None) -> tuple[str, str, list[RankedEntry]]:
        """The top of a board, by the first metric of its strategy."""
        name, metrics = self._find(type, strategy)
        where = type or GLOBAL
        entries = await self.boards.top(where, name, metrics[0].key, 0, TOP)
        profiles = await self.sessions.profiles(entry.player_id for entry in entries)
        return where, name, [ranked(entry, profiles.get(entry.player_id)) for entry in entries]

    def _find(self, type: str | None, strategy: str | None) -> tuple[str, Sequence[MetricDescriptor]]:
        found: GlobalStrategy | Strategy | None
        if type is None:
            found = self.overall if strategy in {None, self.config.overall} else None
        else:
            self.catalog.challenge(type)
            offered = {known.name: known for known in self.strategies(type)}
            found = offered.get(strategy) if strategy else next(iter(offered.values()), None)
        if found is None:
            raise NotFound("There is no such board.")
        return found.name, found.metrics


def _json(value: JsonValue) -> bytes:
    """As `strict_json`, the fast way where there can be no doubt: what is no number would have become a null."""
    try:
        data = orjson.dumps(value, option=orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME)
    except TypeError:
        return strict_json(value)
    return strict_json(value) if b"null" in data else data


def strategy_fault(error: Exception) -> str:
    """A fault in words that may be shown: the kind of error, not its text, which may quote a player."""
    return f"the strategy raised {type(error).__name__}"


def ranked(entry: ScoringEntry, profile: UserProfile | None) -> RankedEntry:
    """A line of a board with what the player's profile says."""
    told = {} if profile is None else profile.model_dump(exclude={"user_id"})
    return RankedEntry(**entry.model_dump(), **told)
