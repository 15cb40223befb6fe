"""Boards in the store: the result log of a type, a cursor per strategy into it, and what the strategies wrote.

A type's keys share one slot, the global board has its own. Everything here may be done twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from pydantic import JsonValue

from arena.models import GameResult, MetricDescriptor, ScoringEntry, UserId
from arena.store.nodes import Nodes

GLOBAL = "global"
FIRST = 1  # generation


class Written(NamedTuple):
    """What a strategy put for one player."""

    kept: JsonValue
    entry: ScoringEntry


class Place(NamedTuple):
    """How far a strategy has come: which generation of its numbers, and how many results it has counted."""

    generation: int
    cursor: int


def feed(type: str) -> str:
    """Where news of a type's boards are published."""
    return f"{{score:{type}}}:f"


def _key(type: str, *parts: object) -> str:
    return f"{{score:{type}}}:" + ":".join(map(str, parts))


class Boards:
    """The result logs and boards of a store."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    async def append(self, result: GameResult) -> int:
        """Give a game its place in the log of its type."""
        type_ = result.challenge_type
        names = [_key(type_, "log"), _key(type_, "places")]
        return int(await self.nodes.script("result", names, result.game_id, result.to_json()))

    async def results(self, type: str, after: int, most: int) -> list[GameResult]:
        """The results that come after a cursor."""
        key = _key(type, "log")
        found = await self.nodes.run(key, "LRANGE", key, after, after + most - 1)
        return [GameResult.from_json(line) for line in found]

    async def games(self, type: str) -> int:
        """How many games of a type have ended."""
        return int(await self.nodes.run(_key(type, "log"), "LLEN", _key(type, "log")))

    async def place(self, type: str, strategy: str, generation: int | None = None) -> Place:
        """How far a strategy has come, in its current generation or another."""
        names = [_key(type, "gen"), _key(type, "cur")]
        return Place(*await self.nodes.script("place", names, strategy, "" if generation is None else generation))

    async def kept(self, type: str, strategy: str, generation: int, players: Sequence[UserId]) -> dict[UserId, Any]:
        """What a strategy keeps for these players."""
        if not players:
            return {}
        key = _key(type, "s", strategy, generation)
        found = await self.nodes.run(key, "HMGET", key, *players)
        return {player: orjson.loads(data) for player, data in zip(players, found, strict=True) if data is not None}

    async def fold(
        self,
        type: str,
        strategy: str,
        place: Place,
        cursor: int,
        metrics: Sequence[MetricDescriptor],
        written: Mapping[UserId, Written],
    ) -> bool:
        """Write what a strategy made of the results up to a cursor, if it still stands where it was read."""
        generation = place.generation
        reply = await self.nodes.script(
            "fold",
            [
                _key(type, "cur"),
                _key(type, "s", strategy, generation),
                _key(type, "e", strategy, generation),
                _key(type, "o", strategy, generation),
                _key(type, "faults"),
                feed(type),
                *self._ranks(type, strategy, generation, metrics),
            ],
            f"{strategy}:{generation}",
            place.cursor,
            cursor,
            strategy,
            *(part for player, put in written.items() for part in _row(player, put, metrics)),
        )
        return bool(reply)

    async def fault(self, type: str, strategy: str, place: Place, reason: str) -> None:
        """Say why a board stands still."""
        key = _key(type, "faults")
        await self.nodes.run(key, "HSET", key, f"{strategy}:{place.generation}", f"{place.cursor}:{reason}")

    async def faults(self, type: str) -> dict[str, str]:
        """The boards of a type that stand still, and why."""
        key = _key(type, "faults")
        found: list[bytes] = await self.nodes.run(key, "HGETALL", key)
        pairs = zip(found[::2], found[1::2], strict=True)
        return {field.decode().rpartition(":")[0]: value.decode() for field, value in pairs}

    async def new_generation(self, type: str, strategy: str) -> int:
        """A number that no generation of this board has had."""
        key = _key(type, "gen")
        return FIRST + int(await self.nodes.run(key, "HINCRBY", key, f"{strategy}#", 1))

    async def generations(self, type: str, strategy: str) -> list[int]:
        """The generations of a board that have counted anything, left-overs of a broken recompute included."""
        cursors = _key(type, "cur")
        fields = [field.decode().rpartition(":") for field in await self.nodes.run(cursors, "HKEYS", cursors)]
        return sorted(int(generation) for name, _, generation in fields if name == strategy)

    async def switch(self, type: str, strategy: str, old: int, new: int) -> int:
        """Let a new generation take over: 1 done, 0 not caught up yet, -1 somebody else did it."""
        names = [*(_key(type, kind) for kind in ("cur", "gen", "sent", "faults")), feed(type)]
        return int(await self.nodes.script("switch", names, strategy, old, new))

    async def drop(self, type: str, strategy: str, generation: int, metrics: Sequence[MetricDescriptor]) -> None:
        """Delete a generation's numbers."""
        names = [_key(type, "cur"), _key(type, "faults"), *(_key(type, kind, strategy, generation) for kind in "seo")]
        names += self._ranks(type, strategy, generation, metrics)
        await self.nodes.script("drop", names, f"{strategy}:{generation}")

    async def sent(self, type: str, strategy: str) -> Place:
        """How far a type's entries have been sent to the global board."""
        key = _key(type, "sent")
        found = await self.nodes.run(key, "HGET", key, strategy)
        generation, _, cursor = (found or b"0:0").decode().partition(":")
        return Place(int(generation), int(cursor))

    async def set_sent(self, type: str, strategy: str, place: Place) -> None:
        """Say that all entries up to here have been sent."""
        await self.nodes.script("sent", [_key(type, "sent")], strategy, place.generation, place.cursor)

    async def source(
        self, player: UserId, type: str, place: Place, entry: ScoringEntry | None
    ) -> tuple[str, dict[str, ScoringEntry]]:
        """Hand a player's entry of one type to the global board; back come all its entries, and their state."""
        names = [_key(GLOBAL, "src", player)]
        data = entry.to_json() if entry else b""
        pairs = await self.nodes.script("source", names, type, place.generation, place.cursor, data)
        found = dict(zip(pairs[::2], pairs[1::2], strict=True))
        state = found.pop(b"v").decode()
        sources = {field.decode()[2:]: value.split(b":", 2)[2] for field, value in found.items()}
        return state, {type_: ScoringEntry.from_json(data) for type_, data in sources.items() if data}

    async def combine(
        self,
        state: str,
        strategy: str,
        metrics: Sequence[MetricDescriptor],
        player: UserId,
        entry: ScoringEntry | None,
    ) -> bool:
        """Set a player's line on the global board, or take it away, if its sources have not changed meanwhile."""
        values = [entry.metrics.get(metric.key, "") if entry else "" for metric in metrics]
        reply = await self.nodes.script(
            "combined",
            [
                _key(GLOBAL, "src", player),
                _key(GLOBAL, "e", strategy, FIRST),
                _key(GLOBAL, "o", strategy, FIRST),
                feed(GLOBAL),
                *self._ranks(GLOBAL, strategy, FIRST, metrics),
            ],
            state,
            player,
            entry.to_json() if entry else b"",
            strategy,
            *values,
        )
        return bool(reply)

    async def entries(self, type: str, strategy: str, players: Sequence[UserId] | None = None) -> list[ScoringEntry]:
        """The lines of these players, or of all in the order of their first game."""
        generation = await self._generation(type, strategy)
        if players is None:
            order = _key(type, "o", strategy, generation)
            players = [UserId(name.decode()) for name in await self.nodes.run(order, "ZRANGE", order, 0, -1)]
        if not players:
            return []
        key = _key(type, "e", strategy, generation)
        found: Iterable[bytes | None] = await self.nodes.run(key, "HMGET", key, *players)
        return [ScoringEntry.from_json(data) for data in found if data is not None]

    async def top(self, type: str, strategy: str, metric: str, offset: int, limit: int) -> list[ScoringEntry]:
        """The best of a board by one metric."""
        generation = await self._generation(type, strategy)
        key = _key(type, "z", strategy, generation, metric)
        names = await self.nodes.run(key, "ZREVRANGE", key, offset, offset + limit - 1)
        return await self.entries(type, strategy, [UserId(name.decode()) for name in names])

    async def _generation(self, type: str, strategy: str) -> int:
        return FIRST if type == GLOBAL else (await self.place(type, strategy)).generation

    def _ranks(self, type: str, strategy: str, generation: int, metrics: Iterable[MetricDescriptor]) -> list[str]:
        return [_key(type, "z", strategy, generation, metric.key) for metric in metrics]


def _row(player: UserId, put: Written, metrics: Iterable[MetricDescriptor]) -> list[Any]:
    values = [put.entry.metrics.get(metric.key, "") for metric in metrics]
    return [player, orjson.dumps(put.kept), put.entry.to_json(), *values]
