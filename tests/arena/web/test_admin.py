"""Admins: whoever shows the token of the server may choose seeds for ranked games, and sees no more than others."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from arena import catalog, deals
from arena.client import client
from arena.errors import Refused
from arena.models import Challenge
from arena.settings import Settings
from tests.agents import agent_at
from tests.callers import Caller, Session, calling
from tests.commands import arena as command
from tests.servers import Process, Served, served

TOKEN = "the-keeper's-own-" + "k3y" * 8
BEARER = {"authorization": f"Bearer {TOKEN}"}
SEEDED: dict[str, Any] = {"seed": "final-1", "ranked": True}
MODES: dict[str, dict[str, Any]] = {"open": {}, "required": {"auth": "required", "auth_secret": "a long random text"}}


@pytest.fixture
async def arena(store: str) -> AsyncIterator[Served]:
    async with served(store, admin_token=TOKEN) as running:
        yield running


@pytest.fixture
async def admin(arena: Served) -> AsyncIterator[Caller]:
    async with calling(arena, headers=BEARER) as someone:
        yield someone


@pytest.mark.parametrize("mode", MODES)
async def test_an_admin_opens_a_ranked_session_on_a_seed(store: str, mode: str) -> None:
    async with served(store, admin_token=TOKEN, **MODES[mode]) as arena, calling(arena, headers=BEARER) as admin:
        made = await admin.post("/challenges/psi", seed="final-1")

        header = (await arena.arena.engine.get(made["id"])).header

    assert made["seeded"] is True
    assert "ranked" not in made
    assert (header.seeded, header.ranked) == (True, True)


async def test_what_an_admin_chose_is_played_for_rank_and_can_be_checked(arena: Served, admin: Caller) -> None:
    session = await admin.sit_down("ada", "ben", **SEEDED)
    await session.end()

    [shown] = (await admin.get("/challenges/psi"))["challenges"]

    [result] = await arena.arena.boards.results("psi", 0, 10)
    assert (result.seeded, result.ranked, result.counts) == (True, True, True)
    assert {entry["playerId"] for entry in (await admin.get("/scoring/psi"))["average"]} == {"ada", "ben"}
    assert all(finding.is_right for finding in deals.check(Challenge.from_json(json.dumps(shown)), catalog.load()))


async def test_a_seed_for_rank_deals_the_same_again_but_nobody_can_work_it_out(arena: Served, admin: Caller) -> None:
    made = [await admin.post("/challenges/psi", **SEEDED) for _ in range(2)]

    first, second = [await arena.arena.engine.get(one["id"]) for one in made]

    assert first.game == second.game
    assert first.game != (await arena.arena.engine.create("psi", deal=deals.draw("final-1"))).game


async def test_a_pair_on_a_seed_of_an_admin_is_ranked(arena: Served, admin: Caller) -> None:
    made = await admin.post("/pairs/psi", seed="final-1")

    sessions = [await arena.arena.engine.get(one["id"]) for one in made["challenges"]]

    assert [session.header.ranked for session in sessions] == [True, True]
    assert sessions[0].game == sessions[1].game


async def test_an_admin_may_practise_too(admin: Caller) -> None:
    made = await admin.post("/challenges/psi", seed="7", ranked=False)

    assert (made["seeded"], made["ranked"]) == (True, False)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "shown",
    [
        {},
        {"headers": {"authorization": f"Bearer {TOKEN}x"}},
        {"headers": {"authorization": f"Bearer {TOKEN[:-1]}"}},
        {"headers": {"authorization": f"Basic {TOKEN}"}},
        {"headers": {"authorization": "Bearer \u00fc".encode("latin-1")}},
        {"params": {"key": TOKEN}},  # addresses end up in logs
        {"params": {"from": TOKEN}},
    ],
)
async def test_without_the_right_token_in_its_header_nobody_is_an_admin(
    store: str, mode: str, shown: dict[str, Any]
) -> None:
    async with served(store, admin_token=TOKEN, **MODES[mode]) as arena, calling(arena) as caller:
        for path in ("/challenges/psi", "/pairs/psi"):
            told = await caller.ask("POST", path, json=SEEDED, **shown)
            assert (told.status, told.body["code"]) == (403, "FORBIDDEN")
        unranked = await caller.ask("POST", "/challenges/psi", json={"seed": "final-1"}, **shown)
        listed = await caller.get("/challenges/psi")

    assert unranked.body["ranked"] is False
    assert listed["total"] == 1


async def test_where_no_token_is_set_there_are_no_admins(store: str) -> None:
    async with served(store) as arena, calling(arena) as caller:
        for bearer in ("Bearer", "Bearer None"):
            told = await caller.ask("POST", "/challenges/psi", json=SEEDED, headers={"authorization": bearer})
            assert told.body["code"] == "FORBIDDEN"


@pytest.mark.parametrize("mode", MODES)
async def test_a_socket_that_shows_the_token_belongs_to_an_admin(store: str, mode: str) -> None:
    async with AsyncExitStack() as stack:
        arena = await stack.enter_async_context(served(store, admin_token=TOKEN, **MODES[mode]))
        admin = await stack.enter_async_context(client(arena.ws, token=TOKEN))
        somebody = await stack.enter_async_context(client(arena.ws, token="x" * 40))

        made = await admin.call("create", challengeType="psi", **SEEDED)
        pair = await admin.call("pair", challengeType="psi", seed="final-1")
        for type_ in ("create", "pair"):
            with pytest.raises(Refused, match="admin") as refused:
                await somebody.call(type_, challengeType="psi", **SEEDED)
            assert refused.value.code == "FORBIDDEN"

    assert made["seeded"] is True
    assert all("ranked" not in one for one in (made, *pair["challenges"]))


async def test_an_agent_that_shows_the_token_belongs_to_an_admin_too(arena: Served) -> None:
    async with agent_at(arena, **BEARER) as admin, agent_at(arena) as somebody:
        made = await admin.call("create_session", challengeType="psi", **SEEDED)
        refused = await somebody.refusal("create_session", challengeType="psi", **SEEDED)

    assert (await arena.arena.engine.get(made["session"]["challengeId"])).header.ranked
    assert refused["code"] == "FORBIDDEN"


async def test_an_admin_sees_what_everybody_sees(store: str) -> None:
    async with served(store, admin_token=TOKEN, **MODES["required"]) as arena, calling(arena, headers=BEARER) as admin:
        made = await admin.post("/challenges/psi")
        session = Session(admin, made["id"], made["invites"])
        told = await admin.ask("POST", "/arena/message", json=session.move(0))

        assert await session.operator() == []
        assert told.body == {"error": "from is required"}


async def test_games_without_a_seed_may_be_for_practice(arena: Served) -> None:
    async with calling(arena) as somebody:
        made = await somebody.post("/challenges/psi", ranked=False)
        ranked = await somebody.post("/challenges/psi", ranked=True)

    assert made["ranked"] is False
    assert "seeded" not in made
    assert "ranked" not in ranked


def test_the_token_reaches_every_worker_and_no_log() -> None:
    with Process(workers=2, ARENA_ADMIN_TOKEN=TOKEN, ARENA_LOG_LEVEL="debug") as server:
        for _ in range(8):  # connections, so that both workers have a turn
            made = httpx.post(server.url + "/api/challenges/psi", json=SEEDED, headers=BEARER)
            assert "ranked" not in made.json()
        httpx.post(server.url + "/api/challenges/psi", json=SEEDED, headers={"authorization": f"Bearer {TOKEN}x"})
        log = server.log.read_text()

    assert TOKEN not in log + repr(Settings(admin_token=TOKEN))


@pytest.mark.parametrize("weak", ["short", "two words that are long enough to be one", "\u00fc" * 40])
def test_a_token_that_is_easily_guessed_or_fits_no_header_is_refused_at_the_start(weak: str) -> None:
    done = command("serve", "--port", "0", env={"ARENA_ADMIN_TOKEN": weak})

    assert done.code == 1
    assert "ARENA_ADMIN_TOKEN" in done.err
    assert weak not in done.err
