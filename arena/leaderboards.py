"""Leaderboards: what people ask of the boards, answered with how far it can be believed."""

import asyncio
import logging
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from math import inf
from typing import Literal, NamedTuple

from pydantic_core import from_json

from arena.errors import Invalid, NotFound, trace
from arena.models import Millis, RankedEntry, ScoringEntry, UserId
from arena.owners import by_owner
from arena.pace import quantile
from arena.record import Facts, Meetings, Tally, pair_of
from arena.scorer import Scorer, ranked
from arena.scoring import BatchStrategy, Certainty, GlobalStrategy, Measured, ScoringStrategy
from arena.standing import (
    Board,
    BoardHead,
    BoardList,
    BoardRow,
    HeadToHead,
    Met,
    PlayerBoards,
    PlayerLine,
    PlayerStanding,
    Point,
    SeatTally,
)
from arena.statistics import Interval, RankInterval, can_be_told_apart
from arena.store.agents import Agents
from arena.store.boards import GLOBAL, Stand
from arena.store.rankings import Line, Past, Rankings

logger = logging.getLogger(__name__)

FEW = 10  # games below which a player is provisional
RANKED = 5_000  # players up to which ranks have intervals: those need the intervals of everybody
PAST = 20_000  # players up to which a board of the past is made
OWNED = 2_000  # players up to which a board can be shown by owner: all of them are looked at
POINTS = 500  # of a history
NEIGHBOURS = 3  # to either side
CROSSED = 50  # players of a head-to-head matrix
CACHED = 64  # boards whose bounds are remembered
BREATH = 250  # lines that are measured before others get their turn

Counting = ScoringStrategy | BatchStrategy | GlobalStrategy


class Bounds(NamedTuple):
    """The intervals of all players of a board, which hold together; sorted, to count by, in each group for itself."""

    lows: Mapping[int, list[float]]
    highs: Mapping[int, list[float]]
    total: int

    def rank(self, interval: Interval | None, group: int) -> RankInterval:
        """The ranks that a player with this interval may have: nobody of another group is certainly above or below."""
        if interval is None:
            return RankInterval(1, self.total)
        lows, highs = self.lows[group], self.highs[group]
        above = len(lows) - bisect_right(lows, interval.high)
        return RankInterval(1 + above, self.total - bisect_left(highs, interval.low))


class Leaderboards:
    """All boards of a server, for those who look at them."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer
        self.boards = scorer.boards
        self.records = scorer.records
        self.rankings = Rankings(scorer.boards)
        self.agents = Agents(scorer.boards.nodes)
        self._bounds: dict[tuple[str, str, str, int, int], Bounds] = {}

    def known(self) -> list[tuple[str, Counting]]:
        """Every board: the global ones first."""
        overall = self.scorer.overall
        found: list[tuple[str, Counting]] = [] if overall is None else [(GLOBAL, overall)]
        found += [(GLOBAL, strategy) for type_, strategy, _ in self.scorer.batch_boards() if type_ == GLOBAL]
        types = self.scorer.catalog.challenges
        return found + [(type_, strategy) for type_ in types for strategy in self.scorer.strategies(type_)]

    def find(self, type: str, strategy: str) -> Counting:
        """The strategy of a board that there is."""
        for known, counting in self.known():
            if (known, counting.name) == (type, strategy):
                return counting
        raise NotFound("There is no such board.")

    async def overview(self) -> BoardList:
        """What boards there are."""
        return BoardList(boards=list(await asyncio.gather(*(self._head(*board) for board in self.known()))))

    async def board(
        self,
        type: str,
        strategy: str,
        metric: str | None = None,
        offset: int = 0,
        limit: int = 100,
        at: Millis | None = None,
        by: Literal["owner"] | None = None,
    ) -> Board:
        """A stretch of a board, now or as of a moment; with one line for all entrants of an owner, or one for each."""
        counting = self.find(type, strategy)
        key = _metric(counting, metric)
        head = await self._head(type, counting)
        part, owners = (offset, limit), None
        if by is not None:
            offset, limit = 0, OWNED
            if head.players > OWNED:
                raise Invalid(f"Owners can be shown for at most {OWNED} players.")
        if at is None:
            rows = await self._rows(type, counting, key, offset, limit)
        else:
            then = await self._then(type, counting, at)
            then.sort(key=lambda entry: (entry.metrics.get(key, -inf), entry.player_id.encode()), reverse=True)
            rows = await self._old_rows(then, key, offset, limit)
            head.players = len(then)
        if by is not None:
            grouped = by_owner(rows, key)
            rows, owners = grouped[part[0] : sum(part)], len(grouped)
        stand = await self.boards.stand(type, strategy)
        wanted = "" if type == GLOBAL else f" --type {type}"
        return Board(
            **head.model_dump(),
            metric=key,
            parameters=dict(getattr(counting, "parameters", {})),
            notes=dict(stand.seen.notes),
            rows=rows,
            limit=part[1],
            offset=part[0],
            at=at,
            by=by,
            owners=owners,
            recompute=f"arena scoring recompute{wanted} --strategy {self._source(type, counting)}",
        )

    async def player(self, type: str, strategy: str, player: UserId, metric: str | None = None) -> PlayerStanding:
        """A player on a board, with its neighbours and its history."""
        counting = self.find(type, strategy)
        key = _metric(counting, metric)
        above = await self.rankings.position(type, strategy, key, player)
        if above is None:
            raise NotFound("This player is not on that board.")
        first = max(0, above - NEIGHBOURS)
        rows = await self._rows(type, counting, key, first, above - first + NEIGHBOURS + 1)
        row = next((row for row in rows if row.player_id == player), None)
        if row is None:  # it has moved on meanwhile
            raise NotFound("This player is not on that board.")
        return PlayerStanding(
            challenge_type=type,
            strategy=strategy,
            metric=key,
            players=await self.boards.players(type, strategy),
            row=row,
            neighbours=[other for other in rows if other is not row],
            history=[_point(past) for past in await self._history(type, counting, player)],
        )

    async def everywhere(self, player: UserId) -> PlayerBoards:
        """A player on all its boards."""
        found = await asyncio.gather(*(self._line(type_, counting, player) for type_, counting in self.known()))
        return PlayerBoards(user_id=player, boards=[line for line in found if line is not None])

    async def head_to_head(self, type: str, strategy: str, players: Sequence[UserId], limit: int) -> HeadToHead:
        """Who met whom: of these players, or of the best of a board."""
        counting = self.find(type, strategy)
        if not players:
            best = await self.rankings.top(type, strategy, counting.metrics[0].key, 0, limit)
            players = [UserId(line["playerId"]) for line in best]
        if len(players) > CROSSED:
            raise Invalid(f"At most {CROSSED} players can be compared at once.")
        pairs = [pair_of(one, other) for one, other in combinations(dict.fromkeys(players), 2)]
        frozen = (await self.boards.stand(type, strategy)).frozen
        met: dict[tuple[UserId, UserId], Meetings] = {}
        for type_ in self._types(type):
            copy = strategy if frozen is not None and type != GLOBAL else None
            for pair, meetings in (await self.records.meetings(type_, pairs, copy)).items():
                met[pair] = met[pair].plus(meetings) if pair in met else meetings
        asked = [(one, other) for one, other in combinations(dict.fromkeys(players), 2) if pair_of(one, other) in met]
        return HeadToHead(
            challenge_type=type,
            strategy=strategy,
            players=list(dict.fromkeys(players)),
            meetings=[_met(one, other, met[pair_of(one, other)]) for one, other in asked],
        )

    async def _head(self, type: str, counting: Counting) -> BoardHead:
        stand, players, faults = await asyncio.gather(
            self.boards.stand(type, counting.name),
            self.boards.players(type, counting.name),
            self.boards.faults(type),
        )
        challenge = self.scorer.catalog.challenges.get(type)
        rates = any(metric.key.partition(":")[2] in {"rating", "mu"} for metric in counting.metrics)
        online = counting is not self.scorer.overall
        games = stand.place.cursor if online else await self._games()
        return BoardHead(
            challenge_type=type,
            strategy=counting.name,
            kind="batch" if isinstance(counting, BatchStrategy) else "online" if online else "global",
            metrics=list(counting.metrics),
            players=players,
            games=games,
            second_view=bool(challenge and not challenge.operator.has_winner and rates),
            fitted_at=stand.seen.at or None,
            results_hash=stand.seen.digest or None,
            frozen_at=stand.frozen.at if stand.frozen else None,
            fault=faults.get(counting.name),
        )

    async def _games(self) -> int:
        return sum(await asyncio.gather(*map(self.boards.games, self.scorer.catalog.challenges)))

    def _source(self, type: str, counting: Counting) -> str:
        return self.scorer.config.source if counting is self.scorer.overall else counting.name

    def _types(self, type: str) -> Iterable[str]:
        return self.scorer.catalog.challenges if type == GLOBAL else [type]

    async def _rows(self, type: str, counting: Counting, metric: str, offset: int, limit: int) -> list[BoardRow]:
        found, stand = await asyncio.gather(
            self.rankings.stretch(type, counting.name, metric, offset, limit), self.boards.stand(type, counting.name)
        )
        players = [line.player for line in found.lines]
        facts, profiles, declared, bounds = await asyncio.gather(
            self._facts(type, counting.name, players, stand),
            self.scorer.sessions.profiles(players),
            self.agents.declared(players),
            self._bounds_of(type, counting, metric, stand, found.players),
        )
        rows: list[BoardRow] = []
        shown = found.lines if bounds is not None else ()
        wide = [_measure(counting, line, found.players) for line in shown]
        for at, line in enumerate(found.lines):
            shares = bool(rows) and line.fields["metrics"].get(metric) == rows[-1].metrics.get(metric)
            rank = found.rank if at == 0 else rows[-1].rank if shares else offset + at + 1
            entry = ranked(line.entry, profiles.get(line.player))
            row = _row(entry, rank, _measure(counting, line), facts.get(line.player))
            row.declared = declared.get(line.player)
            if bounds is not None:
                row.rank_interval = bounds.rank(wide[at].intervals.get(metric), wide[at].group)
                others = [wide[n] for n in (at - 1, at + 1) if 0 <= n < len(wide)]
                row.tied = any(not _are_apart(wide[at], other, metric) for other in others)
            rows.append(row)
        return rows

    async def _bounds_of(self, type: str, counting: Counting, metric: str, stand: Stand, players: int) -> Bounds | None:
        """The bounds of all players of a board; None where there are none, or too many players to look at."""
        if players > RANKED or not isinstance(counting, Measured):
            return None
        name = (type, counting.name, metric, *stand.place)
        if name not in self._bounds:
            lines = await self.rankings.everything(type, counting.name, stand.place.generation)
            groups: defaultdict[int, list[Interval]] = defaultdict(list)
            for at, line in enumerate(lines):
                measured = _measure(counting, line, players)
                if (interval := measured.intervals.get(metric)) is not None:
                    groups[measured.group].append(interval)
                if at % BREATH == BREATH - 1:
                    await asyncio.sleep(0)
            if len(self._bounds) >= CACHED:
                del self._bounds[next(iter(self._bounds))]
            lows = {group: sorted(one.low for one in some) for group, some in groups.items()}
            highs = {group: sorted(one.high for one in some) for group, some in groups.items()}
            self._bounds[name] = Bounds(lows, highs, len(lines))
        return self._bounds[name] if self._bounds[name].lows else None

    async def _facts(self, type: str, strategy: str, players: Sequence[UserId], stand: Stand) -> dict[UserId, Facts]:
        if type != GLOBAL:
            return await self.records.facts(type, players, strategy if stand.frozen else None)
        if stand.frozen:
            return {}  # the records of the challenges go on
        found: dict[UserId, Facts] = {}
        for facts in await asyncio.gather(*(self.records.facts(type_, players) for type_ in self._types(type))):
            for player, known in facts.items():
                found[player] = found[player].plus(known) if player in found else known
        return found

    async def _old_rows(self, then: Sequence[ScoringEntry], metric: str, offset: int, limit: int) -> list[BoardRow]:
        shown = then[offset : offset + limit]
        players = [entry.player_id for entry in shown]
        profiles, declared = await asyncio.gather(self.scorer.sessions.profiles(players), self.agents.declared(players))
        values = [entry.metrics.get(metric, -inf) for entry in then]
        rows = []
        for entry in shown:
            rank = 1 + values.index(entry.metrics.get(metric, -inf))
            rows.append(_row(ranked(entry, profiles.get(entry.player_id)), rank, Certainty(), None))
            rows[-1].declared = declared.get(entry.player_id)
        return rows

    async def _then(self, type: str, counting: Counting, at: Millis) -> list[ScoringEntry]:
        """All lines as they were at a moment."""
        if isinstance(counting, BatchStrategy):
            fits = [generation for generation, made in await self.boards.fits(type, counting.name) if made <= at]
            return await self.rankings.fitted_all(type, counting.name, fits[-1]) if fits else []
        players = await self.rankings.names(type, counting.name, PAST)
        if players is None:
            raise Invalid(f"A board of the past can be shown for at most {PAST} players.")
        found: list[ScoringEntry | None] = []
        for first in range(0, len(players), BREATH):
            some = players[first : first + BREATH]
            asked = (self.rankings.as_of(type, counting.name, counting.metrics, player, at) for player in some)
            found += await asyncio.gather(*asked)
        return [entry for entry in found if entry is not None]

    async def _history(self, type: str, counting: Counting, player: UserId) -> list[Past]:
        if not isinstance(counting, BatchStrategy):
            return await self.rankings.history(type, counting.name, counting.metrics, player, POINTS)
        fits = await self.boards.fits(type, counting.name)
        lines = await asyncio.gather(
            *(self.rankings.fitted(type, counting.name, generation, player) for generation, _ in fits)
        )
        return [Past(Millis(at), entry) for (_, at), entry in zip(fits, lines, strict=True) if entry]

    async def _line(self, type: str, counting: Counting, player: UserId) -> PlayerLine | None:
        metric = counting.metrics[0].key
        above = await self.rankings.position(type, counting.name, metric, player)
        if above is None:
            return None
        rows = await self._rows(type, counting, metric, above, 1)
        if not rows or rows[0].player_id != player:
            return None
        players = await self.boards.players(type, counting.name)
        return PlayerLine(challenge_type=type, strategy=counting.name, metric=metric, players=players, row=rows[0])


def _metric(counting: Counting, asked: str | None) -> str:
    keys = [metric.key for metric in counting.metrics]
    if asked is not None and asked not in keys:
        raise Invalid(f"This board has no such metric, only {', '.join(keys)}.")
    return asked or keys[0]


def _measure(counting: Counting, line: Line, among: int = 1) -> Certainty:
    """How sure a line is; what cannot be read, say of a strategy that has changed, is not sure at all."""
    if not isinstance(counting, Measured) or line.kept is None:
        return Certainty()
    try:
        return counting.measure(from_json(line.kept), among)
    except Exception as error:  # a plugin may raise anything, and the line itself is fine
        logger.error("line of a board cannot be measured strategy=%s %s", counting.name, trace(error))
        return Certainty()


def _are_apart(one: Certainty, other: Certainty, metric: str) -> bool:
    """Whether one of two lines is certainly better."""
    return one.group == other.group and can_be_told_apart(one.intervals.get(metric), other.intervals.get(metric))


def _row(entry: RankedEntry, rank: int, certainty: Certainty, facts: Facts | None) -> BoardRow:
    row = BoardRow(
        **entry.model_dump(),
        rank=rank,
        provisional=entry.games_played < FEW or certainty.provisional,
        intervals={key: (low, high) for key, (low, high) in certainty.intervals.items()},
    )
    if facts is not None:
        for name in ("wins", "ties", "losses", "forfeits", "timeouts", "voids"):
            setattr(row, name, getattr(facts, name))
        row.opponents = facts.opponents or None
        row.seats = [_seat(tally) for tally in facts.seats] or None
        row.last_played = Millis(facts.last_played)
        row.median_response = quantile(facts.paces, 0.5)
        row.p95_response = quantile(facts.paces, 0.95)
        row.reported_tokens = round(facts.tokens / facts.reported) if facts.reported else None
        row.reported_cost_usd = facts.cost_usd / facts.priced if facts.priced else None
    return row


def _seat(tally: Tally) -> SeatTally:
    return SeatTally(**asdict(tally))


def _point(past: Past) -> Point:
    return Point(at=past.at, games_played=past.entry.games_played, metrics=past.entry.metrics)


def _met(one: UserId, other: UserId, met: Meetings) -> Met:
    seen = met if pair_of(one, other)[0] == one else met.turned()
    return Met(player=one, opponent=other, **asdict(seen))
