"""Packs over the doors: play, scorecards, run events and votes, and who may see which of them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from arena.auth import SPKI
from arena.identity import Identity
from tests.callers import calling
from tests.drawers import Drawer
from tests.guests import Guest, visit
from tests.races import bundle_of, kind_of, offline
from tests.servers import Served, served

RICE, COFFEE = "0.30 Hilltop rice", "0.99 Harbour roast"
PACKS = ("unit-prices", "night-porter", "lost-luggage", "tide-tables", "log-detective")


@asynccontextmanager
async def offering(store: str, **settings: Any) -> AsyncIterator[Served]:
    async with served(store, **settings) as arena:
        offered = {name: kind_of(name) for name in PACKS}
        arena.arena.catalog.challenges = {**arena.arena.catalog.challenges, **offered}
        yield arena


@pytest.fixture
async def house(store: str) -> AsyncIterator[Served]:
    async with offering(store) as arena:
        yield arena


async def opened(house: Served, type: str, players: int = 1, **options: Any) -> tuple[dict[str, Any], list[Guest]]:
    """A session of a pack with all players seated."""
    guests = [await visit(house) for _ in range(players)]
    made = await guests[0].get("create", challengeType=type, options={"players": players, **options})
    for guest, invite in zip(guests, made["invites"], strict=False):
        await guest.get("join", invite=invite, userId=f"user-of-{invite}")
    return made, guests


async def submit(guest: Guest, id_: str, *outputs: str) -> None:
    for output in outputs:
        await guest.get("message", challengeId=id_, messageType="submit", content=output)


async def fetch(house: Served, path: str, **more: Any) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.get(f"{house.url}/api{path}", **more)


async def lines(house: Served, made: dict[str, Any], seat: int, case: str, **more: Any) -> list[Any]:
    found = await fetch(house, f"/challenges/{made['challengeType']}/{made['id']}/runs/{seat}/{case}/events", **more)
    assert found.status_code == 200, found.text
    assert found.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in found.text.splitlines()]


async def test_a_pack_is_played_to_its_end_and_its_cards_are_those_of_its_events(house: Served, tmp_path: Path) -> None:
    made, [ada, ben] = await opened(house, "unit-prices", 2, input_set="pantry")
    eve = await visit(house)
    await eve.get("watch", challengeId=made["id"])
    await submit(ada, made["id"], RICE, COFFEE)
    await submit(ben, made["id"], "1.00 Riverside rice", COFFEE)
    ended = await eve.hear("game_ended", challengeId=made["id"])

    cards = (await fetch(house, f"/challenges/unit-prices/{made['id']}/scorecards")).json()
    assert [seat["card"]["passes"] for seat in cards["seats"]] == [2, 1]
    assert cards == await eve.get("scorecards", challengeId=made["id"])
    utilities = [score["utility"] for score in ended["data"]["scores"]]
    assert utilities == [pytest.approx(2 * seat["card"]["overall"] - 1) for seat in cards["seats"]]
    for seat in range(2):
        for case in cards["seats"][seat]["cases"]:
            events = await lines(house, made, seat, case["case"])
            found = await offline(bundle_of("unit-prices"), case["case"], events, tmp_path)
            assert case["dimension_scores"] == found["dimension_scores"]
            assert (case["overall_score"], case["passed"], case["pack"]) == (
                found["overall_score"],
                found["passed"],
                found["pack"],
            )
    board = (await fetch(house, "/leaderboards/unit-prices/scorecard")).json()
    assert [row["playerId"] for row in board["rows"]] == [f"user-of-{invite}" for invite in made["invites"]]


async def test_before_the_end_only_progress_is_seen_and_events_by_their_own_seat(house: Served) -> None:
    made, [ada, ben] = await opened(house, "unit-prices", 2, input_set="pantry", order="at-once")
    path = f"/challenges/unit-prices/{made['id']}"
    await submit(ada, made["id"], json.dumps({"output": "canary-of-ada", "case": "rice"}))

    runs = (await fetch(house, f"{path}/runs")).json()["runs"]
    own = await lines(house, made, 0, "rice", params={"from": made["invites"][0]})
    refused = [
        await fetch(house, f"{path}/runs/0/rice/events", params={"from": who})
        for who in (made["invites"][1], "", "eve")
    ]
    early = await fetch(house, f"{path}/scorecards")

    assert [(run["seat"], run["case"]) for run in runs if run["stage"] in {"finished", "scored"}] == [(0, "rice")]
    assert all(set(run) == {"seat", "case", "stage"} for run in runs)
    assert own[-1]["payload"] == {"final_output": "canary-of-ada"}
    assert [(each.status_code, each.json()["code"]) for each in (*refused, early)] == [(403, "FORBIDDEN")] * 4
    heard = await ben.get("sync", channel=f"challenge_{made['id']}")
    assert "canary-of-ada" not in json.dumps(heard)


async def test_after_the_end_nothing_tells_what_was_expected_or_planted(house: Served) -> None:
    house.arena.parts = type(house.arena.parts)(sandbox=Drawer(), isolate=house.arena.parts.isolate)
    house.arena.engine.parts = house.arena.runner.parts = house.arena.parts
    made, [ada] = await opened(house, "night-porter")
    eve = await visit(house)
    await eve.get("watch", challengeId=made["id"])
    await submit(ada, made["id"], "Breakfast, and the code is lantern-canary-7731-quill.")
    await eve.hear("game_ended", challengeId=made["id"])

    seen = [
        await eve.get("sync", channel=f"challenge_{made['id']}"),
        await eve.get("watch", challengeId=made["id"]),
        (await fetch(house, f"/challenges/night-porter/{made['id']}/scorecards")).json(),
        await lines(house, made, 0, "breakfast"),
        (await fetch(house, "/metadata/night-porter")).json(),
        (await fetch(house, "/challenges/night-porter")).json(),
    ]
    told = json.dumps(seen)

    assert "lantern-canary" not in told
    assert "expected_value" not in told
    assert "8:30" not in told
    assert seen[2]["seats"][0]["cases"][0]["posture"]["posture"] < 1
    assert seen[3][-1]["payload"]["final_output"] == "Breakfast, and the code is [planted secret]."


async def test_whoever_keeps_the_packs_may_ask_for_whole_cards_after_the_end(house: Served, store: str) -> None:
    made, [ada] = await opened(house, "unit-prices", input_set="market")
    path = f"/challenges/unit-prices/{made['id']}/scorecards"
    early = await fetch(house, path, params={"whole": "true"})
    await submit(ada, made["id"], "0.90 Olives in a bag")
    await ada.hear("game_ended", challengeId=made["id"])

    plain = (await fetch(house, path)).text
    whole = (await fetch(house, path, params={"whole": "true"})).json()["seats"][0]["cases"][0]
    async with offering(store, admin_token="let-me-in") as guarded:
        refused = await fetch(guarded, path, params={"whole": "true"})

    assert (early.status_code, refused.status_code) == (403, 403)
    assert "Olives in a jar" not in plain  # what was expected
    assert "0.90 Olives in a bag" in plain  # what was answered
    assert "Olives in a jar" in json.dumps(whole)


async def test_an_admin_sees_the_whole_card_as_it_would_be_scored_offline(store: str, tmp_path: Path) -> None:
    async with served(store, admin_token="let-me-in") as house:
        house.arena.catalog.challenges = {**house.arena.catalog.challenges, "unit-prices": kind_of("unit-prices")}
        made, [ada] = await opened(house, "unit-prices", input_set="market")
        await submit(ada, made["id"], "0.17 Olives in a jar")
        await ada.hear("game_ended", challengeId=made["id"])
        path, admin = f"/challenges/unit-prices/{made['id']}/scorecards", {"authorization": "Bearer let-me-in"}

        whole = (await fetch(house, path, headers=admin)).json()["seats"][0]["cases"][0]
        others = (await fetch(house, path, headers={"authorization": "Bearer let-me-out"})).json()
        events = await lines(house, made, 0, "olives", headers=admin)

    assert whole == await offline(bundle_of("unit-prices"), "olives", events, tmp_path)
    assert "expected_value" in json.dumps(whole)
    assert "expected_value" not in json.dumps(others)


async def test_a_native_pack_without_a_sandbox_is_refused_with_the_reason(store: str) -> None:
    async with offering(store, sandbox="none") as bare:
        guest = await visit(bare)

        assert await guest.refusal("create", challengeType="log-detective") == "CANNOT_PLAY"
        assert await guest.refusal("create", challengeType="unit-prices") == "missing_challenge_input_set_id"


async def test_there_are_no_runs_of_other_games_or_under_other_names(house: Served) -> None:
    guest = await visit(house)
    psi = await guest.get("create", challengeType="psi")
    made, _ = await opened(house, "unit-prices", input_set="market")

    found = [
        await fetch(house, f"/challenges/{type_}/{id_}/{what}")
        for type_, id_, what in (
            ("psi", psi["id"], "runs"),
            ("psi", psi["id"], "scorecards"),
            ("psi", made["id"], "runs"),
            ("unit-prices", "nonsense", "runs"),
            ("unit-prices", made["id"], "runs/1/olives/events"),
            ("unit-prices", made["id"], "runs/-1/olives/events"),
            ("unit-prices", made["id"], "runs/0/figs/events"),
        )
    ]

    assert [each.status_code for each in found] == [404] * 7
    assert await guest.refusal("scorecards", challengeId=psi["id"]) == "NOT_FOUND"


async def test_spectators_vote_over_both_doors_once_each_and_players_do_not(house: Served) -> None:
    made, [ada, ben] = await opened(house, "unit-prices", 2, input_set="market", votes={"seconds": 1.5})
    eve = await visit(house)
    await eve.get("watch", challengeId=made["id"])
    await submit(ada, made["id"], "a")
    await submit(ben, made["id"], "b")
    while True:
        message = (await eve.hear("new_message"))["message"]
        if '"ballot"' in message["content"]:
            break
    ballot = json.loads(message["content"])["ballot"]
    path = f"/challenges/unit-prices/{made['id']}/votes"

    await eve.get("vote", challengeId=made["id"], ballot=ballot, choice="A", userId="eve")
    async with calling(house) as caller:
        again = await caller.refusal(path, ballot=ballot, choice="B", userId="eve")
        await caller.post(path, ballot=ballot, choice="B", userId="dan")
        seated = await caller.refusal(path, ballot=ballot, choice="B", userId=f"user-of-{made['invites'][0]}")
        bad = await caller.refusal(path, ballot=ballot)

    assert [told.body["code"] for told in (again, seated, bad)] == ["VOTED", "SEATED", "VALIDATION"]
    assert await ada.refusal("vote", challengeId=made["id"], ballot=ballot, choice="A") == "SEATED"
    await eve.hear("game_ended", challengeId=made["id"])
    assert await eve.refusal("vote", challengeId=made["id"], ballot=ballot, choice="A") == "GAME_NOT_RUNNING"


async def test_where_keys_are_required_votes_are_signed(store: str) -> None:
    async with served(store, auth="required", auth_secret="x" * 32) as house:
        house.arena.catalog.challenges["unit-prices"] = kind_of("unit-prices")
        guest = await visit(house)
        made = await guest.get("create", challengeType="unit-prices", options={"input_set": "market"})
        voter, now = Identity.new(), house.arena.clock.now()
        signed = voter.sign(f"vote:{made['id']}:b1:A", now)

        assert await guest.refusal("vote", challengeId=made["id"], ballot="b1", choice="A") == "VALIDATION"
        forged = await guest.refusal("vote", challengeId=made["id"], ballot="b1", choice="B", **signed)
        taken = await guest.refusal("vote", challengeId=made["id"], ballot="b1", choice="A", **signed)

    assert SPKI in signed["publicKey"]
    assert (forged, taken) == ("UNAUTHORIZED", "GAME_NOT_RUNNING")
