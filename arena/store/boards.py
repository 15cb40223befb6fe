"""Boards in the store: the result log of a type, a cursor per strategy into it, and what the strategies wrote.

A type's keys share one slot, the global board has its own. Everything here may be done twice.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError

from arena.errors import trace
from arena.models import GameResult, MetricDescriptor, Millis, ScoringEntry, UserId
from arena.store.nodes import Nodes

logger = logging.getLogger(__name__)

GLOBAL = "global"
FIRST = 1  # generation
START = Millis(0)


class Written(NamedTuple):
    """What a strategy put for one player."""

    kept: bytes  # JSON
    entry: ScoringEntry


class Place(NamedTuple):
    """How far a strategy has come: which generation of its numbers, and how many results it has counted."""

    generation: int
    cursor: int


class Frozen(NamedTuple):
    """A board that stopped: after how many results, and when."""

    limit: int
    at: Millis


class Seen(NamedTuple):
    """What a board is made of: a hash of the results in their order, and when the last of them was counted."""

    digest: str = ""
    at: Millis = START
    notes: Mapping[str, Any] = {}


class Stand(NamedTuple):
    """All that is to be known of a board before it goes on."""

    place: Place
    seen: Seen
    frozen: Frozen | None


class Logged(NamedTuple):
    """A result in its log."""

    position: int  # from 1
    line: bytes
    result: GameResult
    users: Sequence[UserId]
    counts: bool


class Sources(NamedTuple):
    """A player's entries by type, of which its line on the global board is made."""

    player: UserId
    state: str  # which these are: another one after each change
    entries: Mapping[str, ScoringEntry]


class Counted(NamedTuple):
    """What a strategy made of some results."""

    cursor: int  # after them
    seen: Seen
    written: Mapping[UserId, Written]
    history: Mapping[int, bytes] = {}  # by place in the log: the lines of that table after the game


def feed(type: str) -> str:
    """Where news of a type's boards are published."""
    return f"{{score:{type}}}:f"


def key_of(type: str, *parts: object) -> str:
    """A name in the slot of a type."""
    return f"{{score:{type}}}:" + ":".join(map(str, parts))


class Boards:
    """The result logs and boards of a store."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    async def append(self, *results: GameResult) -> None:
        """Give games their places in the logs of their types, in this order."""
        for type_ in dict.fromkeys(result.challenge_type for result in results):
            lines = [(r.game_id, r.to_json()) for r in results if r.challenge_type == type_]
            names = [key_of(type_, "log"), key_of(type_, "places")]
            await self.nodes.script("result", names, *chain.from_iterable(lines))

    async def has(self, result: GameResult) -> bool:
        """Whether a game has its place already."""
        key = key_of(result.challenge_type, "places")
        return bool(await self.nodes.run(key, "HEXISTS", key, result.game_id))

    async def lines(self, type: str, after: int, most: int) -> list[bytes]:
        """The results that come after a cursor, as they are stored."""
        key = key_of(type, "log")
        found: list[bytes] = await self.nodes.run(key, "LRANGE", key, after, after + most - 1)
        return found

    async def logged(self, type: str, after: int, most: int) -> list[Logged]:
        """The results that come after a cursor, with their places."""
        found = await self.lines(type, after, most)
        read = ((at, line, GameResult.from_json(line)) for at, line in enumerate(found, after + 1))
        return [Logged(at, line, result, result.users, result.counts) for at, line, result in read]

    async def results(self, type: str, after: int, most: int) -> list[GameResult]:
        """The results that come after a cursor."""
        return [logged.result for logged in await self.logged(type, after, most)]

    async def games(self, type: str) -> int:
        """How many games of a type have ended."""
        return int(await self.nodes.run(key_of(type, "log"), "LLEN", key_of(type, "log")))

    async def stand(self, type: str, strategy: str, generation: int | None = None) -> Stand:
        """Where a board stands, in its current generation or another."""
        names = [key_of(type, kind) for kind in ("gen", "cur", "seen", "frozen")]
        asked = "" if generation is None else generation
        found, cursor, seen, frozen = await self.nodes.script("place", names, strategy, asked)
        return Stand(Place(found, cursor), _seen(seen), _frozen(frozen))

    async def place(self, type: str, strategy: str, generation: int | None = None) -> Place:
        """How far a strategy has come, in its current generation or another."""
        return (await self.stand(type, strategy, generation)).place

    async def kept(self, type: str, strategy: str, generation: int, players: Sequence[UserId]) -> dict[UserId, bytes]:
        """What a strategy keeps for these players, as JSON."""
        if not players:
            return {}
        key = key_of(type, "s", strategy, generation)
        found = await self.nodes.run(key, "HMGET", key, *players)
        return {player: data for player, data in zip(players, found, strict=True) if data is not None}

    async def fold(
        self, type: str, strategy: str, place: Place, metrics: Sequence[MetricDescriptor], counted: Counted
    ) -> bool:
        """Write what a strategy made of some results, if its cursor still stands where it was read."""
        generation, written = place.generation, counted.written
        reply = await self.nodes.script(
            "fold",
            [
                *(key_of(type, kind) for kind in ("cur", "seen", "faults", "frozen")),
                feed(type),
                *(key_of(type, kind, strategy, generation) for kind in "seoh"),
                *self._ranks(type, strategy, generation, metrics),
            ],
            f"{strategy}:{generation}",
            place.cursor,
            counted.cursor,
            strategy,
            orjson.dumps(list(counted.seen)),
            len(counted.history),
            *(part for line in counted.history.items() for part in line),
            *(part for player, put in written.items() for part in _row(player, put, metrics)),
        )
        return bool(reply)

    async def fault(self, type: str, strategy: str, place: Place, reason: str) -> None:
        """Say why a board stands still."""
        key = key_of(type, "faults")
        await self.nodes.run(key, "HSET", key, f"{strategy}:{place.generation}", f"{place.cursor}:{reason}")

    async def faults(self, type: str) -> dict[str, str]:
        """The boards of a type that stand still, and why."""
        key = key_of(type, "faults")
        found: list[bytes] = await self.nodes.run(key, "HGETALL", key)
        pairs = zip(found[::2], found[1::2], strict=True)
        return {field.decode().rpartition(":")[0]: value.decode() for field, value in pairs}

    async def new_generation(self, type: str, strategy: str) -> int:
        """A number that no generation of this board has had."""
        key = key_of(type, "gen")
        return FIRST + int(await self.nodes.run(key, "HINCRBY", key, f"{strategy}#", 1))

    async def generations(self, type: str, strategy: str) -> list[int]:
        """The generations of a board that have counted anything, left-overs of a broken recompute included."""
        cursors = key_of(type, "cur")
        fields = [field.decode().rpartition(":") for field in await self.nodes.run(cursors, "HKEYS", cursors)]
        return sorted(int(generation) for name, _, generation in fields if name == strategy)

    async def switch(self, type: str, strategy: str, old: int, new: int) -> int:
        """Let a new generation take over: 1 done, 0 not caught up yet, -1 somebody else did it."""
        names = [*(key_of(type, kind) for kind in ("cur", "gen", "sent", "faults")), feed(type)]
        return int(await self.nodes.script("switch", names, strategy, old, new))

    async def drop(
        self, type: str, strategy: str, generation: int, metrics: Sequence[MetricDescriptor], keep: str = ""
    ) -> None:
        """Delete a generation's numbers, of those kinds that are not to be kept."""
        names = [key_of(type, kind) for kind in ("cur", "faults", "seen")]
        names += [key_of(type, kind, strategy, generation) for kind in "seoh" if kind not in keep]
        names += self._ranks(type, strategy, generation, metrics)
        await self.nodes.script("drop", names, f"{strategy}:{generation}")

    async def fits(self, type: str, strategy: str) -> list[tuple[int, int]]:
        """The fits whose lines are kept, from old to new: generation, and when the newest of its games ended."""
        key = key_of(type, "fits", strategy)
        found = await self.nodes.run(key, "ZRANGE", key, 0, -1, "WITHSCORES")
        return [(int(found[at]), int(float(found[at + 1]))) for at in range(0, len(found), 2)]

    async def note_fit(self, type: str, strategy: str, fit: tuple[int, int], gone: Sequence[int]) -> None:
        """Keep the lines of a fit, and forget those of others."""
        key = key_of(type, "fits", strategy)
        await self.nodes.run(key, "ZADD", key, fit[1], fit[0])
        for generation in gone:
            name = key_of(type, "e", strategy, generation)
            await self.nodes.run(name, "UNLINK", name)
            await self.nodes.run(key, "ZREM", key, generation)

    async def sent(self, type: str, strategy: str) -> Place:
        """How far a type's entries have been sent to the global board."""
        key = key_of(type, "sent")
        found = await self.nodes.run(key, "HGET", key, strategy)
        generation, _, cursor = (found or b"0:0").decode().partition(":")
        return Place(int(generation), int(cursor))

    async def set_sent(self, type: str, strategy: str, place: Place) -> None:
        """Say that all entries up to here have been sent."""
        await self.nodes.script("sent", [key_of(type, "sent")], strategy, place.generation, place.cursor)

    async def source(self, type: str, place: Place, entries: Mapping[UserId, ScoringEntry | None]) -> list[Sources]:
        """Hand the entries of players in one type to the global board; back come all that it has of them."""
        names = [key_of(GLOBAL, "src", player) for player in entries]
        lines = [entry.to_json() if entry else b"" for entry in entries.values()]
        found = await self.nodes.script("source", names, type, place.generation, place.cursor, *lines)
        return [_sources(player, pairs) for player, pairs in zip(entries, found, strict=True)]

    async def sources(self, players: Iterable[UserId]) -> list[Sources]:
        """All that the global board has of these players."""
        names = {player: key_of(GLOBAL, "src", player) for player in players}
        found = await self.nodes.run_all([(name, ("HGETALL", name)) for name in names.values()])
        return [_sources(player, pairs) for player, pairs in zip(names, found, strict=True)]

    async def freeze_overall(self, strategy: str, now: Millis) -> None:
        """Stop a board over all challenges; the global one notes from now on whom it has missed."""
        key = key_of(GLOBAL, "frozen")
        await self.nodes.run(key, "HSETNX", key, strategy, f"0:{now}")

    async def stale(self) -> list[UserId]:
        """The players whom a frozen global board has missed."""
        key = key_of(GLOBAL, "stale")
        return [UserId(name.decode()) for name in await self.nodes.run(key, "SMEMBERS", key)]

    async def freshened(self, *players: UserId) -> None:
        """Say that the global board has caught up with these players."""
        key = key_of(GLOBAL, "stale")
        await self.nodes.run(key, "SREM", key, *players)

    async def combine(
        self,
        strategy: str,
        metrics: Sequence[MetricDescriptor],
        lines: Sequence[tuple[Sources, ScoringEntry | None]],
        now: Millis = START,
    ) -> list[UserId]:
        """Set lines of the global board, or take them away; back come those whose sources have changed meanwhile."""
        reply = await self.nodes.script(
            "combined",
            [
                key_of(GLOBAL, "e", strategy, FIRST),
                key_of(GLOBAL, "o", strategy, FIRST),
                feed(GLOBAL),
                key_of(GLOBAL, "frozen"),
                key_of(GLOBAL, "stale"),
                *self._ranks(GLOBAL, strategy, FIRST, metrics),
                *(key_of(GLOBAL, kind, sources.player) for sources, _ in lines for kind in ("src", "p")),
            ],
            strategy,
            now,
            len(metrics),
            *(part for sources, entry in lines for part in _line(sources, entry, metrics)),
        )
        return [sources.player for (sources, _), done in zip(lines, reply, strict=True) if not done]

    async def entries(self, type: str, strategy: str, players: Sequence[UserId] | None = None) -> list[ScoringEntry]:
        """The lines of these players, or of all in the order of their first game."""
        generation = await self._generation(type, strategy)
        if players is None:
            order = key_of(type, "o", strategy, generation)
            players = [UserId(name.decode()) for name in await self.nodes.run(order, "ZRANGE", order, 0, -1)]
        if not players:
            return []
        key = key_of(type, "e", strategy, generation)
        found: Iterable[bytes | None] = await self.nodes.run(key, "HMGET", key, *players)
        return [entry for data in found if data is not None and (entry := read_entry(data))]

    async def players(self, type: str, strategy: str) -> int:
        """How many lines a board has."""
        order = key_of(type, "o", strategy, await self._generation(type, strategy))
        return int(await self.nodes.run(order, "ZCARD", order))

    async def top(self, type: str, strategy: str, metric: str, offset: int, limit: int) -> list[ScoringEntry]:
        """The best of a board by one metric."""
        generation = await self._generation(type, strategy)
        key = key_of(type, "z", strategy, generation, metric)
        names = await self.nodes.run(key, "ZREVRANGE", key, offset, offset + limit - 1)
        return await self.entries(type, strategy, [UserId(name.decode()) for name in names])

    async def _generation(self, type: str, strategy: str) -> int:
        return (await self.place(type, strategy)).generation

    def _ranks(self, type: str, strategy: str, generation: int, metrics: Iterable[MetricDescriptor]) -> list[str]:
        return [key_of(type, "z", strategy, generation, metric.key) for metric in metrics]


def chain_digest(before: str, lines: Iterable[bytes]) -> str:
    """The hash of results up to here, from the one before them: SHA-256 of that and the next line, again and again."""
    digest = before
    for line in lines:
        digest = hashlib.sha256(digest.encode() + line).hexdigest()
    return digest


def history_line(entry: ScoringEntry, metrics: Iterable[MetricDescriptor]) -> list[float | None]:
    """What is kept of a line after each game: the games, and the metrics in their order."""
    return [entry.games_played, *(entry.metrics.get(metric.key) for metric in metrics)]


def _sources(player: UserId, pairs: Sequence[bytes]) -> Sources:
    found = dict(zip(pairs[::2], pairs[1::2], strict=True))
    state = found.pop(b"v", b"").decode()
    entries = {}
    for field, data in found.items():
        line = data.split(b":", 2)[2]
        if line and (entry := read_entry(line)):
            entries[field.decode().removeprefix("t:")] = entry
    return Sources(player, state, entries)


def _line(sources: Sources, entry: ScoringEntry | None, metrics: Sequence[MetricDescriptor]) -> Iterator[Any]:
    """A line of the global board as the script reads it."""
    yield from (sources.player, sources.state, entry.to_json() if entry else b"")
    yield orjson.dumps(history_line(entry, metrics) if entry else [])
    yield from (entry.metrics.get(metric.key, "") if entry else "" for metric in metrics)


def _seen(data: bytes) -> Seen:
    return Seen(*orjson.loads(data)) if data else Seen()


def _frozen(data: bytes) -> Frozen | None:
    if not data:
        return None
    limit, _, at = data.decode().partition(":")
    return Frozen(int(limit), Millis(int(at)))


def read_entry(data: bytes) -> ScoringEntry | None:
    """A line as it was written; one that cannot be read is missing, and the others are there."""
    try:
        return ScoringEntry.from_json(data)
    except ValidationError as error:
        logger.error("line of a board not understood, left out %s", trace(error))
        return None


def _row(player: UserId, put: Written, metrics: Iterable[MetricDescriptor]) -> list[Any]:
    values = [put.entry.metrics.get(metric.key, "") for metric in metrics]
    return [player, put.kept, put.entry.to_json(), *values]
