"""Fan-out, streams and rooms: messages that are committed, and passed on to everybody who follows."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

import orjson

from benchmarks.circle import SIZE, Circle, Member, read_arena, read_plain
from benchmarks.gauge import Gauge, Row
from benchmarks.guest import create
from benchmarks.peer import Peer, open_all, wait_until
from benchmarks.servers import Server
from benchmarks.stream import StreamMember

DRAIN = 20.0  # seconds that the last messages may take
GREETINGS = 4  # frames before a follower is live: welcome, reply, and the beginning of two channels
STREAM_GREETINGS = 1  # events before a reader is live: the beginning of its channel


class Door:
    """Where the circles of a server are."""

    def __init__(self, server: Server, gauge: Gauge) -> None:
        self.server = server
        self.gauge = gauge
        self.port = server.port
        self.is_arena = server.name == "arena"

    async def circles(self, many: int) -> list[tuple[Circle, list[str], str]]:
        """Rooms: each with the addresses of its two players and that of its spectators."""
        if not self.is_arena:
            paths = [f"/room/{number}" for number in range(many)]
            return [(Circle(self.gauge, read_plain, bytes), [path, path], path) for path in paths]
        return [
            (
                Circle(self.gauge, read_arena, _chat_in(session["id"])),
                [f"/ws?invite={invite}" for invite in session["invites"]],
                f"/ws?watch={session['id']}",
            )
            for session in await create(self.port, many)
        ]

    async def open(self, members: list[Member]) -> float:
        """Connect everybody and wait until all are live; returns the server's memory for each, in KiB."""
        before = self.server.usage.rss
        await open_all(list(members), self.port)
        greetings = STREAM_GREETINGS if isinstance(members[0], StreamMember) else GREETINGS
        if self.is_arena and not await wait_until(lambda: all(m.others >= greetings for m in members), DRAIN):
            raise RuntimeError("some members were not greeted")
        await asyncio.sleep(0.5)
        return (self.server.usage.rss - before) / 1024 / len(members)

    async def close(self, circles: list[Circle]) -> None:
        """Wait for what is under way; what does not come is lost."""
        if not await wait_until(lambda: all(circle.settled for circle in circles), DRAIN):
            self.gauge.fault("some messages never came")
        await asyncio.sleep(0.2)  # a second copy would come now
        for member in [member for circle in circles for member in circle.members]:
            if member.lost:
                self.gauge.fault("a connection was lost")
            if member.next != len(member.circle.sent_at):
                self.gauge.fault(f"a member heard {member.next} of {len(member.circle.sent_at)}")
            member.transport.abort()


def _chat_in(session: str) -> Callable[[bytes], bytes]:
    """What makes a text the frame that says it."""
    before, _, after = orjson.dumps({"type": "chat", "channel": session, "content": "@"}).partition(b"@")
    return lambda text: before + text + after


async def fan_out(server: Server, seconds: float, subscribers: int, window: int) -> Row:
    """One publisher, and many spectators of one session."""
    return await _fan_out("fan-out", Member, server, seconds, subscribers, window)


async def streams(server: Server, seconds: float, subscribers: int, window: int) -> Row:
    """One publisher, and many readers of the event stream of one channel."""
    return await _fan_out("sse", StreamMember, server, seconds, subscribers, window)


async def _fan_out(mode: str, kind: type[Member], server: Server, seconds: float, subscribers: int, window: int) -> Row:
    async with publishing(server, subscribers, window, kind) as (gauge, _, kib):
        reading = await gauge.run(server, seconds)
    who = "event streams" if kind is StreamMember else "spectators"
    what = f"1 publisher, {subscribers:,} {who}, {window} in flight, {SIZE} bytes"
    return gauge.row(mode, server.name, what, "deliveries", reading, subscribers, kib)


class Stage(NamedTuple):
    """A fan-out that is going on."""

    gauge: Gauge
    watch: str  # where others may listen, too
    kib: float  # of the server's memory for each subscriber


@asynccontextmanager
async def publishing(
    server: Server, subscribers: int, window: int, kind: type[Member] = Member
) -> AsyncIterator[Stage]:
    """One publisher who keeps so many messages in flight, and many who hear them."""
    gauge = Gauge()
    door = Door(server, gauge)
    [(circle, players, watch)] = await door.circles(1)
    follow = watch.replace("/ws?watch=", "/api/chat/ws/") if kind is StreamMember else watch
    members = [kind(follow, server.port, circle) for _ in range(subscribers)]
    publisher = Peer(players[0] if door.is_arena else f"{watch}?mute=1", server.port)
    await publisher.open(server.port)
    kib = await door.open(members)
    open_ = True

    def top_up(_: Member | None) -> None:
        while open_ and len(circle.sent_at) - circle.low < window:
            circle.publish(publisher)

    circle.heard = top_up
    top_up(None)
    try:
        yield Stage(gauge, watch, kib)
    finally:
        open_ = False
        await door.close([circle])
        publisher.transport.abort()


async def rooms(server: Server, seconds: float, many: int, spectators: int) -> Row:
    """Many sessions of two players who answer each other, with some spectators each."""
    gauge = Gauge()
    door = Door(server, gauge)
    circles = []
    open_ = True

    def answer(member: Member) -> None:
        """The players of a room speak in turn."""
        circle = member.circle
        said = len(circle.sent_at)
        if open_ and member is circle.members[said % 2] and member.next == said:
            circle.publish(member)

    for circle, players, watch in await door.circles(many):
        for path in players:
            Member(path, server.port, circle, speaks=True)
        for _ in range(spectators):
            Member(watch, server.port, circle)
        circle.heard = answer
        circles.append(circle)
    members = [member for circle in circles for member in circle.members]
    kib = await door.open(members)
    for circle in circles:
        circle.publish(circle.members[0])
    reading = await gauge.run(server, seconds)
    open_ = False
    await door.close(circles)
    what = f"{many} sessions of 2 players and {spectators} spectators, 1 in flight each, {SIZE} bytes"
    return gauge.row("rooms", server.name, what, "deliveries", reading, len(members), kib)
