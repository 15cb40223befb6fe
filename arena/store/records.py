"""Records in the store: the facts of each player of a type, who met whom, and where a player's games stand in the log.

A frozen board keeps a copy of facts and meetings, so that nothing on it moves.
"""

from collections.abc import Iterable, Mapping, Sequence

import orjson

from arena.models import Millis, UserId
from arena.record import Facts, Meetings, Pair, field_of
from arena.store.boards import Logged, feed, key_of
from arena.store.nodes import Nodes

CURSOR = "=record:1"  # a field that no strategy has


class Records:
    """The records of a store."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    async def cursor(self, type: str) -> int:
        """How many results a record has counted."""
        key = key_of(type, "cur")
        return int(await self.nodes.run(key, "HGET", key, CURSOR) or 0)

    async def facts(self, type: str, players: Sequence[UserId], frozen: str | None = None) -> dict[UserId, Facts]:
        """What is known of these players, now or on a frozen board."""
        if not players:
            return {}
        key = _facts(type, frozen)
        found = await self.nodes.run(key, "HMGET", key, *players)
        return {player: Facts.read(data) for player, data in zip(players, found, strict=True) if data}

    async def meetings(self, type: str, pairs: Sequence[Pair], frozen: str | None = None) -> dict[Pair, Meetings]:
        """Those of these pairs who have met."""
        if not pairs:
            return {}
        key = _meetings(type, frozen)
        found = await self.nodes.run(key, "HMGET", key, *map(field_of, pairs))
        return {pair: Meetings(**orjson.loads(data)) for pair, data in zip(pairs, found, strict=True) if data}

    async def write(
        self,
        type: str,
        cursor: int,
        facts: Mapping[UserId, Facts],
        meetings: Mapping[Pair, Meetings],
        games: Iterable[Logged],
    ) -> bool:
        """Write what some games added to the record, if it still stands where it was read."""
        games = list(games)
        keys = {player: number for number, player in enumerate(facts, 1)}
        played = [
            part
            for logged in games
            if logged.counts
            for player in logged.users
            for part in (keys[player], logged.result.completed_at, logged.position)
        ]
        names = [key_of(type, "cur"), _facts(type), _meetings(type), *(key_of(type, "p", player) for player in keys)]
        reply = await self.nodes.script(
            "record",
            names,
            CURSOR,
            cursor,
            cursor + len(games),
            len(facts),
            len(meetings),
            *(part for player, known in facts.items() for part in (player, orjson.dumps(known))),
            *(part for pair, counts in meetings.items() for part in (field_of(pair), orjson.dumps(counts))),
            *played,
        )
        return bool(reply)

    async def freeze(self, type: str, strategy: str, now: Millis, batch: bool) -> bool:
        """Stop a board, if it and the record have counted all there is; False if they have not."""
        names = [key_of(type, kind) for kind in ("log", "cur", "gen", "frozen")]
        names += [_facts(type), _meetings(type), _facts(type, strategy), _meetings(type, strategy), feed(type)]
        return bool(await self.nodes.script("freeze", names, strategy, CURSOR, now, int(batch)))

    async def thaw(self, type: str, strategy: str) -> bool:
        """Let a board go on; False if it was not frozen."""
        key = key_of(type, "frozen")
        thawed = await self.nodes.run(key, "HDEL", key, strategy)
        for name in (_facts(type, strategy), _meetings(type, strategy)):
            await self.nodes.run(name, "UNLINK", name)
        return bool(thawed)


def _facts(type: str, frozen: str | None = None) -> str:
    return key_of(type, "facts") if frozen is None else key_of(type, "facts", frozen)


def _meetings(type: str, frozen: str | None = None) -> str:
    return key_of(type, "met") if frozen is None else key_of(type, "met", frozen)
