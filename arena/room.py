"""Room: one session as this worker's listeners follow it. No I/O in here; the hub brings news and pages.

A channel that belongs to no session has a room of its own, with that one log and nothing else.
Per channel a subscription is either live, when its cursor is the log's own head and it gets the shared bytes, or
behind, when it is served from the log page by page. There is no third state.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from arena.chat import NO_TAG, Entry
from arena.models import Channel, Invite, SessionId
from arena.session import Session
from arena.store import keys
from arena.wire import Codec, Line, Push


class Position(NamedTuple):
    """A place in a log: the next index, and the tag of the message before it."""

    next: int
    epoch: str


START = Position(1, NO_TAG)


class Listener(Protocol):
    """A connection, as far as the hub needs to know it."""

    codec: Codec
    push: Callable[[bytes], None]  # send as soon as the socket takes it; never waits, and works while it subscribes

    @property
    def has_room(self) -> bool:
        """Whether it keeps up; if not it is to be served from the log."""

    def lag(self) -> None:
        """Something for this connection waits in the log."""

    def removed(self, session: SessionId) -> None:
        """A session it listened to is gone."""


class Subscription:
    """One connection's place in a room: all of it, or one channel alone, with the end of the game but no states."""

    __slots__ = ("begun", "behind", "given", "listener", "logs", "room", "state_stale", "told_end", "viewer", "whole")

    def __init__(
        self,
        listener: Listener,
        room: "Room",
        viewer: Invite | None,
        cursors: Sequence[Position | None],
        only: Channel | None = None,
    ) -> None:
        self.listener = listener
        self.room = room
        self.viewer = viewer  # the seat's invite, or None for a spectator
        self.whole = only is None
        self.logs = tuple(log for log in room.logs if only in {None, log.channel})  # those that it follows
        self.given = tuple(cursor is not None for cursor in cursors)  # channels that the client had a cursor for
        self.behind: list[Position | None] = [
            cursor or START if log in self.logs else None for log, cursor in zip(room.logs, cursors, strict=True)
        ]  # None is live, or not followed
        self.begun = [log not in self.logs for log in room.logs]  # channels whose `initial` was sent, or never will be
        self.told_end = False
        self.state_stale = self.whole

    @property
    def lags(self) -> bool:
        """Whether there is anything to bring it besides new messages."""
        return self.state_stale or any(place is not None for place in self.behind) or self.owes_end

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


JOIN_PAUSE = 1e-6  # seconds per listener; writing to one takes four or five times as long
SHORTEST_PAUSE, LONGEST_PAUSE = 0.001, 0.005  # timers know milliseconds, and nobody shall notice
Group = tuple[Codec, Invite | None]  # those who get the same bytes


class Appointment(Protocol):
    """Something that is to happen later."""

    def cancel(self) -> None:
        """It is not to happen any more."""


Later = Callable[[float, Callable[[], None]], Appointment]  # seconds, and what is done then


class Log:
    """The head of a channel's log, as far as the feed has told, and those who are live on it."""

    def __init__(self, number: int, channel: Channel) -> None:
        self.number = number
        self.channel = channel
        self.head = START
        self.live: dict[Group, dict[Subscription, Callable[[bytes], None]]] = {}  # with the way out of each
        self.joined = 0  # messages that were passed on together the last time
        self.fresh: list[Line] = []  # told, and not passed on yet
        self._due: Appointment | None = None  # when it is passed on
        self.ahead: set[Subscription] = set()  # those who have read further than the feed has told
        self.awaited: dict[asyncio.Event, int] = {}  # set when there is a message of that index, or never will be

    def enter(self, subscription: Subscription) -> None:
        """Live from here on."""
        subscription.behind[self.number] = None
        group = (subscription.listener.codec, subscription.viewer)
        self.live.setdefault(group, {})[subscription] = subscription.listener.push

    def leave(self, subscription: Subscription) -> None:
        """Not live any more."""
        group = (subscription.listener.codec, subscription.viewer)
        members = self.live.get(group)
        if members is not None:
            members.pop(subscription, None)
            if not members:
                del self.live[group]

    def wake(self) -> None:
        """Tell those whose message is there."""
        for there in [there for there, index in self.awaited.items() if index < self.head.next]:
            del self.awaited[there]
            there.set()

    def dismiss(self) -> None:
        """Tell everybody who waits: there will be no more messages."""
        for there in self.awaited:
            there.set()

    def put_off(self, pause: float, later: Later) -> None:
        """Pass on what is fresh after a pause, or sooner if that was decided before."""
        if self._due is not None and pause:
            return
        if self._due is not None:
            self._due.cancel()
        self._due = later(pause, self.flush)

    def flush(self) -> None:
        """Give what is fresh to whoever is live: joined once per group, and the same bytes for all in it."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        lines, self.fresh = self.fresh, []
        if not lines:
            return
        self.joined = len(lines)
        public = all(not line.to for line in lines)
        shared: dict[Codec, bytes] = {}
        full: list[Subscription] = []
        for (codec, viewer), members in self.live.items():
            if not codec.framed:
                full += _hand_out(lines, codec, viewer, members)
                continue
            data = shared.get(codec) if public else None
            if data is None:
                data = b"".join([line.encoded(codec, viewer) for line in lines])
                shared[codec] = data
            full += _write(data, members)
        for subscription in full:
            subscription.room.demote(subscription)


def _write(data: bytes, members: Mapping[Subscription, Callable[[bytes], None]]) -> list[Subscription]:
    """Give the same bytes to all; returns those whose way out has failed, which is no business of the others."""
    broken = []
    for subscription, push in members.items():
        try:
            push(data)
        except RuntimeError:  # what uvloop raises at whoever writes to a closed transport
            broken.append(subscription)
    return broken


def _hand_out(
    lines: Sequence[Line], codec: Codec, viewer: Invite | None, members: Mapping[Subscription, Callable[[bytes], None]]
) -> list[Subscription]:
    """Give messages that cannot be joined one by one; returns those whose queue is full with them."""
    frames = [line.encoded(codec, viewer) for line in lines]
    for push in members.values():
        for data in frames:
            push(data)
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
    """A session, or a channel of no session, with its listeners on this worker."""

    def __init__(self, session: SessionId, later: Later) -> None:
        self.session = session
        self.is_game = keys.is_session_id(session)
        self.logs = tuple(Log(number, channel) for number, channel in enumerate(keys.channels_of(session)))
        self.subscriptions: set[Subscription] = set()
        self.tag = ""  # of the newest version of the session that was announced
        self.version: int | None = None  # its number, where the announcement said it
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
        log.fresh += [Line(entry, index) for index, entry in enumerate(entries, before.next)]
        log.put_off(self._pause(log), self._later)
        log.head = Position(before.next + len(entries), entries[-1].tag)
        if log.ahead:
            self._catch_up_with(log)
        if log.awaited:
            log.wake()
        return True

    def stand(self, tag: str, version: int | None = None) -> None:
        """The session stands there, or further on."""
        self.tag, self.version = tag, version

    def stands_at(self, session: Session) -> bool:
        """Whether this is the session as it was announced, or as this worker has moved it on since."""
        return session.tag == self.tag or (self.version is not None and session.version > self.version)

    def flush(self) -> None:
        """Pass on now what is fresh."""
        for log in self.logs:
            log.flush()

    def _pause(self, log: Log) -> float:
        """Seconds that a busy log waits for as many as the last time, if that is cheaper than writing to all again."""
        pause = JOIN_PAUSE * len(self.subscriptions)
        return min(pause, LONGEST_PAUSE) if log.joined > len(log.fresh) and pause >= SHORTEST_PAUSE else 0

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
        log.wake()

    def demote(self, subscription: Subscription) -> None:
        """A connection does not keep up: serve it from the log, once its socket has drained."""
        for log in subscription.logs:
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
    def is_deserted(self) -> bool:
        """Whether nobody follows it or waits for anything in it."""
        return not self.subscriptions and not any(log.awaited for log in self.logs)

    @property
    def presence(self) -> Presence:
        """Who is here on this worker; a viewer that is no invite has no seat."""
        viewers = [s.viewer for s in self.subscriptions]
        seats = [viewer for viewer in viewers if viewer is not None and keys.is_invite(viewer)]
        return Presence(frozenset(seats), len(viewers) - len(seats))

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
