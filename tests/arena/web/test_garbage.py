"""What is left in memory of connections that are over."""

import gc
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

import httpx
import pytest
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidStatus
from websockets.server import ServerProtocol

from arena.web.desk import Desk
from arena.web.docket import Docket
from arena.web.outlet import Direct, Queued
from arena.web.pump import Pump
from arena.web.socket import Connection
from tests import servers
from tests.guests import Game, comes_true, guest_at, sit_down
from tests.loops import on_uvloop
from tests.servers import Served, served
from tests.sockets import raw_guest
from tests.streams import reading, stream_of

OURS = (Connection, Desk, Docket, Pump, Direct, Queued)
UVICORNS = (HttpToolsProtocol, RequestResponseCycle, WebSocketsSansIOProtocol, ServerProtocol)


@pytest.fixture
def hoarding() -> Iterator[None]:
    """Nothing that knows itself in a circle is freed."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def in_memory() -> Counter[str]:
    """The parts of connections; what uvicorn keeps of its own is its own affair where it runs without us."""
    looked_for = OURS if servers.HTTP is HttpToolsProtocol else OURS + UVICORNS
    return Counter(kind.__name__ for kind in map(type, gc.get_objects()) if issubclass(kind, looked_for))


async def watch_and_vanish(arena: Served, game: Game) -> None:
    async with raw_guest(arena.ws) as guest:
        await guest.ask("watch", challengeId=game.id)
        await guest.hear("initial", 2)


async def watch_and_say_goodbye(arena: Served, game: Game) -> None:
    async with guest_at(arena.ws) as guest:
        await guest.get("watch", challengeId=game.id)


async def play(arena: Served, game: Game) -> None:
    async with guest_at(arena.ws) as guest:
        session = await guest.get("create", challengeType="psi")
        await guest.get("join", invite=session["invites"][0])
        await guest.get("chat", channel=session["id"], content="is anybody here?")


async def ask_for_what_is_not_there(arena: Served, game: Game) -> None:
    async with guest_at(arena.ws + "?watch=nothing") as guest:
        assert await guest.closed() == 4404


async def be_refused(arena: Served, game: Game) -> None:
    with pytest.raises(InvalidStatus):
        async with guest_at(arena.ws, origin="http://elsewhere.example"):
            pass


async def ask_once(arena: Served, game: Game) -> None:
    async with httpx.AsyncClient(base_url=arena.url) as client:
        assert (await client.get("/api/challenges")).status_code == 200
        assert (await client.get("/api/nothing")).status_code == 404


async def follow_a_stream(arena: Served, game: Game) -> None:
    async with reading(stream_of(arena, game.id)) as reader:
        await reader.hear("initial")


VISITS = (
    *(watch_and_vanish, watch_and_say_goodbye, play, ask_for_what_is_not_there, be_refused),
    *(ask_once, follow_a_stream),
)


@pytest.mark.parametrize("visit", VISITS, ids=lambda visit: visit.__name__)
@pytest.mark.usefixtures("hoarding")
@on_uvloop
async def test_a_visit_leaves_nothing_for_the_garbage_collector(
    store: str, visit: Callable[[Served, Game], Awaitable[None]]
) -> None:
    async with served(store) as arena:
        game = await sit_down(arena)
        before = in_memory()

        for _ in range(3):
            await visit(arena, game)

        await comes_true(lambda: in_memory() <= before, "no more is in memory than before")
