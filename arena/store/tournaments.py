"""Tournaments in the store: what they are, how they stand, and a record per game. All in one slot."""

from arena.errors import NotFound
from arena.models import Millis
from arena.store import keys
from arena.store.nodes import Nodes
from arena.tournament.entry import Entry, Head, Standing
from arena.tournament.games import Game


class Tournaments:
    """The tournaments of a store."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    async def create(self, head: Head, standing: Standing, key: str = "") -> str:
        """Keep a new tournament; the id of the one that was made under this key before, if there is one."""
        names = [keys.TOURNAMENTS, keys.PLAYED, keys.TOURNAMENT_KEYS, keys.tournament(head.id)]
        made = await self.nodes.script(
            "announce", names, key, head.id, head.to_json(), standing.to_json(), head.created_at
        )
        return str(made.decode())

    async def find(self, key: str) -> str | None:
        """The tournament that was made under a key."""
        found = await self.nodes.run(keys.TOURNAMENT_KEYS, "HGET", keys.TOURNAMENT_KEYS, key)
        return None if found is None else str(found.decode())

    async def load(self, id_: str) -> Entry:
        """A tournament with all its games."""
        own, games = keys.tournament(id_), keys.tournament_games(id_)
        found, played = await self.nodes.run_all([(own, ("HMGET", own, "head", "state")), (games, ("HVALS", games))])
        if found[0] is None:
            raise NotFound("There is no such tournament.")
        records = map(Game.from_json, played)
        return Entry(Head.from_json(found[0]), Standing.from_json(found[1]), {record.key: record for record in records})

    async def standing(self, id_: str) -> Standing:
        """How it stands, without its games."""
        own = keys.tournament(id_)
        found = await self.nodes.run(own, "HGET", own, "state")
        if found is None:
            raise NotFound("There is no such tournament.")
        return Standing.from_json(found)

    async def change(self, id_: str, before: Standing, after: Standing) -> bool:
        """Put one standing in the place of another, unless somebody came first."""
        name = keys.tournament(id_)
        return await self._swap(id_, name, "state", before.to_json(), after.to_json())

    async def record(self, id_: str, before: Game | None, after: Game) -> bool:
        """Write down a game, unless its record is not the one that was seen."""
        name, seen = keys.tournament_games(id_), b"" if before is None else before.to_json()
        return await self._swap(id_, name, after.key, seen, after.to_json())

    async def _swap(self, id_: str, name: str, field: str, before: bytes, after: bytes) -> bool:
        return bool(await self.nodes.script("swap", [name, keys.tournament_changes(id_)], field, before, after))

    async def changes(self, id_: str) -> int:
        """A number that moves whenever something about a tournament changes."""
        name = keys.tournament_changes(id_)
        return int(await self.nodes.run(name, "GET", name) or 0)

    async def ids(self, offset: int, limit: int) -> tuple[list[str], int]:
        """Some of all tournaments, the newest first, and how many there are."""
        name = keys.TOURNAMENTS
        found, total = await self.nodes.run_all(
            [(name, ("ZREVRANGE", name, offset, offset + limit - 1)), (name, ("ZCARD", name))]
        )
        return [id_.decode() for id_ in found], total

    async def played(self) -> list[str]:
        """Those that are under way."""
        return sorted(id_.decode() for id_ in await self.nodes.run(keys.PLAYED, "SMEMBERS", keys.PLAYED))

    async def set_played(self, id_: str, is_played: bool) -> None:
        """Have a tournament played by whoever takes it, or by nobody."""
        await self.nodes.run(keys.PLAYED, "SADD" if is_played else "SREM", keys.PLAYED, id_)

    async def hold(self, id_: str, worker: str, span: Millis) -> bool:
        """Take a tournament or keep it for a while, so that one worker plays it; no time gives it back."""
        return bool(await self.nodes.script("hold", [keys.tournament_owner(id_)], worker, span))
