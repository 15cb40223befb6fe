"""Lists of sessions: what everybody may see of them, which part of them, and which are in none."""

from typing import Any

import pytest

from tests.callers import Caller, calling
from tests.guests import comes_true, visit
from tests.servers import Served, served


async def test_a_session_that_has_not_ended_shows_nothing_that_would_help_anybody(caller: Caller) -> None:
    await caller.post("/users", userId="ada", username="Ada")
    session = await caller.create()
    await session.join(0, "ada")
    open_ = await caller.get("/challenges")
    await session.join(1, "ben")
    await session.act(0, "110 120")

    active = await caller.get("/challenges/psi", status="active")

    for page, status, seats in ((open_, "open", 1), (active, "active", 2)):
        [shown] = page["challenges"]
        assert shown["state"] == {
            "status": status,
            "scores": [],
            "players": session.invites[:seats],
            "playerIdentities": {},
        }
        assert shown["gameState"] == {}
        assert shown["invites"] == [*session.invites[:seats], *[""] * (2 - seats)]
        assert page["profiles"] == {}


async def test_an_ended_session_shows_everything_with_the_profiles_of_those_who_have_one(caller: Caller) -> None:
    await caller.post("/users", userId="ada", username="Ada")
    session = await caller.sit_down("ada", "ben")

    await session.end()

    page = await caller.get("/challenges", status="ended")
    [shown] = page["challenges"]
    assert shown["state"]["status"] == "ended"
    assert shown["state"]["playerIdentities"] == dict(zip(session.invites, ("ada", "ben"), strict=True))
    assert len(shown["state"]["scores"]) == 2
    assert shown["state"]["completedAt"] >= shown["createdAt"]
    assert len(shown["gameState"]["userSets"]) == 2
    assert shown["invites"] == session.invites
    assert page["profiles"] == {"ada": {"userId": "ada", "username": "Ada"}}


@pytest.mark.parametrize(
    ("path", "query", "limit", "offset"),
    [
        ("/challenges", {}, 50, 0),
        ("/challenges/psi", {}, 10, 0),
        ("/users/ada/challenges", {}, 50, 0),
        ("/challenges", {"limit": "2abc", "offset": "1x"}, 2, 1),
        ("/challenges", {"limit": "1.9", "offset": "1.9"}, 1, 1),
        ("/challenges", {"limit": "", "offset": ""}, 50, 0),
        ("/challenges", {"limit": "0"}, 50, 0),
        ("/challenges", {"limit": "many", "offset": "some"}, 50, 0),
        ("/challenges", {"limit": "-5", "offset": "-5"}, 1, 0),
        ("/challenges", {"limit": "٣", "offset": "٣"}, 50, 0),
        ("/challenges", {"limit": "101"}, 100, 0),
        ("/challenges/psi", {"limit": "1000"}, 100, 0),
        ("/users/ada/challenges", {"limit": "9" * 40}, 100, 0),
    ],
)
async def test_the_part_of_a_list_is_read_leniently_and_told_back(
    caller: Caller, path: str, query: dict[str, str], limit: int, offset: int
) -> None:
    page = await caller.get(path, **query)

    assert (page["limit"], page["offset"], page["total"]) == (limit, offset, 0)


async def test_lists_are_newest_first_and_the_total_counts_all(caller: Caller) -> None:
    made = [(await caller.create()).id for _ in range(5)]
    newest = [one["id"] for one in (await caller.get("/challenges"))["challenges"]]

    page = await caller.get("/challenges", limit=2, offset=1)

    assert sorted(newest) == sorted(made)
    assert [one["id"] for one in page["challenges"]] == newest[1:3]
    times = [one["createdAt"] for one in (await caller.get("/challenges"))["challenges"]]
    assert times == sorted(times, reverse=True)
    assert page["total"] == 5


async def test_a_status_chooses_and_one_that_does_not_exist_is_ignored(caller: Caller) -> None:
    await caller.create()
    active = await caller.sit_down()

    found = {status: await caller.get("/challenges", status=status) for status in ("active", "OPEN", "what")}

    assert [one["id"] for one in found["active"]["challenges"]] == [active.id]
    assert found["active"]["total"] == 1
    assert found["OPEN"]["total"] == found["what"]["total"] == 2


async def test_an_unknown_type_has_no_sessions_whatever_lists_are_called(caller: Caller) -> None:
    await caller.create()

    for name in ("chess", "psi:open", "all"):
        assert (await caller.get(f"/challenges/{name}"))["challenges"] == []


async def test_a_private_session_is_in_no_list_and_no_lobby_but_open_to_its_invites(
    arena: Served, caller: Caller
) -> None:
    session = await caller.sit_down("ada", "ben", private=True)
    guest = await visit(arena)

    lobby = await guest.get("lobby")
    running = await caller.get("/challenges")
    await session.end()

    pages = [await caller.get(path) for path in ("/challenges", "/challenges/psi", "/users/ada/challenges")]
    assert running["total"] == lobby["total"] == 0
    assert [page["total"] for page in pages] == [0, 0, 0]
    assert (await caller.get("/stats"))["global"]["gamesPlayed"] == 1


async def test_the_history_of_a_user_has_the_games_it_played_to_the_end(caller: Caller) -> None:
    ended = await caller.sit_down("ada", "ben")
    await ended.end()
    await caller.sit_down("ada", "ben")
    await (await caller.sit_down("cleo", "ben")).end()

    ada, ben, eve = [await caller.get(f"/users/{user}/challenges") for user in ("ada", "ben", "eve")]

    assert [one["id"] for one in ada["challenges"]] == [ended.id]
    assert ben["total"] == 2
    assert (eve["challenges"], eve["total"], eve["profiles"]) == ([], 0, {})


@pytest.mark.parametrize(
    ("users", "marked", "category"),
    [
        ([], [], "train"),
        (["ada", "ben"], [], "train"),
        (["ada", "ben"], ["ada"], "test"),
        (["ada", "ben"], ["ada", "ben"], "benchmark"),
        (["ada"], ["ada"], "benchmark"),
    ],
)
async def test_the_category_of_a_game_is_told_by_its_benchmark_players(
    arena: Served, caller: Caller, users: list[str], marked: list[Any], category: str
) -> None:
    for user in marked:
        await arena.arena.users.mark(user, True, arena.arena.clock.now())
    session = await caller.sit_down(*users)
    running = (await caller.get("/challenges"))["challenges"][0]["gameCategory"]

    await session.end()

    assert running == "train"
    assert (await caller.get("/challenges"))["challenges"][0]["gameCategory"] == category


async def test_a_session_that_nobody_filled_is_gone_from_every_route(store: str) -> None:
    async with served(store, open_seconds=0.05) as arena, calling(arena) as caller:
        session = await caller.create()

        async def is_gone() -> bool:
            return (await caller.ask("GET", f"/invites/{session.invites[0]}")).status == 404

        await comes_true(is_gone, "the session is removed")
        listed = await caller.get("/challenges")

        assert listed["total"] == 0
        assert (await caller.refusal("/arena/join", invite=session.invites[0])).status == 400
        assert (await session.act(0)).body == {"error": "Challenge not found"}
        assert await session.operator() == []
