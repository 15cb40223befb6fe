"""Every route of the REST door: what it answers, under both prefixes, and how it reads a request."""

import asyncio
from urllib.parse import quote

import httpx
import pytest

from tests.callers import Caller
from tests.servers import Served


async def test_metadata_are_the_words_of_every_challenge_by_type(arena: Served, caller: Caller) -> None:
    every = await caller.get("/metadata")

    assert list(every) == list(arena.arena.catalog.challenges)
    assert every["psi"] == await caller.get("/metadata/psi")
    assert every["psi"]["players"] == 2
    assert [method["name"] for method in every["psi"]["methods"]] == ["guess"]


async def test_a_created_session_is_open_and_has_all_its_invites_and_no_game_state(caller: Caller) -> None:
    made = await caller.post("/challenges/psi")

    assert made["challengeType"] == "psi"
    assert made["name"] == "Private Set Intersection"
    assert made["gameCategory"] == "train"
    assert made["gameState"] == {}
    assert len(set(made["invites"])) == 2
    assert made["state"] == {
        "status": "open",
        "scores": [{"security": 0, "utility": 0}] * 2,
        "players": [],
        "playerIdentities": {},
    }


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"null", b'"text"', b"\xff", b'{"unknown": 1}'])
async def test_a_session_is_created_whatever_nonsense_the_body_is(caller: Caller, body: bytes) -> None:
    told = await caller.ask("POST", "/challenges/psi", content=body, headers={"content-type": "application/json"})

    assert told.status == 200


async def test_a_session_is_created_as_the_body_wishes(caller: Caller) -> None:
    options = {"setSize": 4, "intersectionSize": 2}

    session = await caller.sit_down(options=options)

    [dealt] = [m["content"] for m in await session.operator(0) if m.get("to") == session.invites[0]]
    assert dealt.count(",") == 5


@pytest.mark.parametrize("body", [{"private": "yes"}, {"options": []}, {"options": {"setSize": "no"}}])
async def test_a_wish_that_cannot_be_understood_creates_nothing(caller: Caller, body: dict[str, object]) -> None:
    told = await caller.ask("POST", "/challenges/psi", json=body)

    assert told.status == 400
    assert (await caller.get("/challenges"))["total"] == 0


async def test_joining_gives_the_session_and_its_words_and_in_open_mode_no_key(caller: Caller) -> None:
    session = await caller.create()

    joined = await session.join(0, "ada")

    assert joined == {"ChallengeID": session.id, "ChallengeInfo": await caller.get("/metadata/psi")}


async def test_both_prefixes_are_the_same_door(caller: Caller) -> None:
    session = await caller.create()

    assert (await caller.get("/v1/challenges"))["challenges"] == (await caller.get("/challenges"))["challenges"]
    assert (await caller.post("/v1/arena/join", invite=session.invites[0]))["ChallengeID"] == session.id
    assert (await caller.get("/v1/arena/sync", channel=session.id))["count"] == 1


async def test_a_body_is_read_as_json_whatever_it_says_it_is(caller: Caller) -> None:
    session = await caller.create()
    content = f'{{"invite": "{session.invites[0]}"}}'

    told = await caller.ask(
        "POST", "/arena/join", content=content, headers={"content-type": "application/x-www-form-urlencoded"}
    )

    assert told.status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/nothing"),
        ("GET", "/api"),
        ("GET", "/api/"),
        ("GET", "/api/challenges/"),
        ("GET", "/api/users/ada/"),
        ("GET", "/api/users/ada/friends"),
        ("GET", "/api/v1/health"),
        ("GET", "/api/v1/v1/stats"),
        ("GET", "/api/arena/join"),
        ("GET", "/api/arena/sse"),
        ("PUT", "/api/users"),
        ("DELETE", "/api/challenges/psi"),
        ("OPTIONS", "/api/challenges"),
        ("POST", "/api/stats"),
        ("GET", "/health/"),
    ],
)
async def test_an_unknown_path_or_method_is_a_plain_404(arena: Served, method: str, path: str) -> None:
    async with httpx.AsyncClient(base_url=arena.url) as client:
        answer = await client.request(method, path)

    assert answer.status_code == 404
    assert answer.text == "404 Not Found"
    assert answer.headers["content-type"].startswith("text/plain")


async def test_what_is_long_and_the_same_for_everybody_is_packed_for_those_who_can_read_that(caller: Caller) -> None:
    plain, packed = [
        await caller.client.get("/api/metadata", headers={"accept-encoding": coding}) for coding in ("identity", "gzip")
    ]

    assert plain.json() == packed.json()
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) * 2 < int(plain.headers["content-length"])
    assert {plain.headers["vary"], packed.headers["vary"]} == {"accept-encoding"}


async def test_head_works_where_get_does(caller: Caller) -> None:
    head, get = [await caller.client.request(method, "/api/stats") for method in ("HEAD", "GET")]

    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == str(len(get.content))


async def test_scores_boards_and_stats_are_there_as_soon_as_the_last_move_is_answered(caller: Caller) -> None:
    others = {name: {"gamesPlayed": 0} for name in await caller.get("/metadata")}
    empty = [await caller.get(path) for path in ("/scoring", "/scoring/psi", "/stats", "/users/ada/scores")]
    session = await caller.sit_down("ada", "ben")

    await session.end()

    board = await caller.get("/scoring")
    line = {"playerId": "ada", "gamesPlayed": 1, "metrics": {"average:security": 1, "average:utility": -1}}
    assert empty == [
        [],
        {},
        {"challenges": others, "global": {"participants": 0, "gamesPlayed": 0}},
        {"global": None, "challenges": {}},
    ]
    assert [entry["playerId"] for entry in board] == ["ada", "ben"]
    assert (await caller.get("/scoring/psi"))["average"][0] == line
    scores = await caller.get("/users/ada/scores")
    assert scores["global"] == board[0]
    assert scores["challenges"]["psi"]["average"] == line
    assert list(scores["challenges"]["psi"]) == ["average", "win-rate", "red-team", "consecutive"]
    assert await caller.get("/stats") == {
        "challenges": {**others, "psi": {"gamesPlayed": 1}},
        "global": {"participants": 2, "gamesPlayed": 1},
    }


async def test_lines_of_a_board_say_what_the_profiles_say(caller: Caller) -> None:
    await (await caller.sit_down("ada", "ben")).end()

    await caller.post("/users", userId="ada", username="Ada", model="difference-1")

    [ada, ben] = await caller.get("/scoring")
    [same, _] = (await caller.get("/scoring/psi"))["average"]
    assert (ada["username"], ada["model"]) == (same["username"], same["model"]) == ("Ada", "difference-1")
    assert ben.keys() == {"playerId", "gamesPlayed", "metrics"}


async def test_self_play_and_games_without_names_count_in_the_stats_and_on_no_board(caller: Caller) -> None:
    await (await caller.sit_down("ada", "ada")).end()
    await (await caller.sit_down()).end()

    stats = await caller.get("/stats")

    assert stats["global"] == {"participants": 0, "gamesPlayed": 2}
    assert await caller.get("/scoring") == []


async def test_a_profile_is_made_by_the_first_update_and_changed_by_the_next(caller: Caller) -> None:
    first = await caller.post("/users", userId="ada", username="Ada")

    second = await caller.post("/users", userId="ada", model="difference-1")

    assert first == {"userId": "ada", "username": "Ada"}
    assert second == {"userId": "ada", "username": "Ada", "model": "difference-1"}
    assert await caller.get("/users") == [second]
    assert await caller.get("/users/ada") == second


async def test_without_a_user_id_a_profile_is_that_of_whoever_asks(caller: Caller) -> None:
    by_body = await caller.ask("POST", "/users", json={"from": "ada", "username": "Ada"})
    by_query = await caller.ask("POST", "/users?from=ben", json={"from": "ada", "username": "Ben"})

    assert [told.body["userId"] for told in (by_body, by_query)] == ["ada", "ben"]


async def test_nobody_makes_itself_a_benchmark_agent(caller: Caller) -> None:
    made = await caller.post("/users", userId="ada", isBenchmark=True)

    assert made == {"userId": "ada"}


async def test_profiles_can_be_had_together_and_those_without_one_are_left_out(caller: Caller) -> None:
    await caller.post("/users", userId="ada", username="Ada")

    assert await caller.get("/users/batch", ids="ada,,eve,ada") == {"ada": {"userId": "ada", "username": "Ada"}}
    assert await caller.get("/users/batch", ids=",,") == {}


@pytest.mark.parametrize(
    "name", ["__proto__", "constructor", "toString", "{curly}", "a:b", "ünï", "lab/model-3", "/", "50%2F"]
)
async def test_names_that_mean_something_elsewhere_are_names_like_others(caller: Caller, name: str) -> None:
    path = quote(name, safe="")
    told = await caller.ask("GET", f"/users/{path}")
    empty = await caller.get("/chat/sync", channel=name)
    sent = await caller.post("/chat/send", channel=name, **{"from": name}, content="hi")
    made = await caller.post("/users", userId=name, username=name)

    assert told == (404, {"error": "User not found"})
    assert empty["messages"] == []
    assert sent == {"index": 1, "channel": name, "from": name, "to": None}
    assert await caller.get(f"/users/{path}") == made == {"userId": name, "username": name}
    assert await caller.get(f"/users/{path}/scores") == {"global": None, "challenges": {}}
    assert (await caller.get(f"/challenges/{path}"))["challenges"] == []


async def test_a_claimed_invite_is_announced_to_everybody_and_stays_free(caller: Caller) -> None:
    session = await caller.create()
    invite = session.invites[0]

    claims = [await caller.post("/invites", inviteId=invite) for _ in range(2)]

    assert claims == [{"success": True}] * 2
    heard = (await caller.get("/chat/sync", channel="invites"))["messages"]
    assert [(m["from"], m["content"], m["index"]) for m in heard] == [("operator", invite, n) for n in (1, 2)]
    assert all("to" not in message for message in heard)
    await session.join(0)


async def test_an_invite_shows_its_session_and_no_other_free_invite(caller: Caller) -> None:
    session = await caller.create()

    found = await caller.get(f"/invites/{session.invites[1]}")

    assert found["id"] == session.id
    assert found["invites"] == ["", session.invites[1]]
    assert found["state"]["scores"] == []


async def test_requests_on_one_connection_and_on_many_are_all_answered(caller: Caller) -> None:
    told = await asyncio.gather(*(caller.get("/metadata") for _ in range(50)))

    assert told == [told[0]] * 50
