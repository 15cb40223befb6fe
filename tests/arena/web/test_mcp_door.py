"""The protocol's MCP endpoints: every row of the table of requests and answers."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from arena.version import __version__
from tests.agents import BOTH, Sender, call, request, sender_at
from tests.callers import Body, calling
from tests.servers import Served, served

PATHS = ("/api/arena/mcp", "/api/chat/mcp", "/api/v1/arena/mcp", "/api/v1/chat/mcp")
TOOLS = {
    "challenge_join": ({"invite"}, {"userId"}),
    "challenge_message": ({"challengeId", "from", "messageType", "content"}, set()),
    "challenge_sync": ({"channel", "from", "index"}, {"wait"}),
    "send_chat": ({"channel", "from", "content"}, {"to"}),
    "sync": ({"channel", "from", "index"}, {"wait"}),
}
ENDPOINTS = {"arena": {"challenge_join", "challenge_message", "challenge_sync"}, "chat": {"send_chat", "sync"}}
PING = request(1, "ping")
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture(params=["/api/arena/mcp", "/api/v1/chat/mcp"])
async def sender(request: pytest.FixtureRequest, arena: Served) -> AsyncIterator[Sender]:
    async with sender_at(arena, request.param) as someone:
        yield someone


@pytest.fixture
async def player(arena: Served) -> AsyncIterator[Sender]:
    async with sender_at(arena, "/api/arena/mcp") as someone:
        yield someone


def refusal(code: int, message: str) -> Body:
    return {"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": None}


async def test_a_request_is_answered_by_a_stream_of_one_event(sender: Sender) -> None:
    answer = await sender.post(PING)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.text == 'event: message\ndata: {"jsonrpc":"2.0","result":{},"id":1}\n\n'
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("said", [NOTE, [NOTE, NOTE], {"jsonrpc": "2.0", "id": 1, "result": {}}])
async def test_what_wants_no_answer_gets_none(sender: Sender, said: Any) -> None:
    answer = await sender.post(said)

    assert (answer.status_code, answer.content) == (202, b"")


async def test_a_batch_gets_an_event_per_response_in_its_order(sender: Sender) -> None:
    answers = await sender.ask(request("a", "ping"), NOTE, request(2, "no/such"), request(3, "ping"))

    assert [answer["id"] for answer in answers] == ["a", 2, 3]
    assert answers[1]["error"] == {"code": -32601, "message": "Method not found"}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_there_is_no_stream_to_open_and_no_session_to_end(sender: Sender, method: str) -> None:
    answer = await sender.client.request(method, sender.path, headers=BOTH)

    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    assert answer.json() == refusal(-32000, "Method not allowed.")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS"])
async def test_other_methods_lead_nowhere(sender: Sender, method: str) -> None:
    answer = await sender.client.request(method, sender.path, headers=BOTH)

    assert (answer.status_code, answer.text) == (404, "404 Not Found")


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream", "*/*", ""])
async def test_a_client_that_takes_not_both_kinds_of_answer_is_refused(player: Sender, accept: str) -> None:
    answer = await player.post(PING, accept=accept)

    assert answer.status_code == 406
    assert answer.json()["error"]["code"] == -32000


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
async def test_a_body_that_is_not_called_json_is_refused(player: Sender, kind: str) -> None:
    answer = await player.post(PING, **{"content-type": kind})

    assert answer.status_code == 415
    assert answer.json()["error"]["code"] == -32000


async def test_a_charset_does_no_harm(player: Sender) -> None:
    assert (await player.post(PING, **{"content-type": "Application/JSON; charset=utf-8"})).status_code == 200


async def test_an_unknown_version_in_the_header_is_refused_and_a_known_one_is_not(player: Sender) -> None:
    strange = await player.post(PING, **{"mcp-protocol-version": "2042-01-01"})
    known = await player.post(PING, **{"mcp-protocol-version": "2024-10-07"})

    assert (strange.status_code, strange.json()["error"]["code"]) == (400, -32000)
    assert known.status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[1,", b"\xff\xfe", b'{"a":"\xff"}'])
async def test_broken_json_is_answered_at_once(player: Sender, body: bytes) -> None:
    answer = await player.post(body)

    assert answer.status_code == 400
    assert answer.json() == refusal(-32700, "Parse error")


@pytest.mark.parametrize("batch", [[], [PING] * 101], ids=["empty", "too long"])
async def test_a_batch_has_a_reasonable_size(player: Sender, batch: list[Body]) -> None:
    answer = await player.post(batch)

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32600


@pytest.mark.parametrize(
    "message",
    [
        7,
        "ping",
        None,
        {},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": [], "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
    ],
)
async def test_what_is_no_message_is_told_so_and_the_rest_of_its_batch_is_answered(
    player: Sender, message: Any
) -> None:
    first, second = await player.ask(message, PING)

    assert first == refusal(-32600, "Invalid Request")
    assert second["result"] == {}


async def test_params_that_are_a_list_are_told_so(player: Sender) -> None:
    [answer] = await player.ask({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": ["sync"]})

    assert (answer["id"], answer["error"]["code"]) == (4, -32602)


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"])
async def test_a_version_that_we_know_is_agreed_to(player: Sender, version: str) -> None:
    [answer] = await player.ask(request(1, "initialize", protocolVersion=version))

    assert answer["result"] == {
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": "arena", "version": __version__},
    }


@pytest.mark.parametrize("params", [{"protocolVersion": "1999-01-01"}, {"protocolVersion": []}, {}])
async def test_any_other_version_is_answered_by_the_newest(player: Sender, params: Body) -> None:
    [answer] = await player.ask(request(1, "initialize", **params))

    assert answer["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("path", PATHS)
async def test_each_endpoint_lists_its_tools_with_strict_schemas(arena: Served, path: str) -> None:
    async with sender_at(arena, path) as sender:
        [answer] = await sender.ask(request(1, "tools/list"))

    listed = {tool["name"]: tool["inputSchema"] for tool in answer["result"]["tools"]}
    assert set(listed) == ENDPOINTS[path.split("/")[-2]]
    for name, schema in listed.items():
        required, optional = TOOLS[name]
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) == required
        assert set(schema["properties"]) == required | optional


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("no_such_tool", {}),
        ("send_chat", {"channel": "lobby", "from": "ada", "content": "hi"}),  # of the other endpoint
        (None, {}),
        ("challenge_join", {}),
        ("challenge_join", None),
        ("challenge_join", ["inv"]),
        ("challenge_join", {"invite": 5}),
        ("challenge_join", {"invite": "inv", "user_id": "ada"}),
        ("challenge_join", {"invite": "inv", "extra": 1}),
        ("challenge_message", {"challengeId": "x", "from": 5, "messageType": "guess", "content": "1"}),
        ("challenge_sync", {"channel": "x", "from": "ada"}),
        ("challenge_sync", {"channel": "x", "from": "ada", "index": -1}),
        ("challenge_sync", {"channel": "x", "from": "ada", "index": 1.5}),
        ("challenge_sync", {"channel": "x", "from": "ada", "index": 1, "wait": 26}),
    ],
)
async def test_an_unknown_tool_and_bad_arguments_are_errors_of_the_call(
    player: Sender, tool: Any, arguments: Any
) -> None:
    [answer] = await player.ask(call(1, tool, arguments))

    [text] = answer["result"]["content"]
    assert answer["result"]["isError"] is True
    assert text["text"].startswith("MCP error -32602")


async def test_a_body_above_the_limit_is_refused_unread(store: str) -> None:
    async with served(store, limit_body_bytes=2000) as arena, sender_at(arena, "/api/arena/mcp") as sender:
        answer = await sender.post([PING] * 90)

    assert answer.status_code == 413
    assert answer.json()["code"] == "TOO_LARGE"


@pytest.mark.parametrize("path", [*PATHS, "/api/arena/sse", "/api/chat/sse"])
async def test_where_keys_are_required_there_is_no_such_endpoint(store: str, path: str) -> None:
    async with served(store, auth="required", auth_secret="s") as arena, sender_at(arena, path) as sender:
        posted, got = await sender.post(PING), await sender.client.get(path, headers=BOTH)

    assert [(answer.status_code, answer.text) for answer in (posted, got)] == [(404, "404 Not Found")] * 2


@pytest.mark.parametrize("path", ["/api/arena/sse", "/api/chat/sse", "/api/v1/arena/sse", "/api/chat/message"])
async def test_the_older_transport_is_not_there_and_says_so_at_once(arena: Served, path: str) -> None:
    async with calling(arena) as caller:
        answers = [await caller.client.get(path), await caller.client.post(path, json=PING)]

    assert [(answer.status_code, answer.text) for answer in answers] == [(404, "404 Not Found")] * 2


@pytest.mark.parametrize("path", ["/mcp", "/api/arena/mcp", "/api/v1/chat/mcp"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
async def test_pages_of_other_origins_are_not_let_in(arena: Served, path: str, origin: str) -> None:
    async with sender_at(arena, path) as sender:
        answer = await sender.post(PING, origin=origin)

    assert answer.status_code == 403


@pytest.mark.parametrize("path", ["/mcp", "/api/arena/mcp", "/api/v1/chat/mcp"])
async def test_a_name_that_somebody_pointed_at_this_machine_is_no_page_of_ours(arena: Served, path: str) -> None:
    async with sender_at(arena, path) as sender:
        answer = await sender.post(PING, origin="http://rebound.example", host="rebound.example")

    assert answer.status_code == 403


@pytest.mark.parametrize("path", ["/mcp", "/api/arena/mcp", "/api/v1/chat/mcp"])
async def test_our_own_page_and_those_in_the_settings_are_let_in(store: str, path: str) -> None:
    async with served(store, origins=["https://friend.example"]) as arena, sender_at(arena, path) as sender:
        answers = [await sender.post(PING, origin=origin) for origin in (arena.url, "https://friend.example")]

    assert [answer.status_code for answer in answers] == [200, 200]


@pytest.mark.parametrize(("scheme", "status"), [("https", 200), ("http", 403)])
async def test_behind_a_proxy_our_own_page_has_the_scheme_that_the_proxy_tells(
    store: str, scheme: str, status: int
) -> None:
    async with served(store, trusted_proxies="127.0.0.1") as arena, sender_at(arena, "/api/arena/mcp") as sender:
        told = {"x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https"}
        answer = await sender.post(PING, origin=arena.url.replace("http", scheme), **told)

    assert answer.status_code == status
