"""Tournaments over REST: played by whichever worker is there, to the same end, and nothing told too early."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from arena.bots import Bot, Move, Moves
from arena.models import ChatMessage, Outcome, UserId
from arena.session import result_of
from arena.tournament import lockstep
from arena.tournament.games import rng_of
from tests.callers import Caller, Told, calling
from tests.guests import comes_true
from tests.servers import Served, served
from tests.tourneys import told

TOKEN = "an admin token of at least thirty-two letters".replace(" ", "-")
ADMIN = {"authorization": f"Bearer {TOKEN}"}


async def finished(caller: Caller, id_: str, phase: str = "finished") -> dict[str, Any]:
    """The report of a tournament, once it is over."""

    async def is_over() -> bool:
        return bool((await caller.get(f"/tournaments/{id_}"))["phase"] == phase)

    await comes_true(is_over, f"{id_} is {phase}")
    report: dict[str, Any] = await caller.get(f"/tournaments/{id_}/report")
    return report


async def hold(caller: Caller, **more: Any) -> dict[str, Any]:
    """Have a tournament played to its end."""
    made = await caller.post("/tournaments", setup=told(**more))
    return await finished(caller, made["id"])


async def test_bots_play_a_tournament_to_its_report(caller: Caller) -> None:
    made = await caller.post("/tournaments", setup=told(4, games_per_pair=2), key="cup")
    again = await caller.post("/tournaments", setup=told(4, games_per_pair=2), key="cup")
    report = await finished(caller, made["id"])
    listed = await caller.get("/tournaments")
    games = (await caller.get(f"/tournaments/{made['id']}/games", limit=5))["games"]
    files = {
        form: await caller.client.get(f"/api/tournaments/{made['id']}/report?format={form}") for form in ("md", "html")
    }

    assert again["id"] == made["id"]
    assert [(t["id"], t["phase"], t["games"]["played"]) for t in listed["tournaments"]] == [
        (made["id"], "finished", 12)
    ]
    rows = report["tournament"]["standings"]
    assert sum(row["points"] for row in rows) == 12
    assert [row["games"] for row in rows] == [6] * 4
    assert all(row["seats"] == [3, 3] for row in rows)
    assert report["again"]["seed"] == "7"
    assert len(games) == 5
    session = await caller.get("/challenges/psi?status=ended")
    assert session["challenges"] == []  # the games of a tournament are listed by it alone
    assert all("Standings" in file.text and "agent-0" in file.text for file in files.values())
    assert files["html"].headers["content-disposition"].startswith("attachment")


async def test_the_seed_and_who_sits_where_are_not_told_before_the_end(store: str) -> None:
    async with served(store) as arena, calling(arena) as caller:
        made = await caller.post("/tournaments", setup=told(4, seed="a seed to keep", games_per_pair=20))
        paused = await caller.post(f"/tournaments/{made['id']}/pause")
        report = await caller.ask("GET", f"/tournaments/{made['id']}/report")

    assert paused["phase"] == "paused"
    assert "a seed to keep" not in str(made) + str(paused) + str(report.body)
    assert all("seats" not in game for game in [*made["playing"], *paused["playing"]])


@pytest.mark.parametrize(
    ("challenge", "count"),
    [
        ("psi", 4),
        ("ultimatum", 3),
        ("millionaire", 3),
        ("dining-cryptographers", 3),
        ("census", 3),
        ("sealed-bids", 4),
        ("supply-chain", 3),
        ("moles", 7),
    ],
)
async def test_the_same_seed_gives_the_same_games_whatever_happens_beside(
    caller: Caller, arena: Served, challenge: str, count: int
) -> None:
    bots = sorted(arena.arena.catalog.challenge(challenge).bots)
    agents = [{"name": f"a{number}", "bot": bots[number % len(bots)]} for number in range(count)]
    setup = {"challenge": challenge, "agents": agents, "games_per_pair": 1}

    first = await hold(caller, **setup, concurrency=1)
    second = await hold(caller, **setup, concurrency=8)

    assert first["tournament"]["games"]["played"] > 0
    assert first["tournament"]["games"]["void"] == 0
    assert first["again"]["results"] == second["again"]["results"]
    assert first["tournament"]["standings"] == second["tournament"]["standings"]
    assert {game["session"] for game in first["games"]}.isdisjoint(game["session"] for game in second["games"])


async def test_another_worker_goes_on_where_one_was_lost(store: str) -> None:
    setup = told(6, games_per_pair=6, concurrency=1)
    async with served(store) as one, calling(one) as caller:
        made = await caller.post("/tournaments", setup=setup)

        async def is_begun() -> bool:
            return bool((await caller.get(f"/tournaments/{made['id']}"))["games"]["played"] >= 5)

        await comes_true(is_begun, "some games are over")
    async with served(store) as two, calling(two) as caller:
        before = {g["key"]: g for g in (await caller.get(f"/tournaments/{made['id']}/games"))["games"] if "scores" in g}
        report = await finished(caller, made["id"])
        whole = await hold(caller, **{name: value for name, value in setup.items() if name != "challenge"})

    after = {game["key"]: game for game in report["games"]}
    assert len(after) == 90
    assert 5 <= len(before) < 90
    assert {key: after[key] for key in before} == before
    assert report["again"]["results"] == whole["again"]["results"]
    assert report["tournament"]["standings"] == whole["tournament"]["standings"]


async def test_a_budget_stops_a_tournament_and_more_of_it_goes_on(caller: Caller) -> None:
    made = await caller.post("/tournaments", setup=told(4, games_per_pair=2, budget={"games": 5}))
    stopped = (await finished(caller, made["id"], "stopped"))["tournament"]
    await caller.post(f"/tournaments/{made['id']}/resume", budget={"games": 100})
    done = (await finished(caller, made["id"]))["tournament"]
    late = await caller.refusal(f"/tournaments/{made['id']}/pause")

    assert (stopped["games"]["played"], stopped["reason"]) == (5, "the budget of 5 games is used up")
    assert done["games"]["played"] == 12
    assert (late.status, late.body["code"]) == (400, "TOURNAMENT_OVER")


async def test_a_decided_ranking_ends_it_early(caller: Caller) -> None:
    report = await hold(caller, challenge="psi", count=2, games_per_pair=300, stop_when_decided=True)

    games = report["tournament"]["games"]
    assert report["tournament"]["reason"] == "the ranking is decided"
    assert games["saved"] == 300 - games["played"] > 0


@pytest.mark.parametrize(
    ("setup", "status", "words"),
    [
        (told(agents=[{"name": "a", "cmd": "rm -rf /"}, {"name": "b", "bot": "honest"}]), 400, "does not start"),
        (told(agents=[{"name": "a", "bot": "hornest"}, {"name": "b", "bot": "honest"}]), 400, "did you mean 'honest'"),
        (told(challenge="chess"), 404, "chess"),
        (told(options={"set_size": -1}), 400, "set_size"),
        (told(games=3), 400, "there is no key 'games'"),
        ({}, 400, "challenge"),
    ],
)
async def test_what_cannot_be_played_is_refused_with_a_reason(
    caller: Caller, setup: dict[str, Any], status: int, words: str
) -> None:
    answer = await caller.refusal("/tournaments", setup=setup)
    listed = await caller.get("/tournaments")

    assert answer.status == status
    assert words in answer.body["error"]
    assert "code" in answer.body
    assert listed["total"] == 0


@pytest.fixture
async def kept(store: str) -> AsyncIterator[Caller]:
    """Somebody at a server that has an admin."""
    async with served(store, admin_token=TOKEN) as running, calling(running) as caller:
        yield caller


async def test_only_an_admin_holds_tournaments_and_everybody_sees_them(kept: Caller) -> None:
    refused = await kept.refusal("/tournaments", setup=told())
    made = await kept.ask("POST", "/tournaments", json={"setup": told(2)}, headers=ADMIN)
    paths = [("POST", "/pause"), ("POST", "/resume"), ("GET", "/seats")]
    shut: list[Told] = [await kept.ask(method, f"/tournaments/{made.body['id']}{path}") for method, path in paths]
    seen = await kept.get(f"/tournaments/{made.body['id']}")
    missing = await kept.ask("GET", "/tournaments/0000000000000000")

    assert (refused.status, made.status, seen["id"]) == (403, 200, made.body["id"])
    assert [answer.status for answer in shut] == [403] * 3
    assert (missing.status, missing.body["code"]) == (404, "NOT_FOUND")


class Faulty(Bot):
    """Fails as soon as it hears something."""

    def hear(self, message: ChatMessage) -> Moves:
        raise ZeroDivisionError


class Mute(Bot):
    """Does nothing at all."""


class Hasty(Bot):
    """Makes a move that is refused, and gives up."""

    def hear(self, message: ChatMessage) -> Moves:
        yield Move("guess", "no number")

    def refused(self, move: Any, code: str) -> Moves:
        yield Move("resign", "")


async def test_a_bot_that_fails_loses_its_game_and_no_other(arena: Served) -> None:
    engine = arena.arena.engine
    session = await engine.create("psi")
    bots = [Faulty(rng_of("7", "k", 0)), Mute(rng_of("7", "k", 1))]

    ended = await lockstep.play(engine, session, bots, [UserId("faulty"), UserId("mute")])

    assert result_of(ended).outcomes == [Outcome.FORFEIT, Outcome.PLAYED]


async def test_bots_that_say_nothing_are_found_out(arena: Served) -> None:
    engine = arena.arena.engine
    session = await engine.create("psi")
    bots = [Mute(rng_of("7", "k", seat)) for seat in range(2)]

    with pytest.raises(lockstep.Silent):
        await lockstep.play(engine, session, bots, [UserId("one"), UserId("two")])


async def test_a_refused_move_is_told_to_its_bot(arena: Served) -> None:
    engine = arena.arena.engine
    session = await engine.create("psi")
    bots = [Mute(rng_of("7", "k", 0)), Hasty(rng_of("7", "k", 1))]

    ended = await lockstep.play(engine, session, bots, [UserId("one"), UserId("two")])

    assert result_of(ended).outcomes == [Outcome.PLAYED, Outcome.FORFEIT]
