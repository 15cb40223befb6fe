"""Witnesses for tests: viewers who look at a session through every door, and note each byte that they get."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import httpx
import orjson

from arena.identity import Identity
from arena.wire import JSON, MSGPACK, Codec
from tests.agents import BOTH, call
from tests.guests import Guest, guest_at
from tests.ledger import Ledger
from tests.streams import Reader, reading

WS = {JSON.protocol: "ws-json", MSGPACK.protocol: "ws-msgpack"}
STREAMED = ("initial", "new_message", "game_ended")


class Place(NamedTuple):
    """A server, wherever it runs."""

    url: str
    ledger: Ledger
    signed: bool  # whether it wants signatures

    @property
    def ws(self) -> str:
        """Its WebSocket address."""
        return self.url.replace("http", "ws", 1) + "/ws"


@dataclass
class Seated:
    """What a player shows: its invite in a session, and the key of its seat."""

    session: str = ""
    invite: str = ""
    key: str = ""
    identity: Identity = field(default_factory=Identity.new)

    def proof(self, invite: str) -> dict[str, Any]:
        """What joining takes where signatures are wanted."""
        return self.identity.sign(f"join:{invite}")


class Witness:
    """A viewer with a name, at all doors of one server."""

    def __init__(self, place: Place, name: str, stack: AsyncExitStack, seat: Seated | None = None) -> None:
        self.place = place
        self.name = name
        self.stack = stack
        self.seat = seat or Seated()
        self.guests: list[Guest] = []  # those who stay
        self.readers: list[tuple[str, Reader]] = []
        self._noted: dict[Reader, int] = {}  # events of those who stay

    def note(self, door: str, what: str, data: bytes) -> None:
        """Keep what this viewer got."""
        self.place.ledger.note(self.name, door, what, data)

    # HTTP

    @property
    def bearer(self) -> dict[str, str]:
        """What shows the key of the seat, where that is asked for."""
        return {"authorization": f"Bearer {self.seat.key}"} if self.place.signed and self.seat.key else {}

    @property
    def handle(self) -> dict[str, str]:
        """What names the seat, where that is enough."""
        return {} if self.place.signed or not self.seat.invite else {"from": self.seat.invite}

    async def enter(self) -> None:
        """Get ready to ask over HTTP."""
        self.http = await self.stack.enter_async_context(
            httpx.AsyncClient(base_url=self.place.url, timeout=30, headers={"x-forwarded-for": ADDRESS})
        )

    async def ask(self, method: str, path: str, door: str = "rest", **options: Any) -> httpx.Response:
        """Send a request, and note its answer with the headers."""
        headers = {**self.bearer, **options.pop("headers", {})}
        answer = await self.http.request(method, path, headers=headers, **options)
        head = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items()).encode()
        self.note(door, f"{method} {path.partition('?')[0]}", head + answer.content)
        return answer

    async def get(self, path: str, **query: Any) -> Any:
        """Read something by REST."""
        return (await self.ask("GET", f"/api{path}", params={**self.handle, **query})).json()

    async def post(self, path: str, /, **body: Any) -> Any:
        """Do something by REST."""
        return (await self.ask("POST", f"/api{path}", json={**self.handle, **body})).json()

    async def tool(self, name: str, door: str = "mcp", **arguments: Any) -> httpx.Response:
        """Call a tool, and note what it says."""
        path = {"mcp": "/mcp", "mcp-arena": "/api/arena/mcp", "mcp-chat": "/api/chat/mcp"}[door]
        body = call(1, name, {key.rstrip("_"): value for key, value in arguments.items()})
        return await self.ask("POST", path, door, json=body, headers=BOTH)

    # Sockets and streams

    def codec(self, codec: Codec) -> Codec:
        """The codec, noting each frame as it came and as it reads."""

        def load(data: bytes) -> Any:
            frame = codec.load(data)
            self.note(WS[codec.protocol], frame["type"], data + b"\n" + orjson.dumps(frame))
            return frame

        return replace(codec, load=load)

    @asynccontextmanager
    async def connected(self, codec: Codec, query: str = "", **options: Any) -> AsyncIterator[Guest]:
        """A connection for a while."""
        async with guest_at(self.place.ws + query, self.codec(codec), **options) as guest:
            yield guest

    async def connect(self, codec: Codec) -> Guest:
        """A connection that stays."""
        guest = await self.stack.enter_async_context(self.connected(codec))
        self.guests.append(guest)
        return guest

    async def stream(self, channel: str) -> None:
        """A reader that stays."""
        reader = await self.stack.enter_async_context(reading(self.stream_url(channel)))
        await reader.hear("initial")
        self.readers.append((channel, reader))

    def stream_url(self, channel: str) -> str:
        """Where a channel is streamed for this viewer."""
        fits = self.place.signed and self.seat.session and self.seat.session in channel
        key = {"key": self.seat.key} if fits else {}
        query = "&".join(f"{name}={value}" for name, value in {**self.handle, **key}.items())
        return f"{self.place.url}/api/chat/ws/{channel}?{query}"

    def note_events(self, reader: Reader) -> None:
        """Keep what a stream has brought since the last time."""
        for event in reader.events[self._noted.get(reader, 0) :]:
            self.note("sse", event.frame["type"], f"{event.id} {reader.headers}\n".encode() + event.data)
        self._noted[reader] = len(reader.events)

    # All that can be asked about a session

    async def follow(self, session: str) -> None:
        """Watch a session, or come back to one's seat in it, over everything that stays open."""
        for codec in (JSON, MSGPACK):
            guest = await self.connect(codec)
            await self._attend(guest, session)
            for channel in (f"challenge_{session}", session):
                await guest.hear("initial", channel=channel)
        for channel in (f"challenge_{session}", session):
            await self.stream(channel)

    async def _attend(self, guest: Guest, session: str) -> None:
        """Take one's seat, wherever that is, and watch the session if it is elsewhere."""
        if self.seat.session:
            await guest.get("resume", challengeId=self.seat.session, sessionKey=self.seat.key)
        if self.seat.session != session:
            await guest.get("watch", challengeId=session)

    async def hear(self, session: str, operator: int, player: int) -> None:
        """Wait until so many messages of both channels have come in by all that stays open."""
        for guest in self.guests:
            await guest.hear_messages(f"challenge_{session}", operator)
            await guest.hear_messages(session, player)
        for channel, reader in self.readers:
            await reader.hear_messages(player if channel == session else operator)
            self.note_events(reader)

    async def look(self, session: str, users: tuple[str, ...] = ()) -> None:
        """Ask all there is to ask about a session, at every door."""
        await self.look_by_rest(session, users)
        await self.look_by_mcp(session)
        await self.look_by_stream(session)
        for codec in (JSON, MSGPACK):
            async with self.connected(codec) as guest:
                await self._attend(guest, session)
                await self.look_by_socket(guest, session)

    async def look_by_rest(self, session: str, users: tuple[str, ...]) -> None:
        for path in ("/challenges", "/challenges/vault", "/v1/challenges?limit=100", "/challenges?status=active"):
            await self.get(path)
        for path in ("/scoring", "/scoring/vault", "/stats", "/users", "/users/batch?ids=nobody", "/metadata/vault"):
            await self.get(path)
        for user in users:
            await self.get(f"/users/{user}/challenges")
            await self.get(f"/users/{user}/scores")
        for path, channel in (
            ("/arena/sync", session),
            ("/arena/sync", f"challenge_{session}"),
            ("/chat/sync", session),
            ("/chat/sync", f"challenge_{session}"),
        ):
            index = 1
            while (page := await self.get(path, channel=channel, index=index, wait="0.01")).get("count"):
                index = page["next"]

    async def look_by_mcp(self, session: str) -> None:
        about = {"challengeId": session, **self.handle}
        await self.tool("session_status", **about)
        await self.tool("list_challenges")
        await self.tool("leaderboard", challengeType="vault")
        before: dict[str, Any] = {}
        cursor: dict[str, Any] = {"operatorIndex": 1, "chatIndex": 1}
        while cursor != before:
            result = (await self.tool("read", **about, **cursor)).json()["result"]
            before, cursor = cursor, result.get("structuredContent", {"cursor": cursor})["cursor"]
        who = self.handle.get("from", "viewer")
        for name, door in (("challenge_sync", "mcp-arena"), ("sync", "mcp-chat")):
            await self.tool(name, door, channel=session, from_=who, index=0)
            await self.tool(name, door, channel=f"challenge_{session}", from_=who, index=0)

    async def look_by_stream(self, session: str) -> None:
        for channel in (f"challenge_{session}", session):
            before, last = "", "0"
            while last != before:  # go on from wherever a page has ended
                async with reading(self.stream_url(channel), {"last-event-id": last}) as reader:
                    initial = await reader.hear("initial")
                    before, last = last, str(initial.frame["next"] - 1)
                    if self.place.ledger.phase == "ended":
                        await reader.hear("game_ended")
                    self.note_events(reader)

    async def look_by_socket(self, guest: Guest, session: str) -> None:
        channels = (f"challenge_{session}", session)
        counts = [await self._sync(guest, channel) for channel in channels]
        await guest.hear("state")
        await guest.ask("watch", challengeId=session)
        times = 1 if self.seat.session == session else 2  # whoever watches again is told again
        for channel, count in zip(channels, counts, strict=True):
            await guest.hear_messages(channel, count * times)
        await guest.ask("lobby")
        await guest.ask("leaderboard", challengeType="vault")

    async def _sync(self, guest: Guest, channel: str) -> int:
        """Read all of a channel; how much that is."""
        count, page = 0, {"next": 1}
        while (page := await guest.get("sync", channel=channel, index=page["next"]))["count"]:
            count += page["count"]
        return count


ADDRESS = "203.0.113.77"  # where witnesses say that they come from
