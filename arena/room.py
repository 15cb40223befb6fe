"""Room: one session as this worker's listeners follow it. No I/O in here; the hub brings news and pages.

Per channel a subscription is either live, when its cursor is the log's own head and it gets the shared bytes, or
behind, when it is served from the log page by page. There is no third state.
"""

from collections.abc import Callable, Iterable, Sequence
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
    push: Callable[[bytes], None]  # send as soon as the socket takes it; never waits

    @property
    def has_room(self) -> bool:
        """Whether it keeps up; if not it is to be served from the log."""

    def lag(self) -> None:
        """Something for this connection waits in the log."""

    def removed(self, session: SessionId) -> None:
        """A session it listened to is gone."""


class Subscription:
    """One connection's place in a room."""

    __slots__ = ("begun", "behind", "given", "listener", "room", "state_stale", "told_end", "viewer")

    def __init__(
        self, listener: Listener, room: "Room", viewer: Invite | None, cursors: Sequence[Position | None]
    ) -> None:
        self.listener = listener
        self.room = room
        self.viewer = viewer  # the seat's invite, or None for a spectator
        self.given = tuple(cursor is not None for cursor in cursors)  # channels that the client had a cursor for
        self.behind: list[Position | None] = [cursor or START for cursor in cursors]  # None is live
        self.begun = [False, False]  # channels whose `initial` was sent
        self.told_end = False
        self.state_stale = True

    @property
    def lags(self) -> bool:
        """Whether there is anything to bring it besides new messages."""
        return self.state_stale or self.behind != LIVE or self.owes_end

    @property
    def owes_end(self) -> bool:
        """Whether it has come to the end of the game and was not told."""
        room = self.room
        if self.told_end or room.end is None or room.end_push is None:
            return False
        return all(
            begun and (behind or log.head).next > last
            for begun, behind, log, last in zip(self.begun, self.behind, room.logs, room.end, strict=True)
        )


LIVE = [None, None]
Group = tuple[Codec, Invite | None]  # those who get the same bytes


class Log:
    """The head of a channel's log, as far as the feed has told, and those who are live on it."""

    def __init__(self, number: int, channel: Channel) -> None:
        self.number = number
        self.channel = channel
        self.head = START
        self.live: dict[Group, set[Subscription]] = {}
        self.fresh: list[Line] = []  # told in this turn of the event loop, and not passed on yet
        self.ahead: set[Subscription] = set()  # those who have read further than the feed has told

    def enter(self, subscription: Subscription) -> None:
        """Live from here on."""
        subscription.behind[self.number] = None
        group = (subscription.listener.codec, subscription.viewer)
        self.live.setdefault(group, set()).add(subscription)

    def leave(self, subscription: Subscription) -> None:
        """Not live any more."""
        group = (subscription.listener.codec, subscription.viewer)
        members = self.live.get(group)
        if members is not None:
            members.discard(subscription)
            if not members:
                del self.live[group]

    def flush(self) -> None:
        """Give what is fresh to whoever is live: joined once per group, and the same bytes for all in it."""
        lines, self.fresh = self.fresh, []
        if not lines:
            return
        public = all(not line.to for line in lines)
        shared: dict[Codec, bytes] = {}
        full: list[Subscription] = []
        for (codec, viewer), members in self.live.items():
            if not codec.framed:
                full += _hand_out(lines, codec, viewer, members)
                continue
            data = shared.get(codec) if public else None
            if data is None:
                data = b"".join([line.seen_by(viewer).encoded(codec) for line in lines])
                shared[codec] = data
            for subscription in members:
                subscription.listener.push(data)
        for subscription in full:
            subscription.room.demote(subscription)


def _hand_out(
    lines: Sequence[Line], codec: Codec, viewer: Invite | None, members: Iterable[Subscription]
) -> list[Subscription]:
    """Give messages that cannot be joined one by one; returns those whose queue is full with them."""
    pushes = [line.seen_by(viewer).encoded(codec) for line in lines]
    for subscription in members:
        for data in pushes:
            subscription.listener.push(data)
    return [subscription for subscription in members if not subscription.listener.has_room]


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

    def __init__(self, session: SessionId, later: Callable[[Callable[[], None]], object]) -> None:
        self.session = session
        self.logs = (Log(0, operator_channel(session)), Log(1, player_channel(session)))
        self.subscriptions: set[Subscription] = set()
        self.tag = ""  # of the newest version of the session that was announced
        self.end: tuple[int, int] | None = None  # lengths of the logs when the game ended
        self.end_push: Push | None = None
        self.state_frame: dict[str, Any] | None = None
        self.state_push: Push | None = None
        self.peers: dict[str, Presence] = {}  # other workers by id
        self.published: Presence | None = None
        self._later = later

    def advance(self, log: Log, before: Position, entries: Sequence[Entry]) -> bool:
        """Take in new messages, for whoever is live at the end of this turn; False if they do not fit what we know."""
        if before != log.head:
            return False
        if not entries:
            return True
        if not log.fresh:
            self._later(log.flush)
        log.fresh += [Line(entry, index) for index, entry in enumerate(entries, before.next)]
        log.head = Position(before.next + len(entries), entries[-1].tag)
        if log.ahead:
            self._catch_up_with(log)
        return True

    def _catch_up_with(self, log: Log) -> None:
        """The feed comes to where some have read already: they are live if it is the very place."""
        log.flush()
        for subscription in list(log.ahead):
            position = subscription.behind[log.number]
            if position == log.head:
                log.enter(subscription)
            if position is None or position.next <= log.head.next:
                log.ahead.discard(subscription)
                subscription.listener.lag()

    def settle(self, subscription: Subscription, log: Log, position: Position) -> bool:
        """A page was sent up to here: live if that is the head, else still behind."""
        log.flush()
        if position == log.head:
            log.enter(subscription)
            return True
        subscription.behind[log.number] = position
        if position.next > log.head.next:
            log.ahead.add(subscription)
        return False

    def correct(self, log: Log, head: Position) -> None:
        """The log stands elsewhere than the feed said: whoever was live is served from the log."""
        if head == log.head:
            return
        log.flush()
        for subscription in [each for members in log.live.values() for each in members]:
            self._demote(subscription, log)
        log.head = head
        if log.ahead:
            self._catch_up_with(log)

    def demote(self, subscription: Subscription) -> None:
        """A connection does not keep up: serve it from the log, once its socket has drained."""
        for log in self.logs:
            if subscription.behind[log.number] is None:
                log.flush()
                self._demote(subscription, log)

    def _demote(self, subscription: Subscription, log: Log) -> None:
        log.leave(subscription)
        subscription.behind[log.number] = log.head
        subscription.listener.lag()

    def remove(self, subscription: Subscription) -> None:
        """A connection does not follow any more."""
        self.subscriptions.discard(subscription)
        for log in self.logs:
            log.leave(subscription)
            log.ahead.discard(subscription)

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
