"""Random games while the server is killed again and again, and a model that knows what must have come of them.

Every action has a key and is sent until it is answered. Whoever loses its connection comes back with its cursors.
"""

import asyncio
import itertools
import json
import os
import re
import signal
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from statistics import fmean
from typing import Any

import pytest
from websockets.exceptions import WebSocketException

from arena import catalog
from arena.client import Client, Frame, client
from arena.errors import Refused
from arena.models import GameResult, SessionId, Status
from arena.runtime import Arena, open_arena
from arena.settings import Settings
from arena.store import index
from arena.wire import JSON, MSGPACK
from tests.servers import Process
from tests.watching import stored

LOST = (OSError, EOFError, TimeoutError, WebSocketException)
NOT_NOW = {"STORE_UNAVAILABLE", "RATE_LIMITED"}
USERS = ("ada", "ben", "cyd", "dan", "eve")
TABLES = 4


@dataclass
class Answered:
    """An action of a player and what the server said to it."""

    kind: str
    content: str
    code: str | None = None  # of a refusal
    index: int | None = None  # of a chat


@dataclass
class Memory:
    """What one viewer of a session has seen, over all its connections; complains about anything twice or missing."""

    seen: defaultdict[str, list[Frame]] = field(default_factory=lambda: defaultdict(list))
    cursors: dict[str, Frame] = field(default_factory=dict)
    end: Frame | None = None
    ends: int = 0  # told on the present connection
    begun: asyncio.Event = field(default_factory=asyncio.Event)  # there is something to remember

    def take(self, frame: Frame) -> None:
        """One frame that nobody asked for."""
        match frame["type"]:
            case "initial":
                channel = frame["channel"]
                assert frame["recovered"] == (channel in self.cursors), f"history lost, or so we were told: {frame}"
                for message in frame["messages"]:
                    self._append(message)
                assert frame["next"] == len(self.seen[channel]) + 1
                self.cursors[channel] = {"index": frame["next"], "epoch": frame["epoch"]}
            case "new_message":
                message = frame["message"]
                self._append(message)
                self.cursors[message["channel"]] = {"index": message["index"] + 1, "epoch": frame["epoch"]}
            case "game_ended":
                self.ends += 1
                assert self.ends == 1, "told twice that the game is over"
                assert self.end in (None, frame["data"])
                self.end = frame["data"]

    def _append(self, message: Frame) -> None:
        seen = self.seen[message["channel"]]
        assert message["index"] == len(seen) + 1, f"expected {len(seen) + 1}, got {message}"
        seen.append(message)
        self.begun.set()


class Viewer:
    """A spectator: follows a session until its end, whatever becomes of its connections."""

    def __init__(self, session: str, rng: Random) -> None:
        self.session = session
        self.rng = rng
        self.memory = Memory()

    async def enter(self, guest: Client) -> None:
        """Begin, or go on where we were."""
        await guest.call("watch", challengeId=self.session, cursors=self.memory.cursors or None)

    async def work(self, guest: Client) -> None:
        """Nothing to do but look."""

    async def run(self, address: Callable[[], str]) -> None:
        """Stay until the game is over and all is seen and done."""
        while True:
            with suppress(*LOST):
                async with client(address(), self.rng.choice((JSON, MSGPACK))) as guest:
                    await self._stay(guest)
                    return
            await asyncio.sleep(0.02)

    async def _stay(self, guest: Client) -> None:
        """Look and act, until both are done or one of them fails."""
        self.memory.ends = 0
        tasks = [asyncio.create_task(work(guest), name="viewer") for work in (self._read, self._act)]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        failures = [end for end in ends if isinstance(end, Exception)]
        for failure in sorted(failures, key=lambda failure: isinstance(failure, LOST)):
            raise failure  # what is wrong comes before what is only lost

    async def _act(self, guest: Client) -> None:
        await self._try(lambda: self.enter(guest))
        await self.work(guest)

    async def _read(self, guest: Client) -> None:
        while self.memory.ends == 0:
            self.memory.take(await guest.hear())

    async def _try(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """Call until there is an answer that is one."""
        while True:
            try:
                return await call()
            except Refused as refusal:
                if refusal.code not in NOT_NOW:
                    raise
            await asyncio.sleep(0.02)


class Player(Viewer):
    """Takes a seat, talks a while, guesses once, and perhaps tries what is not allowed."""

    numbers = itertools.count(1)

    def __init__(self, session: str, rng: Random, invites: list[str], seat: int, user: str) -> None:
        super().__init__(session, rng)
        self.me, self.rival, self.user = invites[seat], invites[1 - seat], user
        self.key: str | None = None
        self.plans = [("chat", f"line {next(self.numbers)}") for _ in range(rng.randrange(12))]
        if rng.random() < 0.3:
            self.plans.insert(rng.randrange(len(self.plans) + 1), ("message", f"no numeral {'x' * next(self.numbers)}"))
        self.plans.append(("message", ""))  # the guess, drawn when we know our numbers
        self.answers: list[Answered] = []

    async def enter(self, guest: Client) -> None:
        """Take the seat, under a key as all that we do, or come back to it."""
        if self.key is None:
            joined = await guest.call("join", invite=self.me, userId=self.user, key="join")
            self.key = joined["sessionKey"]
            return
        cursors = self.memory.cursors or None
        again = await guest.call("resume", challengeId=self.session, sessionKey=self.key, cursors=cursors)
        assert again["sessionKey"] == self.key

    async def work(self, guest: Client) -> None:
        """Carry out the plans one after the other; the first one may have been carried out before."""
        while self.plans:
            kind, content = self.plans[0]
            if kind == "message" and not content:
                content = await self._guess()
                self.plans[0] = (kind, content)
            self.answers.append(await self._try(lambda: self._do(guest, kind, content)))  # noqa: B023
            self.plans.pop(0)
            await asyncio.sleep(self.rng.random() * 0.05)

    async def _guess(self) -> str:
        await self.memory.begun.wait()
        mine = next(
            m
            for m in self.memory.seen[f"challenge_{self.session}"]
            if m.get("to") == self.me and "private set" in m["content"]
        )
        numbers = re.findall("[0-9]+", mine["content"])
        return " ".join(self.rng.sample(numbers, self.rng.randint(1, 5)))

    async def _do(self, guest: Client, kind: str, content: str) -> Answered:
        key = f"{kind} {len(self.answers)}"
        if kind == "chat":
            to = self.rival if len(content) % 2 else None
            said = await guest.call("chat", channel=self.session, content=content, to=to, key=key)
            return Answered(kind, content, index=said["index"])
        try:
            fields = {"challengeId": self.session, "messageType": "guess", "content": content, "key": key}
            await guest.call("message", **fields)
        except Refused as refusal:
            if refusal.code in NOT_NOW | {"GAME_NOT_RUNNING"}:
                await asyncio.sleep(0.02)
                raise Refused("RATE_LIMITED", "the other seat is still free") from None
            return Answered(kind, content, code=refusal.code)
        return Answered(kind, content)


@dataclass
class Table:
    """One game, with those who played and those who watched."""

    session: str
    players: list[Player]
    viewers: list[Viewer]

    @property
    def end(self) -> Frame:
        """What everybody was told at the end."""
        ends = [viewer.memory.end for viewer in [*self.players, *self.viewers]]
        assert ends.count(ends[0]) == len(ends)
        assert ends[0] is not None
        return ends[0]


class Chaos:
    """Games on a server that is killed."""

    def __init__(self, process: Process, seed: int, kills: int) -> None:
        self.process = process
        self.rng = Random(seed)
        self.kills = kills
        self.done = False
        self.tables: list[Table] = []

    async def run(self) -> None:
        """Play and kill until there were enough kills, then let all games come to their end."""
        async with asyncio.TaskGroup() as group:
            for number in range(TABLES):
                group.create_task(self._play_on(Random(self.rng.random())), name=f"table {number}")
            group.create_task(self._kill_on(), name="killer")

    async def _kill_on(self) -> None:
        for _ in range(self.kills):
            await self._let_happen(self.rng.randrange(1, 30))
            await asyncio.sleep(self.rng.random() * 0.02)
            await self._kill_one()
        self.done = True

    async def _let_happen(self, actions: int) -> None:
        """Wait until so many more actions were answered."""
        enough = self._answered() + actions
        async with asyncio.timeout(60):
            while True:
                if self._answered() >= enough:
                    return
                await asyncio.sleep(0.005)

    def _answered(self) -> int:
        return sum(len(player.answers) for table in self.tables for player in table.players)

    async def _kill_one(self) -> None:
        """Kill a worker, all of them, or the process that was started; the last one is started again."""
        workers = self.process.worker_pids() if self.process.workers > 1 else []
        aim = self.rng.choice(["worker", "workers", "owner"]) if len(workers) == self.process.workers else "owner"
        if aim == "owner":
            self.process.kill()
            await asyncio.to_thread(self.process.start)
            return
        for pid in workers if aim == "workers" else [self.rng.choice(workers)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    async def _play_on(self, rng: Random) -> None:
        while not self.done:
            await self._play(rng)

    async def _play(self, rng: Random) -> None:
        made = await self._create()
        session, invites = made["id"], made["invites"]
        users = [*rng.sample(USERS, 2)] if rng.random() < 0.9 else [USERS[0]] * 2  # self-play counts for nobody
        players = [Player(session, Random(rng.random()), invites, seat, users[seat]) for seat in (0, 1)]
        viewers = [Viewer(session, Random(rng.random())) for _ in range(2)]
        self.tables.append(Table(session, players, viewers))
        async with asyncio.TaskGroup() as group:
            for viewer in [*players, *viewers]:
                group.create_task(viewer.run(lambda: self.process.ws), name=type(viewer).__name__)

    async def _create(self) -> Frame:
        while True:
            with suppress(*LOST, Refused):
                async with client(self.process.ws) as guest:
                    return await guest.call("create", challengeType="psi")
            await asyncio.sleep(0.02)

    # What must have come of it

    async def check(self) -> None:
        """Compare the store with what everybody was told."""
        record = json.loads((self.process.data / "store.json").read_text())
        async with open_arena(Settings(), catalog.load(), f"unix://{record['socket']}") as arena:
            arena.outbox.stale = 0
            await arena.outbox.sweep(range(64))  # what the killed left untold, without the wait
            for table in self.tables:
                await check_table(arena, table)
            await check_boards(arena, self.tables)
            listed = await arena.index.page(index.name("psi", None), 0, 10_000)
            assert {table.session for table in self.tables} <= set(listed.ids)
            ended = await arena.index.page(index.name("psi", Status.ENDED), 0, 10_000)
            assert set(ended.ids) == {table.session for table in self.tables}


async def check_table(arena: Arena, table: Table) -> None:
    """What was answered is in the logs, once and in order, and everybody has seen the same."""
    operator, talk = await stored(arena, table.session)
    for player in table.players:
        check_answers(player, operator, talk)
    lines = sum(len([a for a in player.answers if a.kind == "chat"]) for player in table.players)
    assert len(talk) == lines
    assert sum(m["from"] != "operator" for m in operator) == sum(len(p.answers) for p in table.players) - lines
    for viewer in [*table.players, *table.viewers]:
        check_view(viewer, f"challenge_{table.session}", operator)
        check_view(viewer, table.session, talk)
    assert table.end["status"] == "ended"
    session = await arena.engine.get(table.session)
    assert [score.wire() for score in session.standing.scores] == table.end["scores"]


def check_answers(player: Player, operator: list[Frame], talk: list[Frame]) -> None:
    """Every answered action is in its log once, and in the order of the answers."""
    said = [a for a in player.answers if a.kind == "chat"]
    mine = [m for m in talk if m["from"] == player.me]
    assert [m["content"] for m in mine] == [a.content for a in said]
    assert [m["index"] for m in mine] == [a.index for a in said]
    moves = [a for a in player.answers if a.kind == "message"]
    made = [m["content"] for m in operator if m["from"] == player.me]
    assert made == [f"(guess) {a.content}" for a in moves]
    assert [a.code for a in moves] == [None if re.search("[0-9]", a.content) else "INVALID_GUESS" for a in moves]


def check_view(viewer: Viewer, channel: str, log: list[Frame]) -> None:
    """A viewer has seen the log as it is, redacted or not; it leaves at the end, and may miss later talk."""
    seen = viewer.memory.seen[channel]
    if channel.startswith("challenge_"):
        assert len(seen) == len(log)
    for message, entry in zip(seen, log, strict=False):
        same = ["index", "from", "channel", "timestamp"] + ([] if message.get("redacted") else ["content"])
        assert {name: message[name] for name in same} == {name: entry[name] for name in same}
        assert message.get("to") == entry.get("to")


async def check_boards(arena: Arena, tables: list[Table]) -> None:
    """Every game was counted once; the numbers are those of a model, and of a recount."""
    results = await arena.boards.results("psi", 0, 10_000)
    assert sorted(result.game_id for result in results) == sorted(SessionId(table.session) for table in tables)
    by_game = {table.session: table for table in tables}
    for result in results:
        assert [score.wire() for score in result.scores] == by_game[result.game_id].end["scores"]
    expected = averages(results)
    assert await board(arena, "psi", "average") == expected
    overall = {user: {k.replace("average", "global-average"): v for k, v in m.items()} for user, m in expected.items()}
    assert await board(arena, None, "global-average") == overall
    await arena.scorer.recompute("psi", arena.catalog.strategies["average"])
    assert await board(arena, "psi", "average") == expected
    assert await board(arena, None, "global-average") == overall


def averages(results: list[GameResult]) -> dict[str, dict[str, Any]]:
    """The board that these games must give."""
    scores = defaultdict(list)
    for result in results:
        if result.counts:
            for seat, score in enumerate(result.scores):
                scores[result.user(seat)].append(score)
    return {
        str(user): {
            "games": len(mine),
            "average:security": pytest.approx(fmean(score.security for score in mine)),
            "average:utility": pytest.approx(fmean(score.utility for score in mine)),
        }
        for user, mine in scores.items()
    }


async def board(arena: Arena, type: str | None, strategy: str) -> dict[str, dict[str, Any]]:
    """A board as plain numbers."""
    _, _, entries = await arena.scorer.board(type, strategy)
    return {entry.player_id: {"games": entry.games_played, **entry.metrics} for entry in entries}
