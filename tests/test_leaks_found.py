"""Whoever breaks redaction at any one door is found out by the watch that `test_leaks` keeps."""

import hmac
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from types import SimpleNamespace

import pytest
import pytest_asyncio

from arena import auth
from tests.flaws import FLAWS, Broken
from tests.guests import comes_true
from tests.heist import METRICS_TOKEN, SERVER_SECRET, of_the_server
from tests.ledger import Leak, Ledger, only
from tests.logbooks import written
from tests.plots import Plot
from tests.servers import Served, served
from tests.valkeys import Valkey, connect
from tests.witnesses import Place, Seated

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Probe(Plot):
    """A game that stays as it is, while everything that can be seen of it is looked at again and again."""

    async def probe(self, wanted: set[str]) -> list[Leak]:
        """Do a little of everything, look at it, and say what came out; what is told in its own time is waited for."""
        mark, known = len(self.ledger.records), len(self.secrets)
        with written("debug") as log:
            await self.do_something()
            await self.glance()
            await comes_true(lambda: wanted <= {leak.door for leak in self.leaks_since(mark)}, f"leaks at {wanted}")
        self.ledger.note("log", "log", "lines", log.getvalue().encode())
        leaks = self.leaks_since(mark)
        del self.secrets[known:]  # once they are out they may stay out
        return leaks

    def leaks_since(self, mark: int) -> list[Leak]:
        """What has come out since the ledger had so many records."""
        return Ledger(self.ledger.records[mark:]).leaks([*self.secrets, *of_the_server(signed=False)])

    async def do_something(self) -> None:
        """Talk and act in private, fall over, and open a session that nobody is to know."""
        ada, ben, cy = self.players
        creator = self.witnesses["creator"]
        made = await creator.post("/challenges/vault", private=True)
        self.keep("private id", made["id"], only("creator"))
        await creator.post("/arena/join", invite=made["invites"][0])
        said = {"channel": made["id"], "from": made["invites"][0], "content": "hello"}
        await creator.ask("POST", "/api/chat/send", json=said)
        if self.ledger.phase == "active":
            await self.act(ada.guests[0], "bid", self.move("a bid", ada))
            await self.act(ada.guests[0], "stumble", self.lost("a fall"))
            await cy.tool("act", method="stumble", content=self.lost("a fall over MCP"), **self.about(cy))
        text = self.whisper("a dm", ada, ben)
        await ada.guests[0].get("chat", channel=self.session, content=text, to=ben.seat.invite)

    async def glance(self) -> None:
        """Look as somebody who has no part in it."""
        ada, anonymous = self.witnesses["ada"], self.witnesses["anonymous"]
        counts = [(await ada.get(path, channel=self.session))["count"] for path in ("/arena/sync", "/chat/sync")]
        for follower in self.followers:
            await follower.hear(self.session, *counts)
        await anonymous.look(self.session)
        await self.witnesses["invited"].get(f"/invites/{self.waiting}")
        await self.look_around()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(valkey: Valkey) -> AsyncIterator[tuple[Probe, Served]]:
    """A game that is on."""
    with connect(valkey.url) as redis:
        redis.flushall()
    settings = {"metrics_token": METRICS_TOKEN, "trusted_proxies": ("127.0.0.1",)}
    async with (
        served(valkey.url, load=("tests.plugins.vault",), **settings) as arena,
        AsyncExitStack() as stack,
    ):
        probe = Probe(Place(arena.url, Ledger(), signed=False), stack)
        await probe.open()
        probe.ledger.phase = "active"
        await probe.begin()
        yield probe, arena


@pytest.mark.parametrize("name", FLAWS)
async def test_a_flaw_is_noticed_at_its_doors(running: tuple[Probe, Served], name: str) -> None:
    (probe, arena), flaw = running, FLAWS[name]
    if flaw.phase != probe.ledger.phase:
        probe.ledger.phase = flaw.phase
        await probe.end()

    with pytest.MonkeyPatch.context() as patch:
        flaw.make(Broken(patch, probe, arena))
        leaks = await probe.probe(flaw.doors if flaw.paced else set())
    for room in arena.arena.hub.rooms.values():
        room.state_push = room.state_frame = None  # made while it was broken

    assert {leak.door for leak in leaks} == flaw.doors, leaks


async def test_a_key_that_fits_nothing_and_is_taken_all_the_same_is_noticed(
    valkey: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"auth": "required", "auth_secret": SERVER_SECRET, "metrics_token": METRICS_TOKEN}
    async with served(valkey.url, load=("tests.plugins.vault",), **settings) as arena, AsyncExitStack() as stack:
        plot = Plot(Place(arena.url, Ledger(), signed=True), stack)
        await plot.open()
        burglar = await plot.witness("burglar", Seated(plot.session, "", f"s_0.{'0' * 64}"))
        lenient = SimpleNamespace(digest=hmac.digest, compare_digest=lambda *_: True)

        monkeypatch.setattr(auth, "hmac", lenient)
        await burglar.look(plot.session)

    leaks = plot.ledger.leaks(plot.secrets)
    assert {leak.viewer for leak in leaks} == {"burglar"}
    assert {leak.door for leak in leaks} == {"ws-json", "ws-msgpack", "sse", "rest", "mcp"}
