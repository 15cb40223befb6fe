"""The leaderboards over HTTP: beside the protocol's own routes, which keep their shapes."""

import pytest

from tests.callers import Caller


async def play(caller: Caller) -> None:
    """Two games of ada and ben, and one of ben and cyd."""
    await caller.post("/users", userId="ada", username="Ada", model="m-1")
    for users in (("ada", "ben"), ("ben", "ada"), ("ben", "cyd")):
        session = await caller.sit_down(*users)
        await session.end()


async def test_the_boards_of_the_default_configuration_are_listed(caller: Caller) -> None:
    await play(caller)

    told = await caller.get("/leaderboards")

    found = {(board["challengeType"], board["strategy"]): board for board in told["boards"]}
    assert list(found)[:5] == [
        ("global", "global-average"),
        ("psi", "average"),
        ("psi", "win-rate"),
        ("psi", "red-team"),
        ("psi", "consecutive"),
    ]
    assert found["psi", "average"]["kind"] == "online"
    assert found["psi", "average"]["players"] == found["psi", "average"]["games"] == 3
    assert found["psi", "average"]["secondView"] is False
    assert len(found["psi", "average"]["resultsHash"]) == 64


async def test_a_board_is_shown_in_stretches_with_ranks_profiles_and_facts(caller: Caller) -> None:
    await play(caller)

    told = await caller.get("/leaderboards/psi/average", limit=2, metric="average:utility")
    rest = await caller.get("/leaderboards/psi/average", limit=2, offset=2, metric="average:utility")

    rows = told["rows"] + rest["rows"]
    assert (told["limit"], told["offset"], told["players"], len(rows)) == (2, 0, 3, 3)
    assert told["recompute"] == "arena scoring recompute --type psi --strategy average"
    by_player = {row["playerId"]: row for row in rows}
    assert by_player["ada"]["username"] == "Ada"
    assert by_player["ben"]["opponents"] == 2
    assert by_player["ben"]["gamesPlayed"] == 3
    assert [row["metrics"]["average:utility"] for row in rows] == sorted(
        (row["metrics"]["average:utility"] for row in rows), reverse=True
    )


async def test_a_player_and_its_games_against_others_are_shown(caller: Caller) -> None:
    await play(caller)

    on_board = await caller.get("/leaderboards/psi/average/players/ada")
    everywhere = await caller.get("/users/ada/leaderboards")
    pair = await caller.get("/leaderboards/psi/average/head-to-head", players="ada,ben")
    matrix = await caller.get("/leaderboards/psi/average/head-to-head")

    assert on_board["row"]["playerId"] == "ada"
    assert {row["playerId"] for row in on_board["neighbours"]} == {"ben", "cyd"}
    assert [point["gamesPlayed"] for point in on_board["history"]] == [1, 2]
    assert {board["strategy"] for board in everywhere["boards"]} == {
        "global-average",
        "average",
        "win-rate",
        "red-team",
        "consecutive",
    }
    assert [(met["player"], met["opponent"], met["games"]) for met in pair["meetings"]] == [("ada", "ben", 2)]
    assert len(matrix["meetings"]) == 2


async def test_a_board_of_the_past_is_asked_for_by_number_or_date(caller: Caller) -> None:
    await play(caller)
    history = (await caller.get("/leaderboards/psi/average/players/ada"))["history"]

    first = await caller.get("/leaderboards/psi/average", at=str(history[0]["at"]))
    never = await caller.get("/leaderboards/psi/average", at="2020-01-31T12:00Z")
    always = await caller.get("/leaderboards/psi/average", at="2120-01-31")

    assert {row["playerId"]: row["gamesPlayed"] for row in first["rows"]} == {"ada": 1, "ben": 1}
    assert never["rows"] == []
    assert len(always["rows"]) == 3


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/leaderboards/psi/luck", 404, "There is no such board."),
        ("/leaderboards/chess/average", 404, "There is no such board."),
        ("/leaderboards/psi/average/players/nobody", 404, "This player is not on that board."),
        ("/leaderboards/psi/average?metric=luck", 400, "no such metric"),
        ("/leaderboards/psi/average?at=yesterday", 400, "`at` is"),
        ("/leaderboards/psi/average?at=99999999999999999999", 400, "`at` is"),
        ("/leaderboards/psi/average/head-to-head?players=" + ",".join(map(str, range(51))), 400, "At most 50"),
    ],
)
async def test_what_there_is_not_is_told(caller: Caller, path: str, status: int, words: str) -> None:
    told = await caller.ask("GET", path)

    assert told.status == status
    assert words in told.body["error"]


async def test_the_protocols_own_routes_keep_their_shapes(caller: Caller) -> None:
    await play(caller)

    boards, overall = await caller.get("/scoring/psi"), await caller.get("/scoring")

    assert list(boards) == ["average", "win-rate", "red-team", "consecutive"]
    assert [entry["playerId"] for entry in boards["average"]] == ["ada", "ben", "cyd"]
    assert boards["average"][0].keys() == {"playerId", "gamesPlayed", "metrics", "username", "model"}
    assert overall[1].keys() == {"playerId", "gamesPlayed", "metrics"}
