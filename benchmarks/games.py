"""Games: whole sessions of private set intersection, from `create` to `game_ended` at both seats."""

import asyncio
import time
from typing import Any

from benchmarks.gauge import Gauge, Row
from benchmarks.guest import Guest
from benchmarks.peer import PATIENCE
from benchmarks.servers import Server

LASTING = 20  # games that a pair of connections plays; agents come and go, but not for each game
FRAMES = 5  # create, two joins, two guesses


class Table:
    """Two connections that play one game after the other."""

    def __init__(self, number: int, server: Server, gauge: Gauge) -> None:
        self.users = (f"ada-{number}", f"ben-{number}")
        self.port = server.port
        self.gauge = gauge
        self.open = True

    async def play(self) -> None:
        """Play until told to stop."""
        while self.open:
            pair = Guest(self.port), Guest(self.port)
            for seat in pair:
                await seat.open(self.port)
            played = set[str]()
            while self.open and len(played) < LASTING:
                begun = time.perf_counter()
                played.add(await self.game(*pair))
                self.gauge.done += 1
                if self.gauge.measuring:
                    self.gauge.times.append(time.perf_counter() - begun)
            for seat in pair:
                self.check(seat, played)
                seat.transport.abort()

    async def game(self, ada: Guest, ben: Guest) -> str:
        """One game; returns its session."""
        session = await ada.ask("create", challengeType="psi")
        for seat, invite, user in zip((ada, ben), session["invites"], self.users, strict=True):
            await seat.ask("join", invite=invite, userId=user)
        ends = [seat.end_of(session["id"]) for seat in (ada, ben)]
        for seat in (ada, ben):
            await seat.ask("message", challengeId=session["id"], messageType="guess", content="1")
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*ends)
        return str(session["id"])

    def check(self, seat: Guest, played: set[str]) -> None:
        """Each end was told once, and the messages of each channel came once and in order."""
        ended = [frame["challengeId"] for frame in seat.told if frame["type"] == "game_ended"]
        if sorted(ended) != sorted(played):
            self.gauge.fault(f"{len(played)} games, {len(ended)} ends")
        indexes: dict[str, list[int]] = {}
        for frame in seat.told:
            for message in messages_in(frame):
                indexes.setdefault(message["channel"], []).append(message["index"])
        if any(found != list(range(1, len(found) + 1)) for found in indexes.values()):
            self.gauge.fault("messages of a game are missing, doubled or out of order")


def messages_in(frame: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages that a frame brings."""
    if frame["type"] == "new_message":
        return [frame["message"]]
    return list(frame["messages"]) if frame["type"] == "initial" else []


async def games(server: Server, seconds: float, tables: int) -> Row:
    """So many games at a time."""
    gauge = Gauge()
    playing = [Table(number, server, gauge) for number in range(tables)]
    before = server.usage.rss
    async with asyncio.TaskGroup() as group:
        for table in playing:
            group.create_task(table.play(), name="table")
        reading = await gauge.run(server, seconds)
        kib = (server.usage.rss - before) / 1024 / (2 * tables)
        for table in playing:
            table.open = False
    what = f"{tables} at a time, {FRAMES} frames each, {LASTING} per connection"
    return gauge.row("games", server.name, what, "games", reading, 2 * tables, kib)
