"""The REST door: reading is asking, and waiting for the answer."""

from typing import Any

import httpx

from tests.callers import TLS, Body, Caller
from tests.doors.visitor import FINE, Board, Line, Standing, Talk, Told, Visitor, board_of, lines, standing_of, told

PATHS = {"operator": "/arena/sync", "players": "/chat/sync"}
STRANGER = "eve"  # what somebody without a seat calls itself


class RestVisitor(Visitor):
    """Somebody who sends requests."""

    caller: Caller
    key = ""  # of its seat, where keys are wanted

    async def enter(self) -> None:
        """Nothing to do before the first request."""
        client = httpx.AsyncClient(base_url=self.arena.url, timeout=60, verify=TLS)
        await self.room.enter_async_context(client)
        self.caller = Caller(client)
        self.heard: dict[str, list[Line]] = {"operator": [], "players": []}

    async def join(self, invite: str) -> Told:
        """Take a seat; where a key comes with it, it is shown from then on."""
        answer = await self.caller.ask("POST", "/arena/join", json={"invite": invite, **self.proof(invite)})
        if answer.status == 200:
            self.sat(answer.body["ChallengeID"], invite)
            self.show(answer.body.get("sessionKey", ""))
        return told(answer.body)

    def show(self, key: str) -> None:
        """Keep a session key, and send it with every request."""
        self.key = key
        if key:
            self.caller.client.headers["authorization"] = f"Bearer {key}"

    async def watch(self, session: str) -> None:
        """Know what to ask for."""
        self.session = session

    @property
    def claim(self) -> Body:
        """Who it says it is, where that counts."""
        return {} if self.is_guarded else {"from": self.name or STRANGER}

    async def act(self, method: str, content: str) -> Told:
        """Post a move."""
        body = {"challengeId": self.session, "messageType": method, "content": content, **self.claim}
        return self._told(await self.caller.ask("POST", "/arena/message", json=body))

    async def say(self, content: str, to: str | None = None) -> Told:
        """Post a message."""
        addressed = {} if to is None else {"to": to}
        body = {"channel": self.session, "content": content, **addressed, **self.claim}
        answer = await self.caller.ask("POST", "/chat/send", json=body)
        if answer.status == 200:
            assert answer.body.keys() == {"index", "channel", "from", "to"}
        return self._told(answer)

    def _told(self, answer: Any) -> Told:
        assert (answer.status == 200) is (told(answer.body) == FINE)
        return told(answer.body)

    async def hear(self, talk: Talk, count: int) -> list[Line]:
        """Ask from where it left off, ready to wait."""
        heard = self.heard[talk]
        while len(heard) < count:
            page = await self.page(talk, len(heard) + 1, wait=25)
            assert page["next"] == len(heard) + 1 + page["count"]
            heard += lines(page["messages"])
        return heard

    async def page(self, talk: Talk, index: int, **more: Any) -> Body:
        """Messages from an index on."""
        page: Body = await self.caller.get(PATHS[talk], channel=self.session, index=index, **self.claim, **more)
        assert page["count"] == len(page["messages"])
        return page

    async def read(self, talk: Talk, index: int = 1) -> list[Line]:
        """Ask for messages."""
        return lines((await self.page(talk, index))["messages"])

    async def standing(self) -> Standing:
        """Look for it in the list of sessions."""
        listed = (await self.caller.get("/challenges/psi", limit=100))["challenges"]
        return next(standing_of(each["state"]) for each in listed if each["id"] == self.session)

    async def ending(self) -> Standing:
        """Look again."""
        return await self.standing()

    async def board(self, type: str | None) -> Board:
        """Ask for a board."""
        if type is None:
            return board_of(await self.caller.get("/scoring"))
        return board_of((await self.caller.get(f"/scoring/{type}")).get("average", ()))
