"""Actions and chat: every seat has one request in flight, and the next follows the reply."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable

import orjson

from benchmarks.circle import SIZE
from benchmarks.gauge import Gauge, Row
from benchmarks.guest import create
from benchmarks.peer import Peer, open_all, wait_until
from benchmarks.servers import Server

DRAIN = 20.0  # seconds that the last answers may take
TOLD = {
    "actions": 2,
    "chat": 1,
}  # messages that both players hear of each: the move and the referee's word, or the talk
INITIAL = b'{"type":"initial"'
NEWS = b'{"type":"new_message"'
ERROR = b'{"type":"error"'

Ask = Callable[[int], bytes]  # the request of that number


class Caller(Peer):
    """Sends a request whenever the last one is answered."""

    def __init__(self, path: str, port: int, gauge: Gauge, ask: Ask) -> None:
        super().__init__(path, port)
        self.hear = self._hear
        self.gauge = gauge
        self.answered = 0
        self.begun = 0  # channels whose beginning has come
        self.indexes: defaultdict[str, int] = defaultdict(int)
        self.asking = False
        self.waits = False
        self._ask = ask
        self._asked_at = 0.0

    def go(self) -> None:
        """Send the next request."""
        self._answer = self.expect(self.answered)
        self._asked_at = time.perf_counter()
        self.waits = True
        self.send(self._ask(self.answered))

    def expect(self, number: int) -> bytes:
        """How the answer to a request begins."""
        return b'{"type":"reply","id":%d,' % number

    def _hear(self, payload: bytes) -> None:
        if payload.startswith(NEWS):
            self._check(payload)
        elif self.waits and payload.startswith(self._answer):
            self.waits = False
            self.answered += 1
            self.gauge.done += 1
            if self.gauge.measuring:
                self.gauge.times.append(time.perf_counter() - self._asked_at)
            if self.asking:
                self.go()
        elif payload.startswith(INITIAL):
            self.begun += 1
        elif payload.startswith(ERROR) or b'"id":' in payload[:24]:
            self.gauge.fault(f"heard {payload[:80]!r}")

    def _check(self, payload: bytes) -> None:
        """Messages come exactly once and in order if their indexes do."""
        message = orjson.loads(payload)["message"]
        channel, index = message["channel"], message["index"]
        self.indexes[channel] += 1
        if index != self.indexes[channel]:
            self.gauge.fault(f"index {index} when {self.indexes[channel]} was due")

    @property
    def heard(self) -> int:
        """Messages of all channels."""
        return sum(self.indexes.values())


class EchoCaller(Caller):
    """The same, of a server that sends back what it gets."""

    def expect(self, number: int) -> bytes:
        """The very request."""
        return self._ask(number)


def act(session: str) -> Ask:
    """A move in a game of tally."""
    return _numbered({"type": "message", "id": 0, "challengeId": session, "messageType": "add", "content": "1"})


def talk(session: str) -> Ask:
    """A message to the other player."""
    return _numbered({"type": "chat", "id": 0, "channel": session, "content": "." * SIZE})


def _numbered(frame: dict[str, object]) -> Ask:
    before, _, after = orjson.dumps(frame).partition(b'"id":0,')
    return lambda number: b'%b"id":%d,%b' % (before, number, after)


async def calls(server: Server, seconds: float, mode: str, sessions: int, each: int = 1) -> Row:
    """So many sessions, two seats each; `each` requests count as one."""
    gauge = Gauge()
    kind = talk if mode == "chat" else act
    if server.name == "arena":
        made = await create(server.port, sessions)
        seats = [
            [Caller(f"/ws?invite={invite}", server.port, gauge, kind(one["id"])) for invite in one["invites"]]
            for one in made
        ]
    else:
        seats = [[EchoCaller("/echo", server.port, gauge, kind(f"{n:032d}")) for _ in (0, 1)] for n in range(sessions)]
    callers = [caller for pair in seats for caller in pair]
    before = server.usage.rss
    await open_all(list(callers), server.port)
    if server.name == "arena" and not await wait_until(lambda: all(c.begun >= 2 for c in callers), DRAIN):
        raise RuntimeError("some players were not greeted")
    kib = (server.usage.rss - before) / 1024 / len(callers)
    for caller in callers:
        caller.asking = True
        caller.go()
    reading = await gauge.run(server, seconds, each)
    told = 0 if server.name != "arena" else TOLD[mode]
    await _finish(callers, seats, gauge, told)
    what = f"{sessions} sessions of 2 seats, 1 in flight each"
    if each > 1:
        what = f"{each} echoes, {2 * sessions} connections"
    unit = mode if mode != "chat" else "messages"
    return gauge.row(mode, server.name, what, unit, reading, len(callers), kib)


async def _finish(callers: list[Caller], seats: list[list[Caller]], gauge: Gauge, told: int) -> None:
    """Every request was answered once, and both players have heard of every one, so many messages each."""
    for caller in callers:
        caller.asking = False
    if not await wait_until(lambda: not any(caller.waits for caller in callers), DRAIN):
        gauge.fault("some requests were never answered")
    await asyncio.sleep(0.5)
    for pair in seats:
        answered = sum(caller.answered for caller in pair)
        if any(caller.heard != answered * told for caller in pair):
            gauge.fault(f"{answered} answers, but the players heard {[caller.heard for caller in pair]} messages")
    for caller in callers:
        if caller.lost:
            gauge.fault("a connection was lost")
        caller.transport.abort()
