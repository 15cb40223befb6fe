"""Circle: those who are to hear the same messages in the same order, and proof that they do.

Whoever is first to hear a message is its witness: there it is compared with what was sent, and gets its number. All
others must hear the very same bytes under the next number of their own. Members mostly get the same bytes at once, so
what a chunk holds is looked up before it is read.
"""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import orjson

from benchmarks.gauge import Gauge
from benchmarks.peer import TEXT, Peer

SIZE = 200  # bytes of a message
MOST_CHUNKS = 256
EACH_TIMED = 10  # one member in so many is timed: a clock for each delivery would cost more than the delivery


class Heard(NamedTuple):
    """A message as a server passed it on: its index in the log if there is one, and the text."""

    place: int | None
    text: bytes


Reader = Callable[[bytes], Heard | None]  # None for frames that are no message of the circle


def text_of(number: int) -> bytes:
    """The message of that number."""
    return b"%012d" % number + b"." * (SIZE - 12)


def read_plain(payload: bytes) -> Heard | None:
    """A message that a baseline relayed."""
    return Heard(None, payload)


def read_arena(payload: bytes) -> Heard | None:
    """A new message of a session."""
    if not payload.startswith(b'{"type":"new_message"'):
        return None
    message = orjson.loads(payload)["message"]
    return Heard(message["index"], message["content"].encode())


class Circle:
    """The messages of one room, and how far its members are."""

    def __init__(self, gauge: Gauge, read: Reader, wrap: Callable[[bytes], bytes]) -> None:
        self.gauge = gauge
        self.members: list[Member] = []
        self.sent_at: list[float] = []
        self.low = 0  # all members have heard the messages below
        self.heard: Callable[[Member], None] = lambda _: None
        self._read = read
        self._wrap = wrap
        self._numbers: dict[bytes, int] = {}
        self._chunks: dict[bytes, tuple[int, int]] = {}
        self._at: defaultdict[int, int] = defaultdict(int)  # members by the number they wait for

    def add(self, peer: "Member") -> None:
        """One more member, before the first message."""
        self.members.append(peer)
        self._at[0] += 1

    def publish(self, peer: Peer) -> None:
        """Have a peer say the next message."""
        number = len(self.sent_at)
        self.sent_at.append(time.perf_counter())
        peer.send(self._wrap(text_of(number)))

    @property
    def settled(self) -> bool:
        """Whether everybody has heard everything."""
        return self.low == len(self.sent_at)

    def look_up(self, chunk: bytes) -> tuple[int, int] | None:
        """The first and last message of a chunk that others have had."""
        return self._chunks.get(chunk)

    def remember(self, chunk: bytes, first: int, last: int) -> None:
        """What a chunk holds."""
        if len(self._chunks) >= MOST_CHUNKS:
            self._chunks.clear()
        self._chunks[chunk] = (first, last)

    def number(self, payload: bytes) -> int | None:
        """The number of a message, known by its bytes."""
        known = self._numbers.get(payload)
        if known is not None:
            return known
        heard = self._read(payload)
        if heard is None:
            return None
        number = len(self._numbers)
        if heard.text != text_of(number):
            self.gauge.fault(f"message {number} is not what was sent, or a changed copy of another")
        if heard.place is not None and heard.place != number + 1:
            self.gauge.fault(f"message {number} has index {heard.place}")
        self._numbers[payload] = number
        return number

    def move(self, member: "Member", first: int, last: int) -> None:
        """A member has heard the messages from first to last."""
        if first != member.next:
            self.gauge.fault(f"message {first} came when {member.next} was due")
        self._at[member.next] -= 1
        self._at[last + 1] += 1
        self.gauge.done += last + 1 - first
        member.next = last + 1
        if member.timed and self.gauge.measuring:
            now = time.perf_counter()
            self.gauge.times.extend([now - at for at in self.sent_at[first : last + 1]])
        low = self.low
        while not self._at[self.low] and self.low < len(self.sent_at):
            del self._at[self.low]
            self.low += 1
        if self.low != low or member.speaks:
            self.heard(member)


class Member(Peer):
    """A peer in a circle."""

    def __init__(self, path: str, port: int, circle: Circle, *, speaks: bool = False) -> None:
        super().__init__(path, port)
        self.circle = circle
        self.speaks = speaks
        self.next = 0
        self.others = 0  # frames that were no messages
        self.timed = len(circle.members) % EACH_TIMED == 0
        circle.add(self)

    def take(self, data: bytes) -> None:
        """Messages, one or many at a time."""
        known = self.circle.look_up(data)
        if known is not None:
            self._tail = b""
            self.circle.move(self, *known)
            return
        frames, self._tail = self.walk(data)
        numbers = []
        for first, payload in frames:
            number = self.circle.number(payload) if first == TEXT else None
            if number is None:
                self.others += 1
            else:
                numbers.append(number)
        if not numbers:
            return
        if numbers != list(range(numbers[0], numbers[-1] + 1)):
            self.circle.gauge.fault(f"messages out of order: {numbers[:9]}")
        if len(numbers) == len(frames) and not self._tail:
            self.circle.remember(data, numbers[0], numbers[-1])
        self.circle.move(self, numbers[0], numbers[-1])
