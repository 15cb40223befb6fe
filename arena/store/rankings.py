"""Rankings in the store: what is asked of a board. Ranks come from sorted sets, so hardly a query reads it whole."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import orjson

from arena.models import MetricDescriptor, Millis, ScoringEntry, UserId
from arena.store.boards import FIRST, GLOBAL, Boards, key_of, read_entry

CHUNK = 500  # players looked up in one go


class Line(NamedTuple):
    """A player's line as it is stored."""

    fields: Mapping[str, Any]  # of the entry, under the names of the wire
    kept: bytes | None

    @property
    def player(self) -> UserId:
        """Whose it is."""
        return UserId(self.fields["playerId"])

    @property
    def entry(self) -> ScoringEntry:
        """The line on the board."""
        games, metrics = self.fields["gamesPlayed"], dict(self.fields["metrics"])
        return ScoringEntry(player_id=self.player, games_played=games, metrics=metrics)


class Stretch(NamedTuple):
    """A part of a board."""

    generation: int
    players: int  # on the whole board
    rank: int  # of the first line, equal ones shared
    lines: list[Line]


class Past(NamedTuple):
    """A player's numbers after a game."""

    at: Millis
    entry: ScoringEntry


class Rankings:
    """The boards of a store, for those who look at them."""

    def __init__(self, boards: Boards) -> None:
        self.boards = boards
        self.nodes = boards.nodes
        self._generations: dict[tuple[str, str], int] = {}  # as they were when we last looked

    async def stretch(self, type: str, strategy: str, metric: str, offset: int, limit: int) -> Stretch:
        """The lines from an offset on, best first, with what is kept for each player."""
        generation, (players, above, entries, kept) = await self._read(type, strategy, metric, offset, limit, 1)
        return Stretch(generation, players, above + 1, _lines(entries, kept))

    async def top(self, type: str, strategy: str, metric: str, offset: int, limit: int) -> list[Mapping[str, Any]]:
        """The lines from an offset on, best first, as plain data under the names of the wire."""
        _, (_, _, entries, _) = await self._read(type, strategy, metric, offset, limit, 0)
        return _fields([data for data in entries if data])

    async def _read(
        self, type: str, strategy: str, metric: str, offset: int, limit: int, kept: int
    ) -> tuple[int, tuple[int, int, list[bytes | None], list[bytes | None]]]:
        """What stands in the store, in one step; a generation that has gone is looked for once more."""
        while True:
            generation = self._generations.get((type, strategy), FIRST)
            names = [key_of(type, "gen"), *(key_of(type, kind, strategy, generation) for kind in "esz")]
            names[3] += f":{metric}"
            found = await self.nodes.script("stretch", names, strategy, generation, offset, limit, kept)
            if not isinstance(found, int):
                return generation, found
            self._generations[type, strategy] = found

    async def position(self, type: str, strategy: str, metric: str, player: UserId) -> int | None:
        """How many lines stand above a player's; None if it is not on the board."""
        current = key_of(type, "gen")
        while True:
            generation = self._generations.get((type, strategy), FIRST)
            key = key_of(type, "z", strategy, generation, metric)
            asked = [(current, ("HGET", current, strategy)), (key, ("ZREVRANK", key, player))]
            now, found = await self.nodes.run_all(asked)
            if int(now or FIRST) == generation:
                return None if found is None else int(found)
            self._generations[type, strategy] = int(now or FIRST)

    async def everything(self, type: str, strategy: str, generation: int) -> list[Line]:
        """All lines of a board."""
        order = key_of(type, "o", strategy, generation)
        players = await self.nodes.run(order, "ZRANGE", order, 0, -1)
        found: list[Line] = []
        for at in range(0, len(players), CHUNK):
            some = players[at : at + CHUNK]
            keys = [key_of(type, kind, strategy, generation) for kind in "es"]
            entries, kept = await self.nodes.run_all([(key, ("HMGET", key, *some)) for key in keys])
            found += _lines(entries, kept)
        return found

    async def history(
        self, type: str, strategy: str, metrics: Sequence[MetricDescriptor], player: UserId, most: int
    ) -> list[Past]:
        """The newest games of a player that a board counted, from old to new, with its numbers after each."""
        key = key_of(type, "p", player)
        found = await self.nodes.run(key, "ZRANGE", key, -most, -1, "WITHSCORES")
        marks = [(found[at], Millis(int(float(found[at + 1])))) for at in range(0, len(found), 2)]
        return await self._past(type, strategy, metrics, player, marks)

    async def as_of(
        self, type: str, strategy: str, metrics: Sequence[MetricDescriptor], player: UserId, at: Millis
    ) -> ScoringEntry | None:
        """A player's line after the last of its games that had ended by then."""
        key, offset = key_of(type, "p", player), 0
        while True:
            found = await self.nodes.run(key, "ZREVRANGEBYSCORE", key, at, "-inf", "WITHSCORES", "LIMIT", offset, 8)
            if not found:
                return None
            marks = [(found[n], Millis(int(float(found[n + 1])))) for n in range(0, len(found), 2)]
            past = await self._past(type, strategy, metrics, player, marks)
            if past:
                return past[0].entry
            offset += 8

    async def _past(
        self,
        type: str,
        strategy: str,
        metrics: Sequence[MetricDescriptor],
        player: UserId,
        marks: Sequence[tuple[bytes, Millis]],
    ) -> list[Past]:
        if not marks:
            return []
        if type == GLOBAL:  # the line itself stands behind the state of its sources
            kept = [(at, orjson.loads(mark.partition(b":")[2])) for mark, at in marks]
        else:
            generation = (await self.boards.place(type, strategy)).generation
            key = key_of(type, "h", strategy, generation)
            tables = await self.nodes.run(key, "HMGET", key, *(mark for mark, _ in marks))
            read = [
                (at, orjson.loads(table).get(player)) for (_, at), table in zip(marks, tables, strict=True) if table
            ]
            kept = [(at, line) for at, line in read if line]
        return [Past(at, entry_of(player, line, metrics)) for at, line in kept]

    async def fitted(self, type: str, strategy: str, generation: int, player: UserId) -> ScoringEntry | None:
        """A player's line in an old fit."""
        key = key_of(type, "e", strategy, generation)
        data = await self.nodes.run(key, "HGET", key, player)
        return read_entry(data) if data else None

    async def fitted_all(self, type: str, strategy: str, generation: int) -> list[ScoringEntry]:
        """All lines of an old fit."""
        key = key_of(type, "e", strategy, generation)
        return [entry for data in await self.nodes.run(key, "HVALS", key) if (entry := read_entry(data))]

    async def names(self, type: str, strategy: str, most: int) -> list[UserId] | None:
        """All players of a board; None if there are too many."""
        order = key_of(type, "o", strategy, (await self.boards.place(type, strategy)).generation)
        if int(await self.nodes.run(order, "ZCARD", order)) > most:
            return None
        return [UserId(name.decode()) for name in await self.nodes.run(order, "ZRANGE", order, 0, -1)]


def entry_of(player: UserId, line: Sequence[Any], metrics: Sequence[MetricDescriptor]) -> ScoringEntry:
    """A line of history as an entry again."""
    values = zip(metrics, line[1:], strict=False)
    known: Mapping[str, float] = {metric.key: value for metric, value in values if value is not None}
    return ScoringEntry(player_id=player, games_played=int(line[0]), metrics=dict(known))


def _lines(entries: Sequence[bytes | None], kept: Sequence[bytes | None]) -> list[Line]:
    pairs = [(data, what) for data, what in zip(entries, kept, strict=True) if data]
    fields = _fields([data for data, _ in pairs])
    if len(fields) == len(pairs):
        return [Line(one, what) for one, (_, what) in zip(fields, pairs, strict=True)]
    return [Line(one, what) for data, what in pairs for one in _fields([data])]


def _fields(entries: Sequence[bytes]) -> list[Mapping[str, Any]]:
    """Entries as plain data; one that cannot be read is missing, and the others are there."""
    try:
        found = orjson.loads(b"[" + b",".join(entries) + b"]")
        if all(one["playerId"] and one["gamesPlayed"] >= 0 and type(one["metrics"]) is dict for one in found):
            return cast(list[Mapping[str, Any]], found)
    except (KeyError, TypeError, ValueError):
        pass
    return [entry.wire() for data in entries if (entry := read_entry(data))]
