"""The entrance of `/mcp`: what is let in, what is not, and that nobody pays for it who does not use it."""

import asyncio
import logging
import subprocess
import sys

import pytest

from tests.agents import BOTH, agent_at, call, request, sender_at, waits
from tests.guests import comes_true
from tests.servers import Served, served

PING = request(1, "ping")
QUIET_START = """
import sys
from arena import catalog, cli
from arena.settings import Settings
from arena.web.app import create_app
create_app(Settings(), catalog.load([]), "redis://127.0.0.1:1")
print(sorted(name for name in sys.modules if name.split(".")[0] in {"mcp", "mcp_types", "httpx2"}))
"""


def test_a_server_that_no_agent_has_asked_has_not_loaded_the_sdk() -> None:
    done = subprocess.run([sys.executable, "-c", QUIET_START], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


async def test_agents_who_knock_first_at_the_same_moment_are_all_let_in(arena: Served) -> None:
    async def knock() -> int:
        async with agent_at(arena) as agent:
            return len((await agent.client.list_tools()).tools)

    assert await asyncio.gather(*(knock() for _ in range(8))) == [11] * 8


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_only_messages_are_taken(arena: Served, method: str) -> None:
    async with sender_at(arena, "/mcp") as sender:
        answer = await sender.client.request(method, "/mcp", headers=BOTH)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"]["code"] == -32000


async def test_a_request_above_the_limit_is_refused_unread(store: str) -> None:
    async with served(store, limit_body_bytes=2000) as arena, sender_at(arena, "/mcp") as sender:
        answer = await sender.post(call(1, "profile", {"userId": "x" * 3000}))

    assert (answer.status_code, answer.json()["code"]) == (413, "TOO_LARGE")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"7", b'{"jsonrpc":"2.0"}', b"[" * 30_000, b"\xff", b'{"a":"\\ud800"}', b'{"a":1e999}']
)
async def test_nonsense_is_answered_by_an_error_without_a_traceback(arena: Served, body: bytes) -> None:
    for version in ("2025-06-18", "2026-07-28", "2042-01-01"):
        async with sender_at(arena, "/mcp") as sender:
            answer = await sender.post(body, **{"mcp-protocol-version": version})

        assert answer.status_code == 400
        assert answer.json()["error"]["code"] in {-32700, -32600, -32602, -32001, -32022}
        assert "Traceback" not in answer.text


async def test_no_session_is_kept_for_an_agent(arena: Served) -> None:
    async with sender_at(arena, "/mcp") as sender:
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        begun = await sender.post(request(1, "initialize", **params))
        called = await sender.post(call(2, "list_challenges", {}))  # as if it were another server

    assert "mcp-session-id" not in begun.headers
    assert begun.json()["result"]["protocolVersion"] == "2025-06-18"
    assert "untrusted" in begun.json()["result"]["instructions"]
    assert called.json()["result"]["structuredContent"]["challenges"]


async def test_the_log_tells_nothing_of_what_agents_say(arena: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with agent_at(arena) as agent:
        id_, (ada, ben) = await agent.sit_down()
        await agent.call("chat", challengeId=id_, from_=ada, content="a secret word", to=ben)
        await agent.refusal("act", challengeId=id_, from_=ada, method="guess", content="a secret word")

    assert "secret word" not in caplog.text
    assert "inv_" not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("arena"))


async def test_servers_come_and_go_in_one_process(store: str) -> None:
    for _ in range(3):
        async with served(store) as arena, agent_at(arena) as agent:
            assert (await agent.call("leaderboard"))["entries"] == []


async def test_an_agent_who_waits_is_answered_when_the_server_stops(store: str) -> None:
    async with served(store) as arena:
        async with agent_at(arena) as agent:
            id_, (ada, _) = await agent.sit_down()
        async with sender_at(arena, "/mcp") as sender:
            wish = {"challengeId": id_, "from": ada, "operatorIndex": 3, "wait": 25}
            waiting = asyncio.create_task(sender.post(call(1, "read", wish)))
            await comes_true(waits, "an agent waits")

            arena.uvicorn.should_exit = True

            async with asyncio.timeout(60):
                answer = await waiting
    assert answer.json()["result"]["structuredContent"]["cursor"] == {"operatorIndex": 3, "chatIndex": 1}
