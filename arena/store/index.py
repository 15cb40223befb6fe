"""Lists of sessions by time: all, per type, per status, per user. Fed by the outbox, in any order, even twice."""

from typing import Any, NamedTuple

import orjson

from arena.models import Millis, SessionId, Status, UserId
from arena.store import keys
from arena.store.nodes import Nodes
from arena.store.sessions import Posted

VERSIONS = "{idx}:v"
TOMBSTONES = "{idx}:gone"


class Listed(NamedTuple):
    """A page of a list."""

    ids: list[SessionId]
    total: int


def name(type: str | None = None, status: Status | None = None) -> str:
    """The list of a type, a status, both, or of all sessions."""
    return "{idx}" + (f":t:{type}" if type else ":all") + (f":{status}" if status else "")


def of_user(user: UserId) -> str:
    """The ended games of a player."""
    return f"{{idx}}:u:{user}"


def of_origin(origin: str) -> str:
    """The open sessions that one address has created."""
    return f"{{idx}}:o:{origin}"


class Index:
    """The lists of a store."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    async def take(self, *events: Posted) -> None:
        """Put sessions into the lists where they belong now, and tell the lobby."""
        told = [part for event in events for part in _told(event)]
        await self.nodes.script("index", [VERSIONS, TOMBSTONES, keys.LOBBY_FEED], *told)

    async def changed(self, session: SessionId, type: str, spectators: int | None = None) -> None:
        """Tell the lobby that something was said or done in a session, and how many watch it if that is known."""
        watched = {} if spectators is None else {"spectators": spectators}
        news = orjson.dumps({"event": "changed", "id": session, "type": type, **watched})
        await self.nodes.run(keys.LOBBY_FEED, "SPUBLISH", keys.LOBBY_FEED, news)

    async def page(self, list_name: str, offset: int, limit: int) -> Listed:
        """A page of a list, newest first."""
        found, total = await self.nodes.run_all(
            [
                (list_name, ("ZREVRANGE", list_name, offset, offset + limit - 1)),
                (list_name, ("ZCARD", list_name)),
            ]
        )
        return Listed([SessionId(id_.decode()) for id_ in found], total)

    async def ended_before(self, moment: Millis, most: int = 1_000) -> list[SessionId]:
        """Public sessions that have ended and were created before a moment."""
        ended = name(status=Status.ENDED)
        found = await self.nodes.run(ended, "ZRANGEBYSCORE", ended, "-inf", moment, "LIMIT", 0, most)
        return [SessionId(id_.decode()) for id_ in found]

    async def open_of(self, origin: str) -> int:
        """How many sessions of this address wait for players."""
        return int(await self.nodes.run(of_origin(origin), "ZCARD", of_origin(origin)))


def _told(event: Posted) -> tuple[Any, ...]:
    """An event as the script reads it, which knows the lists by what they are of."""
    news = {"event": event.kind, "id": event.id, "type": event.type, "createdAt": event.created_at}
    return (
        event.id,
        event.version,
        event.created_at,
        event.at if event.kind == "removed" else "",
        b"" if event.private else orjson.dumps(news),
        event.type,
        event.status,
        0 if event.private else 1,
        event.origin or "",
        len(event.users),
        *event.users,
    )
