"""Tables for tests: a session of psi with players and an audience, each at a door of its own choice."""

import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from arena.identity import Identity
from arena.models import SessionId
from challenges.psi.rules import Sets
from tests.callers import calling
from tests.doors.mcp import AgentVisitor, EndpointVisitor
from tests.doors.rest import RestVisitor
from tests.doors.socket import PackedVisitor, SocketVisitor
from tests.doors.sse import StreamVisitor
from tests.doors.visitor import FINE, Line, Visitor
from tests.servers import Served, served

DOORS: dict[str, type[Visitor]] = {
    "socket": SocketVisitor,
    "msgpack": PackedVisitor,
    "rest": RestVisitor,
    "sse": StreamVisitor,
    "agent": AgentVisitor,
    "endpoints": EndpointVisitor,
}
MODES: dict[str, dict[str, Any]] = {"open": {}, "auth": {"auth": "required", "auth_secret": "a long random text"}}


class Cast(NamedTuple):
    """Who comes by which door, and whether the server wants keys."""

    mode: str
    seats: tuple[str, str]
    audience: tuple[str, ...]

    def __str__(self) -> str:
        return "-".join((self.mode, *dict.fromkeys(self.seats)))


def doors_of(mode: str) -> list[str]:
    """The doors that are open in a mode."""
    return [door for door in DOORS if mode == "open" or door != "endpoints"]


def alike() -> list[Cast]:
    """Everybody at the same door."""
    return [Cast(mode, (door, door), (door,)) for mode in MODES for door in doors_of(mode)]


def mixed() -> list[Cast]:
    """Players at two doors, watched from all of them."""
    rings = ((mode, doors_of(mode)) for mode in MODES)
    return [Cast(mode, pair, tuple(doors)) for mode, doors in rings for pair in itertools.pairwise([*doors, doors[0]])]


@dataclass
class Table:
    """A session, and those who came."""

    arena: Served
    id: str
    invites: list[str]
    players: list[Visitor]
    audience: list[Visitor]
    room: AsyncExitStack

    @property
    def everybody(self) -> list[Visitor]:
        """Players first."""
        return [*self.players, *self.audience]

    async def sit_down(self) -> "Table":
        """Have all seats taken, and the audience look."""
        for player, invite in zip(self.players, self.invites, strict=True):
            assert await player.join(invite) == FINE
        for viewer in self.audience:
            await viewer.watch(self.id)
        return self

    async def another(self, door: str | type[Visitor], who: Identity | None = None) -> Visitor:
        """Somebody else at a door."""
        kind = DOORS[door] if isinstance(door, str) else door
        visitor = kind(self.arena, who or Identity.new(), self.room)
        await visitor.enter()
        return visitor

    async def again(self) -> "Table":
        """A new session for the same people."""
        table = await _lay(self.arena, self.room)
        table.players = [await self.another(type(player), player.who) for player in self.players]
        table.audience = [await self.another(type(viewer)) for viewer in self.audience]
        return table

    async def sets(self) -> Sets:
        """What was dealt and guessed."""
        return Sets.from_json((await self.arena.arena.engine.get(SessionId(self.id))).game)

    async def end(self) -> None:
        """Have both guess wrong."""
        for player in self.players:
            assert await player.act("guess", "1") == FINE


def seen(said: list[Line], viewer: Visitor) -> list[Line]:
    """What somebody may see of all that was said: of a message to another no more than that there was one."""
    return [
        each
        if not each.to or viewer.name in {each.to, each.sender}
        else each._replace(content="", type=None, redacted=True)
        for each in said
    ]


async def _lay(arena: Served, room: AsyncExitStack) -> Table:
    async with calling(arena) as host:
        session = await host.create()
    return Table(arena, session.id, session.invites, [], [], room)


@asynccontextmanager
async def table_for(store: str, cast: Cast) -> AsyncIterator[Table]:
    """A server with an open session, and visitors who have not joined yet."""
    async with served(store, **MODES[cast.mode]) as arena, AsyncExitStack() as room:
        table = await _lay(arena, room)
        table.players = [await table.another(door) for door in cast.seats]
        table.audience = [await table.another(door) for door in cast.audience]
        yield table
