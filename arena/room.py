"""Room: one session as this worker's listeners follow it. No I/O in here; the hub brings news and pages.

Per channel a subscription is either live, when its cursor is the log's own head and it gets the shared bytes, or
behind, when it is served from the log page by page. There is no third state.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from arena.chat import NO_TAG, Entry, operator_channel, player_channel
from arena.models import Channel, Invite, SessionId
from arena.wire import Codec, Line, Push


class Position(NamedTuple):
    """A place in a log: the next index, and the tag of the message before it."""

    next: int
    epoch: str


START = Position(1, NO_TAG)


class Listener(Protocol):
    """A connection, as far as the hub needs to know it."""

    codec: Codec

    def push(self, data: bytes) -> None:
        """Send bytes as soon as the socket takes them; never waits."""

    @property
    def has_room(self) -> bool:
        """Whether it keeps up; if not it is to be served from the log."""

    def lag(self) -> None:
        """Something for this connection waits in the log."""

    def removed(self, session: SessionId) -> None:
        """A session it listened to is gone."""


@dataclass(eq=False)
class Subscription:
    """One connection's place in a room."""

    listener: Listener
    room: "Room"
    viewer: Invite | None  # the seat's invite, or None for a spectator
    behind: dict[Channel, Position]  # channels that are not live, and where they stand
    given: set[Channel]  # channels for which the client brought a cursor
    begun: set[Channel] = field(default_factory=set)  # channels whose `initial` was sent
    told_end: bool = False
    state_stale: bool = True

    def position(self, log: "Log") -> Position:
        """How far this subscription has come in a log."""
        return self.behind.get(log.channel, log.head)

    @property
    def lags(self) -> bool:
        """Whether there is anything to bring it besides new messages."""
        return bool(self.behind) or self.state_stale or self.owes_end

    @property
    def owes_end(self) -> bool:
        """Whether it has come to the end of the game and was not told."""
        room = self.room
        if self.told_end or room.end is None or room.end_push is None:
            return False
        return all(
            log.channel in self.begun and self.position(log).next > last
            for log, last in zip(room.logs, room.end, strict=True)
        )


@dataclass(eq=False)
class Log:
    """The head of a channel's log, as far as the feed has told."""

    channel: Channel
    head: Position = START


class Presence(NamedTuple):
    """Who is connected: seats by invite, spectators by number."""

    seats: frozenset[Invite]
    spectators: int
    until: float = 0  # when news of another worker are too old


def sum_up(presences: Iterable[Presence]) -> Presence:
    """All of them together."""
    known = list(presences)
    seats = frozenset[Invite]().union(*(p.seats for p in known))
    return Presence(seats, sum(p.spectators for p in known))


class Room:
    """A session with its listeners on this worker."""

    def __init__(self, session: SessionId) -> None:
        self.session = session
        self.logs = (Log(operator_channel(session)), Log(player_channel(session)))
        self.subscriptions: set[Subscription] = set()
        self.tag = ""  # of the newest version of the session that was announced
        self.end: tuple[int, int] | None = None  # lengths of the logs when the game ended
        self.end_push: Push | None = None
        self.state_frame: dict[str, Any] | None = None
        self.state_push: Push | None = None
        self.peers: dict[str, Presence] = {}  # other workers by id
        self.published: Presence | None = None

    def log(self, channel: Channel) -> Log:
        """The log of one of the two channels."""
        return self.logs[0] if channel == self.logs[0].channel else self.logs[1]

    def advance(self, log: Log, before: Position, entries: Sequence[Entry]) -> bool:
        """Take in new messages and give them to whoever is live; False if they do not fit what we know."""
        if before != log.head:
            return False
        lines = [Line(entry, index) for index, entry in enumerate(entries, before.next)]
        if not lines:
            return True
        head = Position(before.next + len(lines), lines[-1].epoch)
        for subscription in self.subscriptions:
            if log.channel in subscription.behind:
                if subscription.behind[log.channel] == head and log.channel in subscription.begun:
                    del subscription.behind[log.channel]
                subscription.listener.lag()
            elif not subscription.listener.has_room:
                subscription.behind[log.channel] = before
                subscription.listener.lag()
            else:
                deliver(subscription, lines)
        log.head = head
        return True

    def correct(self, log: Log, head: Position) -> None:
        """The log stands elsewhere than the feed said: whoever was live is served from the log."""
        if head == log.head:
            return
        for subscription in self.subscriptions:
            subscription.behind.setdefault(log.channel, log.head)
            subscription.listener.lag()
        log.head = head

    def settle(self, subscription: Subscription, log: Log, position: Position) -> bool:
        """A page was sent up to here: live if that is the head, else still behind."""
        if position == log.head:
            subscription.behind.pop(log.channel, None)
            return True
        subscription.behind[log.channel] = position
        return False

    @property
    def presence(self) -> Presence:
        """Who is here on this worker."""
        seats = {s.viewer for s in self.subscriptions if s.viewer is not None}
        return Presence(frozenset(seats), sum(s.viewer is None for s in self.subscriptions))

    def meet(self, worker: str, presence: Presence) -> bool:
        """Take note of who is at another worker; says whether that is news."""
        known = self.peers.pop(worker, Presence(frozenset(), 0))
        if presence.seats or presence.spectators:
            self.peers[worker] = presence
        return known[:2] != presence[:2]

    def everybody(self, now: float) -> Presence:
        """Who is here on all workers that have been heard of lately."""
        self.peers = {worker: seen for worker, seen in self.peers.items() if seen.until > now}
        return sum_up([self.presence, *self.peers.values()])


def deliver(subscription: Subscription, lines: Iterable[Line]) -> None:
    """Give a live subscription new messages, each in the view that is its own."""
    listener = subscription.listener
    for line in lines:
        listener.push(line.seen_by(subscription.viewer).encoded(listener.codec))
