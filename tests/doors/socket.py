"""The WebSocket door, in either codec."""

from typing import ClassVar

from arena.wire import JSON, MSGPACK, Codec
from tests.callers import Body
from tests.doors.visitor import Board, Line, Standing, Talk, Told, Visitor, board_of, lines, standing_of, told
from tests.guests import Guest, visit


class SocketVisitor(Visitor):
    """Somebody at the WebSocket, in JSON."""

    codec: ClassVar[Codec] = JSON
    is_heard_early = False
    is_told_live = True
    guest: Guest

    async def enter(self) -> None:
        """Connect."""
        self.guest = await visit(self.arena, self.codec)

    async def join(self, invite: str) -> Told:
        """Take a seat, which brings both channels."""
        answer = await self.guest.ask("join", invite=invite, **self.proof(invite))
        if answer["type"] == "reply":
            self.sat(answer["result"]["ChallengeID"], invite)
        return told(answer)

    async def watch(self, session: str) -> None:
        """Follow a session."""
        self.session = (await self.guest.get("watch", challengeId=session))["id"]

    async def act(self, method: str, content: str) -> Told:
        """Send a move."""
        return told(await self.guest.ask("message", challengeId=self.session, messageType=method, content=content))

    async def say(self, content: str, to: str | None = None) -> Told:
        """Send a message."""
        addressed = {} if to is None else {"to": to}
        answer = await self.guest.ask("chat", channel=self.session, content=content, **addressed)
        if answer["type"] == "reply":
            assert answer["result"].keys() == {"index", "channel", "from", "to"}
        return told(answer)

    async def hear(self, talk: Talk, count: int) -> list[Line]:
        """Take what comes."""
        return lines(await self.guest.hear_messages(self.channel(talk), count))

    async def read(self, talk: Talk, index: int = 1) -> list[Line]:
        """Ask for messages."""
        page = await self.guest.get("sync", channel=self.channel(talk), index=index)
        return lines(page["messages"])

    async def standing(self) -> Standing:
        """Ask for the session, over a connection of its own: to watch anew brings the history anew."""
        onlooker = await visit(self.arena, self.codec)
        return standing_of((await onlooker.get("watch", challengeId=self.session))["state"])

    async def ending(self) -> Standing:
        """Take the frame that tells it, which comes once."""

        def find() -> Body | None:
            return next(iter(self.guest.of("game_ended", challengeId=self.session)), None)

        frame = await self.guest.until(find, "the end of the game")
        assert len(self.guest.of("game_ended")) == 1
        return standing_of(frame["data"])

    async def board(self, type: str | None) -> Board:
        """Ask for a board."""
        named = {} if type is None else {"challengeType": type}
        return board_of((await self.guest.get("leaderboard", **named))["entries"])


class PackedVisitor(SocketVisitor):
    """The same in msgpack."""

    codec = MSGPACK
