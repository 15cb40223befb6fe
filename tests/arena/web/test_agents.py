"""What agents say they are made of: entrants of their own on the boards, one line per owner, and nothing for others."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from arena import archive
from arena.archived import check_result
from arena.errors import Invalid
from arena.identity import Identity
from arena.models import Declared, Entrant, GameResult, Invite, UserId, user_behind
from arena.owners import by_owner
from arena.standing import BoardRow
from tests.callers import Caller, calling
from tests.commands import arena as command
from tests.results import game
from tests.servers import Served, served

CONFIG = {"scoring": {"default": ["average", "win-rate", "red-team", "consecutive", "elo", "glicko2", "openskill"]}}
FIRST = {"owner": "acme", "model": "m-1", "prompt": "sha256:aa", "harness": "h-1"}


@pytest.fixture
async def arena(store: str, tmp_path: Path) -> AsyncIterator[Served]:
    """A server that counts in all ways."""
    config = tmp_path / "arena.json"
    config.write_bytes(orjson.dumps(CONFIG))
    async with served(store, config=config) as running:
        yield running


@pytest.fixture
async def caller(arena: Served) -> AsyncIterator[Caller]:
    async with calling(arena) as someone:
        yield someone


async def declare(caller: Caller, user: str, **facts: str) -> str:
    """Declare, and say as what the user enters from now on."""
    told = await caller.post("/agents", userId=user, **facts)
    assert told["selfReported"] is True
    return str(told["entrant"])


async def play(caller: Caller, *users: str) -> None:
    await (await caller.sit_down(*users)).end()


async def lines(caller: Caller, strategy: str = "average", **query: Any) -> dict[str, Any]:
    told = await caller.get(f"/leaderboards/psi/{strategy}", **query)
    return {row["playerId"]: row for row in told["rows"]}


async def test_a_changed_fingerprint_is_a_new_entrant_and_an_owner_alone_is_not(caller: Caller) -> None:
    assert await declare(caller, "ada", owner="acme") == "ada"
    await play(caller, "ada", "ben")
    first = await declare(caller, "ada", **FIRST)
    await play(caller, "ada", "ben")
    other = await declare(caller, "ada", **FIRST | {"model": "m-2"})
    await play(caller, "ada", "ben")
    assert await declare(caller, "ada", **FIRST | {"owner": "acme inc"}) == first
    await play(caller, "ada", "ben")

    found = await lines(caller)

    assert len({"ada", first, other}) == 3
    assert {name: row["gamesPlayed"] for name, row in found.items()} == {"ada": 1, first: 2, other: 1, "ben": 4}
    assert {user_behind(UserId(name)) for name in found} == {"ada", "ben"}
    assert found[first]["declared"] == FIRST | {"owner": "acme inc"}
    assert "declared" not in found["ben"]
    card = await caller.get("/agents/ada")
    assert [variant["id"] for variant in card["variants"]] == [first, other]
    assert await caller.get(f"/agents/{first}") == card
    assert (await caller.get(f"/users/{first}/challenges"))["total"] == 4
    assert first in {entry["playerId"] for entry in (await caller.get("/scoring/psi"))["average"]}


async def test_what_counts_is_what_was_declared_when_the_agent_sat_down(caller: Caller, arena: Served) -> None:
    first = await declare(caller, "ada", **FIRST)
    session = await caller.sit_down("ada", "ben")
    await declare(caller, "ada", model="a scapegoat")

    shown = await caller.get("/challenges/psi")
    await session.end()

    assert first not in orjson.dumps(shown).decode()
    assert set(await lines(caller)) == {first, "ben"}
    [result] = await arena.arena.boards.results("psi", 0, 10)
    assert [(made.id, made.owner) for made in (result.entrants or {}).values()] == [(first, "acme")]
    assert sorted(result.player_identities.values()) == ["ada", "ben"]


async def test_counted_game_by_game_or_all_anew_the_boards_are_the_same(caller: Caller, arena: Served) -> None:
    for number, users in enumerate((("ada", "ben"), ("ben", "cat"), ("cat", "ada"), ("ada", "ben"))):
        if number % 2 == 0:
            await declare(caller, "ada", model=f"m-{number}")
        await play(caller, *users)
    names = CONFIG["scoring"]["default"]
    before = [await lines(caller, name) for name in names]
    protocol = await caller.get("/scoring/psi")

    await declare(caller, "ada", model="something else by now")
    for strategy in arena.arena.scorer.online("psi"):
        assert await arena.arena.scorer.recompute("psi", strategy) == 4

    assert [{name: _numbers(row) for name, row in (await lines(caller, board)).items()} for board in names] == [
        {name: _numbers(row) for name, row in rows.items()} for rows in before
    ]
    assert await caller.get("/scoring/psi") == protocol
    assert len(protocol["elo"]) == 4


def _numbers(row: Any) -> Any:
    return row["gamesPlayed"], row["metrics"], row["rank"]


async def test_one_line_per_owner_discloses_all_its_variants(caller: Caller) -> None:
    entrants = [await declare(caller, "ada", **FIRST)]
    await play(caller, "ada", "ben")
    entrants.append(await declare(caller, "ada", **FIRST | {"prompt": "sha256:bb"}))
    await play(caller, "ada", "cat")
    entrants.append(await declare(caller, "dan", owner="acme", model="m-9"))
    await play(caller, "dan", "ben")

    board = await caller.get("/leaderboards/psi/average", by="owner")

    assert (board["by"], board["owners"], board["players"]) == ("owner", 3, 5)
    [owned] = [row for row in board["rows"] if row.get("declared", {}).get("owner") == "acme"]
    assert {variant["playerId"] for variant in owned["variants"]} == set(entrants)
    assert sum(len(row["variants"]) for row in board["rows"]) == 5
    part = await caller.get("/leaderboards/psi/average", by="owner", limit=1, offset=1)
    assert part["rows"] == board["rows"][1:2]
    past = await caller.get("/leaderboards/psi/average", by="owner", at="2100-01-01")
    assert past["owners"] == 3
    told = await caller.ask("GET", "/leaderboards/psi/average", params={"by": "mood"})
    assert told.status == 400


async def test_for_those_who_declare_nothing_nothing_changes(caller: Caller, arena: Served) -> None:
    await caller.post("/users", userId="ada", username="Ada", model="m-1")
    await play(caller, "ada", "ben")

    [result] = await arena.arena.boards.results("psi", 0, 10)
    assert b"entrants" not in result.to_json()
    assert not {"declared", "variants"} & set((await lines(caller))["ada"])
    assert await caller.get("/users/ada") == {"userId": "ada", "username": "Ada", "model": "m-1"}
    assert (await caller.ask("GET", "/agents/ada")).status == 404
    await declare(caller, "ada", owner="acme")
    assert await caller.get("/users/ada") == {"userId": "ada", "username": "Ada", "model": "m-1"}


@pytest.mark.parametrize(
    "body",
    [
        {"owner": "x" * 129},
        {"owner": "two\nlines"},
        {"model": 5},
        {"prompt": "a whole prompt with spaces"},
        {"harness": "ü"},
        {"userId": ""},
        [],
    ],
)
async def test_a_declaration_that_makes_no_sense_is_refused(caller: Caller, body: Any) -> None:
    wish = {"userId": "ada", **body} if isinstance(body, dict) else body
    told = await caller.ask("POST", "/agents", json=wish)

    assert (told.status, told.body["code"]) == (400, "VALIDATION")
    assert (await caller.ask("GET", "/agents/ada")).status == 404


async def test_where_keys_are_required_a_declaration_is_signed_and_a_signature_is_good_for_one(store: str) -> None:
    async with served(store, auth="required", auth_secret="a long random text") as arena, calling(arena) as caller:
        ada = Identity.new()
        assert (await caller.refusal("/agents", userId=ada.user, **FIRST)).status == 400
        signed = ada.sign("agent-update")
        told = await caller.post("/agents", **FIRST, **signed)
        assert told["userId"] == ada.user
        assert await caller.post("/agents", **FIRST, **signed) == told
        assert (await caller.refusal("/agents", **FIRST | {"owner": "mallory"}, **signed)).status == 401
        assert await caller.get(f"/agents/{ada.user}") == told


async def test_an_agent_is_declared_and_owners_are_shown_on_the_command_line(
    caller: Caller, arena: Served, tmp_path: Path
) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Win.")
    run = ("users", "declare", "--url", arena.url, "--user", "ada", "--owner", "acme", "--prompt", prompt)
    done = await asyncio.to_thread(command, *run)
    assert done.code == 0, done.err
    declared = orjson.loads(done.out)["declared"]
    assert declared["prompt"].startswith("sha256:")
    await play(caller, "ada", "ben")

    shown = await asyncio.to_thread(command, "scoring", "board", "psi", "average", "--by-owner", "--url", arena.url)

    assert shown.code == 0, shown.err
    assert "self-reported" in shown.out
    assert "2 owners" in shown.out


@pytest.mark.parametrize("prompt", ["no-such-file.txt", "You always guess 50. " * 30, "/"])
def test_a_prompt_that_is_no_file_is_not_sent(prompt: str) -> None:
    done = command("users", "declare", "--user", "ada", "--prompt", prompt)

    assert done.code == 2
    assert "a prompt is a file" in done.err


async def test_an_archive_takes_the_variants_along(caller: Caller, arena: Served) -> None:
    for model in ("m-1", "m-2"):
        await declare(caller, "ada", owner="acme", model=model)
        await play(caller, "ada", "ben")
    before = await caller.get("/leaderboards/psi/elo", by="owner")
    kept = [line async for line in archive._lines(arena.arena, None, games=True)]
    await arena.arena.nodes.run("any", "FLUSHALL")
    assert (await caller.get("/leaderboards/psi/elo"))["rows"] == []

    for line in kept:
        await archive._take(arena.arena, line)
    await arena.arena.scorer.catch_up("psi")

    assert (await caller.get("/leaderboards/psi/elo", by="owner"))["rows"] == before["rows"]
    assert (await caller.get("/leaderboards/psi/elo", by="owner"))["resultsHash"] == before["resultsHash"]


def test_lines_of_one_owner_are_one_in_the_order_of_the_best() -> None:
    def row(name: str, value: float, rank: int, owner: str | None = None) -> BoardRow:
        told = Declared(owner=owner) if owner else None
        return BoardRow(
            player_id=UserId(name), games_played=1, metrics={"m": value}, rank=rank, provisional=False, declared=told
        )

    rows = [row("a~000000000001", 9, 1), row("b", 8, 2, "x"), row("a", 8, 2), row("c", 8, 2), row("d", 1, 5, "x")]

    made = by_owner(rows, "m")

    assert [(line.player_id, line.rank, len(line.variants or ())) for line in made] == [
        ("a~000000000001", 1, 2),
        ("b", 2, 2),
        ("c", 2, 1),
    ]


def test_a_result_whose_entrants_are_not_its_players_is_no_result() -> None:
    good = game(["ada", "ben"], [(1, 1), (1, 0)])
    declared = Declared(model="m-1")

    def with_entrant(seat: str, id_: str) -> GameResult:
        made = Entrant(id=UserId(id_), **declared.model_dump())
        return good.model_copy(update={"entrants": {Invite(seat): made}})

    check_result(with_entrant("inv_0", declared.entrant_of(UserId("ada"))))
    for seat, id_ in (("inv_0", "ben~000000000000"), ("inv_0", "ada"), ("inv_9", declared.entrant_of(UserId("ada")))):
        with pytest.raises(Invalid):
            check_result(with_entrant(seat, id_))


def test_two_variants_of_one_player_at_one_table_are_still_self_play() -> None:
    declared = Declared(model="m-1")
    made = Entrant(id=declared.entrant_of(UserId("ada")), **declared.model_dump())
    result = game(["ada", "ada"], [(1, 1), (1, 0)]).model_copy(update={"entrants": {Invite("inv_0"): made}})

    assert len(set(result.users)) == 2
    assert not result.counts
