"""The event streams, with REST for everything but reading."""

from tests.doors.rest import RestVisitor
from tests.doors.visitor import Line, Standing, Talk, Told, lines, standing_of
from tests.streams import Reader, reading, stream_of

TALKS: tuple[Talk, ...] = ("operator", "players")


class StreamVisitor(RestVisitor):
    """Somebody who listens to the streams of both channels."""

    is_told_live = True

    async def join(self, invite: str) -> Told:
        """Take a seat, and listen."""
        answer = await super().join(invite)
        if self.name == invite:
            await self._listen()
        return answer

    async def watch(self, session: str) -> None:
        """Listen."""
        await super().watch(session)
        await self._listen()

    async def _listen(self) -> None:
        self.streams = {talk: await self._open(talk) for talk in TALKS}

    async def _open(self, talk: Talk, **headers: str) -> Reader:
        """A stream of a channel: the key is in the address, as pages have to give it."""
        claim = {"key": self.key} if self.key else self.claim
        url = stream_of(self.arena, self.channel(talk), **claim)
        reader = await self.room.enter_async_context(reading(url, headers))
        assert reader.status == 200
        return reader

    async def hear(self, talk: Talk, count: int) -> list[Line]:
        """Take what comes."""
        return lines(await self.streams[talk].hear_messages(count))

    async def read(self, talk: Talk, index: int = 1) -> list[Line]:
        """Open a stream that begins after the message before."""
        reader = await self._open(talk, **({"last-event-id": str(index - 1)} if index > 1 else {}))
        return lines((await reader.hear("initial")).frame["messages"])

    async def ending(self) -> Standing:
        """Take the events that tell it, one on each stream."""
        told = []
        for stream in self.streams.values():
            ended = [frame for frame in stream.frames if frame["type"] == "game_ended"]
            told += ended or [(await stream.hear("game_ended")).frame]
        first, second = (standing_of(frame["data"]) for frame in told)
        assert first == second
        return first
