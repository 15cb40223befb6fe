"""Agents for tests: people who use the MCP doors, by the official client or by plain requests."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from tests.callers import TLS, Body
from tests.servers import Served

BOTH = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


class Agent:
    """Somebody at one of the doors, by the official client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> Body:
        """Call a tool that works; its typed result, which its text says too."""
        answer = await self.client.call_tool(tool, named(arguments))
        assert not answer.is_error, answer
        [text] = answer.content
        assert isinstance(text, TextContent)
        if answer.structured_content is not None:
            assert json.loads(text.text) == answer.structured_content
        result: Body = json.loads(text.text)
        return result

    async def refusal(self, tool: str, **arguments: Any) -> Body:
        """Call a tool that does not work; what is told about it."""
        answer = await self.client.call_tool(tool, named(arguments))
        assert answer.is_error, answer
        [text] = answer.content
        assert isinstance(text, TextContent)
        told: Body = json.loads(text.text)
        return told

    async def sit_down(self, *users: str) -> tuple[str, list[str]]:
        """Open a session of psi and take all its seats; its id, and the invites."""
        made = await self.call("create_session", challengeType="psi")
        for invite, user in zip(made["invites"], users or ("ada", "ben"), strict=True):
            await self.call("join_session", invite=invite, userId=user)
        return made["session"]["challengeId"], made["invites"]


def named(arguments: Body) -> Body:
    """Arguments under their names on the wire: `from_` is `from`."""
    return {name.rstrip("_"): value for name, value in arguments.items()}


@asynccontextmanager
async def agent_at(arena: Served, path: str = "/mcp", mode: str = "auto", **headers: str) -> AsyncIterator[Agent]:
    """An agent at a door."""
    async with (
        httpx2.AsyncClient(timeout=60, headers=headers, verify=TLS) as http,
        Client(streamable_http_client(arena.url + path, http_client=http), mode=mode) as client,
    ):
        yield Agent(client)


@asynccontextmanager
async def agent_in_a_room(arena: Served) -> AsyncIterator[Agent]:
    """An agent for a fixture: the official client has to be left by the task that entered it."""
    leaving, entered = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def stay() -> None:
        async with agent_at(arena) as agent:
            entered.set_result(agent)
            await leaving.wait()

    room = asyncio.create_task(stay(), name="agent")
    await asyncio.wait((room, entered), return_when=asyncio.FIRST_COMPLETED)
    if room.done():
        await room
    yield entered.result()
    leaving.set()
    await room


class Sender:
    """Somebody who writes JSON-RPC by hand."""

    def __init__(self, client: httpx.AsyncClient, path: str) -> None:
        self.client = client
        self.path = path

    async def post(self, content: Any, **headers: str) -> httpx.Response:
        """Send anything."""
        sent = content if isinstance(content, bytes) else json.dumps(content).encode()
        return await self.client.post(self.path, content=sent, headers={**BOTH, **headers})

    async def ask(self, *messages: Body) -> list[Body]:
        """Send one message, or a batch; the responses."""
        answer = await self.post(messages[0] if len(messages) == 1 else messages)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/event-stream"
        return events(answer.text)

    async def call(self, *calls: tuple[str, Body]) -> list[Body]:
        """Call tools in one request; their results as JSON."""
        responses = await self.ask(*(call(number, *each) for number, each in enumerate(calls, 1)))
        assert [response["id"] for response in responses] == [*range(1, len(calls) + 1)]
        return [said(response["result"]) for response in responses]


def request(id_: Any, method: str, **params: Any) -> Body:
    """A message that wants an answer."""
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def call(id_: Any, tool: str, arguments: Any) -> Body:
    """A call of a tool."""
    return request(id_, "tools/call", name=tool, arguments=arguments)


def said(result: Body) -> Body:
    """The JSON that a result says."""
    assert result.keys() == {"content"}, result
    [text] = result["content"]
    assert text["type"] == "text"
    told: Body = json.loads(text["text"])
    return told


def events(text: str) -> list[Body]:
    """The responses in a stream, each an event of its own."""
    *blocks, rest = text.split("\n\n")
    assert rest == ""
    found = []
    for block in blocks:
        name, data = block.split("\n")
        assert name == "event: message"
        found.append(json.loads(data.removeprefix("data: ")))
    return found


@asynccontextmanager
async def sender_at(arena: Served, path: str) -> AsyncIterator[Sender]:
    """A sender at a door."""
    async with httpx.AsyncClient(base_url=arena.url, timeout=30, verify=TLS) as client:
        yield Sender(client, path)


def waits() -> list[asyncio.Task[Any]]:
    """Those who wait at a door of this process."""
    return [task for task in asyncio.all_tasks() if task.get_name() == "mcp wait"]
