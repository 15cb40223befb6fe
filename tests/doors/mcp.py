"""The MCP doors: the tools for agents by the official client, and the protocol's two endpoints by plain requests."""

from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent
from orjson import loads

from tests.agents import Agent, Sender, named
from tests.callers import TLS, Body
from tests.doors.rest import STRANGER, RestVisitor
from tests.doors.visitor import FINE, Board, Line, Standing, Talk, Told, Visitor, board_of, lines, told


class AgentVisitor(Visitor):
    """An agent at `/mcp`."""

    agent: Agent

    async def enter(self) -> None:
        """Connect; the headers can be changed later."""
        self.http = await self.room.enter_async_context(httpx2.AsyncClient(timeout=60, verify=TLS))
        carrier = streamable_http_client(f"{self.arena.url}/mcp", http_client=self.http)
        self.agent = Agent(await self.room.enter_async_context(Client(carrier)))
        self.heard: dict[str, list[Line]] = {"operator": [], "players": []}
        self.cursor: Body = {}

    async def call(self, tool: str, **arguments: Any) -> Told:
        """Call a tool that may be refused."""
        answer = await self.agent.client.call_tool(tool, named(arguments))
        [text] = answer.content
        assert isinstance(text, TextContent)
        self.answer: Body = loads(text.text)
        assert answer.is_error is (told(self.answer) != FINE)
        assert self.answer["next"]["tool"]
        return told(self.answer)

    @property
    def claim(self) -> Body:
        """Which session it is about, and who it says it is, where that counts."""
        return {"challengeId": self.session} | ({} if self.is_guarded else {"from": self.name or STRANGER})

    async def join(self, invite: str) -> Told:
        """Take a seat; where a key comes with it, it is shown from then on."""
        answer = await self.call("join_session", invite=invite, **self.proof(invite))
        if answer == FINE:
            assert self.answer["you"] == invite
            self.sat(self.answer["challengeId"], invite)
        if key := self.answer.get("sessionKey"):
            self.http.headers["authorization"] = f"Bearer {key}"
        return answer

    async def watch(self, session: str) -> None:
        """Know what to ask for."""
        self.session = session

    async def act(self, method: str, content: str) -> Told:
        """Make a move."""
        return await self.call("act", **self.claim, method=method, content=content)

    async def say(self, content: str, to: str | None = None) -> Told:
        """Talk."""
        addressed = {} if to is None else {"to": to}
        return await self.call("chat", **self.claim, content=content, **addressed)

    async def hear(self, talk: Talk, count: int) -> list[Line]:
        """Read from the last cursor on, ready to wait."""
        while len(self.heard[talk]) < count:
            news = await self.agent.call("read", **self.claim, **self.cursor, wait=25)
            self.cursor = news["cursor"]
            for each in self.heard:
                self.heard[each] += read_news(news, each)
        return self.heard[talk]

    async def read(self, talk: Talk, index: int = 1) -> list[Line]:
        """Read from an index on."""
        wanted = {"operator": "operatorIndex", "players": "chatIndex"}[talk]
        return read_news(await self.agent.call("read", **self.claim, **{wanted: index}), talk)

    async def standing(self) -> Standing:
        """Ask for it."""
        session = (await self.agent.call("session_status", challengeId=self.session))["session"]
        results = session.get("results", ())
        return Standing(
            session["status"],
            tuple(session["players"]),
            tuple((each["security"], each["utility"]) for each in results),
            {each["player"]: each["who"]["playerId"] for each in results if "who" in each},
            tuple((each["from"], each["to"], each["type"]) for each in session.get("attributions", ())),
        )

    async def ending(self) -> Standing:
        """Ask again."""
        return await self.standing()

    async def board(self, type: str | None) -> Board:
        """Ask for a board; players' names are apart from the arena's numbers."""
        named_ = {} if type is None else {"challengeType": type}
        entries = (await self.agent.call("leaderboard", **named_))["entries"]
        return board_of({**entry, "playerId": entry["player"]["playerId"]} for entry in entries)


def read_news(news: Body, talk: str) -> list[Line]:
    """The messages of a channel, which are told apart by who wrote them."""
    written = [message for message in news["players"]["messages"] if message["channel"] == talk]
    said = [message | {"from": "operator"} for message in news["operator"]] if talk == "operator" else []
    kept = [{name: value for name, value in message.items() if name != "mine"} for message in (*said, *written)]
    return sorted(lines(kept))


class EndpointVisitor(RestVisitor):
    """Somebody at the protocol's endpoints, which have tools to play with; what they lack is asked over REST."""

    async def enter(self) -> None:
        """Two endpoints on one connection."""
        await super().enter()
        self.player = Sender(self.caller.client, "/api/arena/mcp")
        self.talker = Sender(self.caller.client, "/api/chat/mcp")

    async def join(self, invite: str) -> Told:
        """Take a seat."""
        [answer] = await self.player.call(("challenge_join", {"invite": invite, **self.proof(invite)}))
        if told(answer) == FINE:
            self.sat(answer["ChallengeID"], invite)
        return told(answer)

    async def act(self, method: str, content: str) -> Told:
        """Make a move."""
        move = {"challengeId": self.session, "messageType": method, "content": content, **self.claim}
        [answer] = await self.player.call(("challenge_message", move))
        return told(answer)

    async def say(self, content: str, to: str | None = None) -> Told:
        """Talk; nobody in particular is null."""
        [answer] = await self.talker.call(
            ("send_chat", {"channel": self.session, "content": content, "to": to, **self.claim})
        )
        return told(answer)

    async def page(self, talk: Talk, index: int, **more: Any) -> Body:
        """Messages from an index on."""
        sender, tool = {"operator": (self.player, "challenge_sync"), "players": (self.talker, "sync")}[talk]
        [page] = await sender.call((tool, {"channel": self.session, "index": index, **self.claim, **more}))
        assert page["count"] == len(page["messages"])
        return page
