"""What the REST door says about what it cannot do: exact status, exact words, and nothing has happened."""

import logging
from typing import Any

import pytest

from arena.web import rest
from arena.web.routing import Call, Route, Router
from tests.callers import Caller, calling
from tests.servers import Served, served

UNKNOWN = "6f1f64c6-7b8f-4f0e-9d3a-0c8c3b1d2e4f"
NOBODY = f"inv_{UNKNOWN}"
TEXT = "x" * 129


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        ("/challenges/chess", {}, "Unknown challenge type: chess"),
        ("/arena/join", {}, "Required"),
        ("/arena/join", {"invite": 5}, "Expected string, received number"),
        ("/arena/join", {"invite": NOBODY, "userId": None}, "Expected string, received null"),
        ("/arena/join", {"invite": NOBODY}, f"Challenge not found for invite: {NOBODY}"),
        ("/arena/join", {"invite": "what"}, "Challenge not found for invite: what"),
        ("/arena/message", {}, "Required"),
        ("/arena/message", {"challengeId": UNKNOWN, "from": "ada"}, "Required"),
        ("/arena/message", {"challengeId": [], "content": ""}, "Expected string, received array"),
        ("/arena/message", {"challengeId": UNKNOWN, "content": {}}, "Expected string, received object"),
        ("/arena/message", {"challengeId": UNKNOWN, "content": "", "from": 5}, "Expected string, received number"),
        ("/arena/message", {"challengeId": UNKNOWN, "content": ""}, "from is required"),
        ("/arena/message", {"challengeId": UNKNOWN, "content": "", "from": ""}, "from is required"),
        ("/arena/message", {"challengeId": UNKNOWN, "content": "", "from": "viewer"}, "from is required"),
        ("/arena/message", {"challengeId": UNKNOWN, "content": "", "from": "ada"}, "Challenge not found"),
        ("/arena/message", {"challengeId": "what", "content": "", "from": "ada"}, "Challenge not found"),
        ("/chat/send", {}, "Required"),
        ("/chat/send", {"channel": "lobby", "from": "ada"}, "Required"),
        ("/chat/send", {"channel": "lobby", "content": "hi"}, "from is required"),
        ("/chat/send", {"channel": "lobby", "content": "hi", "from": 5}, "Expected string, received number"),
        ("/chat/send", {"channel": "lobby", "content": True, "from": "ada"}, "Expected string, received boolean"),
        ("/chat/send", {"channel": "l", "content": "", "from": "a", "to": None}, "Expected string, received null"),
        ("/chat/send", {"channel": UNKNOWN, "content": "hi", "from": "ada"}, "Challenge not found"),
        ("/chat/send", {"channel": UNKNOWN, "content": "hi", "from": NOBODY}, "Challenge not found"),
        ("/invites", {}, "inviteId is required"),
        ("/invites", {"inviteId": ""}, "inviteId is required"),
        ("/invites", {"inviteId": 7}, "Expected string, received number"),
        ("/users", {}, "userId is required"),
        ("/users", {"userId": "ada", "username": 5}, "Expected string, received number"),
        ("/users", {"userId": {}, "username": "Ada"}, "Expected string, received object"),
    ],
)
async def test_a_bad_request_is_told_what_is_wrong_first(
    caller: Caller, path: str, body: dict[str, Any], error: str
) -> None:
    assert await caller.ask("POST", path, json=body) == (400, {"error": error})


@pytest.mark.parametrize("path", ["/arena/join", "/arena/message", "/chat/send", "/invites", "/users"])
@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b'{"a": NaN}', b"[" * 5000])
async def test_a_body_that_is_no_json_is_refused_as_such(caller: Caller, path: str, body: bytes) -> None:
    told = await caller.ask("POST", path, content=body)

    assert told == (400, {"error": "Invalid JSON in request body"})


@pytest.mark.parametrize("path", ["/arena/join", "/arena/message", "/chat/send", "/invites", "/users"])
@pytest.mark.parametrize(("body", "kind"), [("[]", "array"), ("5", "number"), ("null", "null"), ('"x"', "string")])
async def test_a_body_that_is_no_object_is_refused_as_such(caller: Caller, path: str, body: str, kind: str) -> None:
    told = await caller.ask("POST", path, content=body)

    assert told == (400, {"error": f"Expected object, received {kind}"})


@pytest.mark.parametrize(
    ("path", "status", "error"),
    [
        ("/metadata/chess", 404, "Challenge not found"),
        (f"/invites/{NOBODY}", 404, f"Challenge not found for invite: {NOBODY}"),
        ("/invites/what", 404, "Challenge not found for invite: what"),
        ("/scoring/chess", 404, "Unknown challenge type"),
        ("/users/ada", 404, "User not found"),
        ("/users/batch", 400, "ids query parameter is required"),
        ("/users/batch?ids=", 400, "ids query parameter is required"),
        ("/arena/sync", 400, "Required"),
        ("/chat/sync", 400, "Required"),
    ],
)
async def test_what_is_not_there_is_told_in_the_words_of_the_protocol(
    caller: Caller, path: str, status: int, error: str
) -> None:
    assert await caller.ask("GET", path) == (status, {"error": error})


async def test_a_used_invite_is_refused_at_every_route_in_its_own_way(caller: Caller) -> None:
    session = await caller.create()
    await session.join(0)
    invite = session.invites[0]
    used = (409, {"error": f"Invite already used: {invite}"})

    assert await caller.ask("GET", f"/invites/{invite}") == used
    assert await caller.refusal("/invites", inviteId=invite) == used
    assert await caller.refusal("/arena/join", invite=invite) == (
        400,
        {"error": "This invite has already been used.", "code": "INVITE_ALREADY_USED"},
    )
    assert await caller.refusal("/invites", inviteId=NOBODY) == (
        404,
        {"error": f"Challenge not found for invite: {NOBODY}"},
    )


async def test_scoring_that_is_not_configured_is_not_found(arena: Served, caller: Caller) -> None:
    arena.arena.catalog.global_strategies.clear()

    for path in ("/scoring", "/users/ada/scores"):
        assert await caller.ask("GET", path) == (404, {"error": "Scoring not configured"})
    assert (await caller.get("/stats"))["global"]["participants"] == 0


@pytest.mark.parametrize("claimed", [True, False])
async def test_a_body_above_the_limit_is_not_read(caller: Caller, claimed: bool) -> None:
    body = b'{"channel": "lobby", "from": "ada", "content": "' + b"x" * 70_000 + b'"}'

    async def chunks() -> Any:
        for at in range(0, len(body), 10_000):
            yield body[at : at + 10_000]

    told = await caller.ask("POST", "/chat/send", content=body if claimed else chunks())

    assert told.status == 413
    assert told.body["code"] == "TOO_LARGE"
    assert (await caller.get("/chat/sync", channel="lobby"))["count"] == 0


async def test_content_above_the_limit_is_refused_and_not_kept(caller: Caller) -> None:
    session = await caller.sit_down()
    long = "é" * 16_385
    before = await session.operator()

    told = [
        await session.act(0, long),
        await caller.refusal("/chat/send", channel="lobby", **{"from": "ada"}, content=long),
        await caller.refusal("/chat/send", channel=session.id, **{"from": session.invites[0]}, content=long),
    ]

    assert [(one.status, one.body["code"]) for one in told] == [(400, "TOO_LARGE")] * 3
    assert await session.operator() == before


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/users", {"userId": "ada", "username": TEXT}),
        ("/users", {"userId": "ada", "model": TEXT}),
        ("/users", {"userId": TEXT}),
        ("/users", {"from": TEXT}),
        ("/chat/send", {"channel": TEXT, "from": "ada", "content": ""}),
        ("/chat/send", {"channel": "lobby", "from": TEXT, "content": ""}),
        ("/chat/send?from=" + TEXT, {"channel": "lobby", "content": ""}),
        ("/chat/send", {"channel": "lobby", "from": "ada", "to": TEXT, "content": ""}),
        ("/chat/send", {"channel": "", "from": "ada", "content": ""}),
        ("/arena/join", {"invite": NOBODY, "userId": TEXT}),
        ("/arena/join", {"invite": NOBODY, "key": "x" * 65}),
    ],
)
async def test_names_above_the_limit_are_refused(caller: Caller, path: str, body: dict[str, Any]) -> None:
    told = await caller.ask("POST", path, json=body)

    assert told.status == 400
    assert await caller.get("/users") == []


async def test_too_many_open_sessions_of_one_address_are_refused_with_the_time_to_wait(store: str) -> None:
    async with served(store, limit_open_sessions_per_address=1) as arena, calling(arena) as caller:
        await caller.create()

        answer = await caller.client.post("/api/challenges/psi")

    assert answer.status_code == 429
    assert answer.json()["code"] == "RATE_LIMITED"
    assert int(answer.headers["retry-after"]) > 0


async def test_the_unforeseen_is_logged_once_without_its_text_and_told_without_details(
    arena: Served, caller: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(call: Call) -> Any:
        raise RuntimeError("the secret is swordfish")

    broken = Router(lambda: arena.arena, [Route("GET", "/stats", fail)])
    told: list[Any] = []

    async def send(message: Any) -> None:
        told.append(message)

    with caplog.at_level(logging.ERROR):
        await broken(_scope("/api/stats"), _nothing, send)

    assert told[0]["status"] == 500
    assert told[1]["body"] == b'{"error":"Internal server error"}'
    assert len(caplog.records) == 1
    assert "swordfish" not in caplog.text
    assert "RuntimeError" in caplog.text


def _scope(path: str) -> dict[str, Any]:
    return {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [], "client": None}


async def _nothing() -> dict[str, Any]:
    return {"type": "http.disconnect"}


def test_every_route_has_a_handler_that_says_what_it_does() -> None:
    assert all(route.handler.__doc__ for route in rest.ROUTES)
    assert len({(route.method, route.path) for route in rest.ROUTES}) == len(rest.ROUTES)
