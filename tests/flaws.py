"""Flaws for tests: redaction that is broken at one place, to see whether anybody would notice."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

import arena.engine
import arena.history
import arena.hub
import arena.lobby
import arena.states
import arena.store.index
import arena.web.calls.moves
import arena.web.calls.seats
import arena.web.desk
import arena.web.mcp.playing
import arena.web.mcp.protocol
import arena.web.requests
import arena.web.routing
import arena.web.sse
from arena import chat
from arena.auth import Credential, Viewer
from arena.errors import ArenaError, Internal
from arena.models import OPERATOR, Challenge, ChallengeOperatorState, SessionId, Status
from arena.session import Session, challenge_view
from arena.web.events import PLAIN
from arena.wire import JSON, MSGPACK, Codec, Line
from tests.plots import Plot
from tests.servers import Served

SOCKETS = {"ws-json", "ws-msgpack"}
TOOLS = {"mcp", "mcp-arena", "mcp-chat"}


@dataclass(frozen=True)
class Broken:
    """Where a flaw is put: the server, the game that is on, and what is undone afterwards."""

    patch: pytest.MonkeyPatch
    plot: Plot
    arena: Served

    @property
    def ada(self) -> Any:
        """Whose secrets come out."""
        return self.plot.witnesses["ada"].seat.invite

    def replace(self, module: Any, name: str, value: Any) -> None:
        """Put something else in the place of a name."""
        self.patch.setattr(module, name, value)


@dataclass(frozen=True)
class Flaw:
    """Something that is broken, and the doors at which secrets come out."""

    make: Callable[[Broken], None]
    doors: set[str]
    phase: str = "active"
    paced: bool = False  # whether it comes out in its own time


def _live(protocol: str) -> Callable[[Broken], None]:
    """New messages are whole for everybody at one door."""

    def encoded(line: Line, codec: Codec, viewer: str | None) -> bytes:
        insider = line.to if line.sender == OPERATOR else line.sender
        return ENCODED(line, codec, insider if codec.protocol == protocol else viewer)

    return lambda broken: broken.replace(Line, "encoded", encoded)


ENCODED = Line.encoded


def _history_of(module: Any) -> Callable[[Broken], None]:
    """Pages are read with everything revealed by one of those who read."""
    whole = type("Whole", (), {"read": staticmethod(_read_all), "is_revealed": staticmethod(lambda *_: True)})
    return lambda broken: broken.replace(module, "history", whole)


async def _read_all(*args: Any, revealed: bool) -> Any:
    return await READ(*args, revealed=True)


READ = arena.history.read


def _bare(session: Session, presented: Any = None) -> Challenge:
    """A session with all that it holds."""
    standing = session.standing.model_copy(update={"status": Status.ENDED, "revealed": True})
    return challenge_view(replace(session, standing=standing))


def _bare_state(session: Session) -> ChallengeOperatorState:
    return _bare(session).state


def _view_of(module: Any) -> Callable[[Broken], None]:
    return lambda broken: broken.replace(module, "challenge_view", _bare)


def _last_line(broken: Broken) -> None:
    async def newest(lobby: Any, id_: SessionId) -> dict[str, Any]:
        page = await lobby.engine.sessions.tail(chat.player_channel(id_), 1)
        found: dict[str, Any] = page.entries[-1].fields(page.length)
        return found

    broken.replace(arena.lobby.Lobby, "_last_line", newest)


def _agent_view(broken: Broken) -> None:
    async def session(asked: Any, id_: str) -> Any:
        found = await asked.arena.engine.get(id_)
        return (await real(asked, id_)).model_copy(update={"name": found.game.decode()})

    real = arena.web.mcp.playing._session
    broken.replace(arena.web.mcp.playing, "_session", session)


def _viewer_of(module: Any, name: str) -> Callable[[Broken], None]:
    """A door takes everybody for Ada."""

    async def viewer(*_: Any) -> Any:
        return Viewer(BROKEN[0].ada) if name == "_viewer" else BROKEN[0].ada

    def make(broken: Broken) -> None:
        BROKEN[:] = [broken]
        broken.replace(module, name, viewer)

    return make


BROKEN: list[Broken] = []


def _credential(broken: Broken) -> None:
    broken.replace(arena.web.routing, "credential_of", lambda *_: Credential(handle=broken.ada))


def _frank(type: str, error: Exception) -> ArenaError:
    """Whatever a challenge raises is told as it is."""
    return Internal(str(error)) if isinstance(error, RuntimeError) else TOLD(type, error)


TOLD = arena.engine.told


def _documents(broken: Broken) -> None:
    documents = broken.arena.app.state.documents
    broken.patch.setitem(documents.__dict__, "openapi", {**documents.openapi, "example": broken.plot.waiting})


def _listed(broken: Broken) -> None:
    real = arena.store.index._told
    broken.replace(arena.store.index, "_told", lambda event: real(event.model_copy(update={"private": False})))


def _reported(broken: Broken) -> None:
    async def report(lobby: Any, id_: SessionId, spectators: int | None) -> None:
        await lobby.index.changed(id_, "vault", spectators)

    broken.replace(arena.lobby.Lobby, "_report", report)


def _trace(error: BaseException) -> str:
    return f"error={error!r}"


def _address(scope: Any) -> str:
    return f"{scope['path']}?{scope['query_string'].decode()}"


FLAWS = {
    "nothing": Flaw(lambda broken: None, set()),
    "live JSON": Flaw(_live(JSON.protocol), {"ws-json"}),
    "live MessagePack": Flaw(_live(MSGPACK.protocol), {"ws-msgpack"}),
    "live events": Flaw(_live(PLAIN.protocol), {"sse"}),
    "history of sockets and streams": Flaw(_history_of(arena.hub), {*SOCKETS, "sse"}),
    "sync over a socket": Flaw(_history_of(arena.web.desk), SOCKETS),
    "sync over REST and MCP": Flaw(_history_of(arena.web.calls.moves), {"rest", *TOOLS}),
    "who asks over REST": Flaw(_credential, {"rest"}),
    "who reads a stream": Flaw(_viewer_of(arena.web.sse, "viewer_of"), {"sse"}),
    "who asks over MCP": Flaw(_viewer_of(arena.web.mcp.playing, "_viewer"), {"mcp"}),
    "who asks at the endpoints": Flaw(_viewer_of(arena.web.mcp.protocol, "_viewer"), {"mcp-arena", "mcp-chat"}),
    "lists and lobby": Flaw(_view_of(arena.lobby), {"rest", *SOCKETS}),
    "lookups": Flaw(_view_of(arena.web.calls.seats), {"rest"}),
    "watching": Flaw(_view_of(arena.web.desk), SOCKETS),
    "sessions over MCP": Flaw(_agent_view, {"mcp"}),
    "states": Flaw(lambda broken: broken.replace(arena.states, "state_view", _bare_state), SOCKETS, paced=True),
    "last lines": Flaw(_last_line, SOCKETS, paced=True),
    "private sessions in lists": Flaw(_listed, {"rest", *SOCKETS}),
    "private sessions in the lobby": Flaw(_reported, SOCKETS, paced=True),
    "errors": Flaw(lambda broken: broken.replace(arena.engine, "told", _frank), {"ws-json", "mcp"}),
    "lines of log": Flaw(lambda broken: broken.replace(arena.engine, "trace", _trace), {"log"}),
    "documents": Flaw(_documents, {"documents"}),
    "live JSON after the end": Flaw(_live(JSON.protocol), {"ws-json"}, "ended"),
    "talk after the end": Flaw(_history_of(arena.hub), {*SOCKETS, "sse"}, "ended"),
    "talk after the end over REST and MCP": Flaw(
        _history_of(arena.web.calls.moves), {"rest", "mcp", "mcp-chat"}, "ended"
    ),
    # What has once been counted stays in the metrics, so this comes last.
    "names of routes": Flaw(
        lambda broken: broken.replace(arena.web.requests, "template", _address), {"log", "metrics"}, "ended"
    ),
}
