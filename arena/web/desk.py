"""Desk: what the commands of one connection do. It knows its seats and the sessions it follows, but no socket."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Never, Protocol, assert_never

from arena import auth, chat, history, wire
from arena.auth import ANONYMOUS, Signed, Viewer
from arena.errors import Forbidden, PlayerNotFound, Refused, Unauthorized
from arena.models import Channel, Invite, Seat, SessionId, UserId
from arena.room import Listener, Subscription
from arena.runtime import Arena
from arena.session import Session, challenge_view, creator_view
from arena.web.calls import queues, runs, seats
from arena.web.outlet import nowhere
from arena.wire import Cursor


class Answer(NamedTuple):
    """The result of a command, and what happens once it is on its way."""

    result: Mapping[str, Any]
    then: Callable[[], None] = lambda: None


class Guest(Listener, Protocol):
    """A connection that may take seats."""

    def seated(self) -> None:
        """It has taken one: from now on it plays, and does not only listen."""


class Nobody:
    """Stands where a guest was, once it is gone."""

    codec = wire.JSON
    has_room = False

    def __init__(self) -> None:
        self.push: Callable[[bytes], None] = nowhere

    def lag(self) -> None:
        """It misses nothing."""

    def removed(self, session: SessionId) -> None:
        """It follows nothing."""

    def seated(self) -> None:
        """It plays nothing."""


NOBODY: Guest = Nobody()


class Desk:
    """Carries out the commands of one connection."""

    __slots__ = ("_told", "arena", "following", "listener", "origin", "seats", "viewer")

    def __init__(self, arena: Arena, listener: Guest, origin: str, viewer: Viewer = ANONYMOUS) -> None:
        self.arena = arena
        self.listener = listener
        self.origin = origin
        self.viewer = viewer  # who it is before it has a seat
        self.seats: dict[SessionId, Invite] = {}
        self.following: dict[SessionId, Subscription] = {}
        self._told: tuple[SessionId, ...] = ()  # games whose end this connection was told before it left them

    def clear(self) -> None:
        """The connection is gone."""
        for subscription in self.following.values():
            self.arena.hub.unsubscribe(subscription)
        self.following.clear()
        self.arena.lobby.forget(self.listener)
        self.arena.matchmaker.followers.forget(self.listener)
        self.listener = NOBODY

    def drop(self, session: SessionId) -> None:
        """A session is gone."""
        self.following.pop(session, None)
        self.seats.pop(session, None)

    async def handle(self, command: wire.Command) -> Answer:  # noqa: PLR0911, PLR0912
        """Carry out a command."""
        match command:
            case wire.Message():  # the frequent ones first
                return await self._message(command)
            case wire.Chat():
                return await self._chat(command)
            case wire.Create():
                return await self._create(command)
            case wire.Pair():
                return await self._pair(command)
            case wire.Join():
                return await self._join(command)
            case wire.Resume():
                return await self._resume(command)
            case wire.Watch():
                return await self._watch_session(command)
            case wire.Unwatch():
                return self._unwatch(chat.session_of(command.challenge_id))
            case wire.Sync():
                return await self._sync(command)
            case wire.Lobby():
                return await self._lobby(command)
            case wire.Leaderboard():
                return await self._leaderboard(command)
            case wire.Queue():
                return await self._queue(command)
            case wire.Scorecards():
                return await self._scorecards(command)
            case wire.Vote():
                return await self._vote(command)
            case wire.Ping():
                return Answer({"time": self.arena.clock.now()})
            case _:
                assert_never(command)

    async def _create(self, command: wire.Create) -> Answer:
        self.arena.leases.spend("creates", self.origin)
        session = await self.arena.engine.create(
            command.challenge_type,
            command.options,
            private=command.private,
            origin=self.origin,
            deal=seats.deal_for(self.arena, self.viewer, command.seed, command.ranked),
        )
        return Answer(creator_view(session).wire())

    async def _pair(self, command: wire.Pair) -> Answer:
        self.arena.leases.spend("creates", self.origin)
        made = await self.arena.engine.pairs.create(
            command.challenge_type,
            command.options,
            deal=seats.deal_for(self.arena, self.viewer, command.seed, command.ranked),
            swap=command.swap,
            origin=self.origin,
        )
        return Answer(seats.pair_view(made))

    async def _join(self, command: wire.Join) -> Answer:
        self.arena.leases.spend("joins", self.origin)
        arena, invite = self.arena, Invite(command.invite)
        signer = self._sign_in(command) if arena.ring.required else None
        id_ = await arena.engine.session_of(invite)
        if self.seats.get(id_, invite) != invite:
            raise Forbidden("This connection has a seat in that session.")
        if signer is None:
            joined = await arena.engine.join(invite, command.user_id, command.key, id_)
        else:
            joined = await seats.rejoin(arena, id_, invite, signer)
        return await self._sit(await arena.engine.recall(id_), joined.seat, None)

    def _sign_in(self, command: wire.Join) -> UserId:
        timestamp = "" if command.timestamp is None else str(command.timestamp)
        signed = Signed(command.public_key or "", command.signature or "", timestamp)
        return seats.sign_in(self.arena, command.invite, signed)

    async def _resume(self, command: wire.Resume) -> Answer:
        id_ = chat.session_of(command.challenge_id)
        session = await self.arena.engine.get(id_)
        players = session.handles
        seat = auth.seat_of(self.arena.ring, id_, players, command.session_key)
        if self.seats.get(id_, players[seat]) != players[seat]:
            raise Forbidden("This connection has another seat in that session.")
        return await self._sit(session, seat, command.cursors)

    async def _sit(self, session: Session, seat: Seat, cursors: Mapping[str, Cursor] | None) -> Answer:
        if seat >= len(session.handles):
            raise Unauthorized("This session key does not fit the session.")
        id_, invite = session.id, session.handles[seat]
        await self.arena.catalog.fetch(session.header.type, session.header.version)
        result = {
            "ChallengeID": id_,
            "ChallengeInfo": self.arena.catalog.challenge(session.header.type).words,
            "sessionKey": auth.session_key(self.arena.ring, id_, seat, invite),
            "playerIndex": seat,
        }
        subscription = await self.arena.hub.subscribe(self.listener, id_, invite, cursors)
        self.seats[id_] = invite
        self.listener.seated()
        return Answer(result, lambda: self._follow(id_, subscription))

    async def _watch_session(self, command: wire.Watch) -> Answer:
        session = await self.arena.engine.get(chat.session_of(command.challenge_id))
        result = challenge_view(session).wire()
        if session.id in self.seats:
            return Answer(result)
        subscription = await self.arena.hub.subscribe(self.listener, session.id, None, command.cursors)
        return Answer(result, lambda: self._follow(session.id, subscription))

    def _follow(self, id_: SessionId, subscription: Subscription) -> None:
        """The reply is on its way: let the history follow, in place of an earlier subscription if there was one."""
        self._leave(id_)
        subscription.told_end = id_ in self._told
        self.following[id_] = subscription
        self.listener.lag()

    def _leave(self, id_: SessionId) -> None:
        if (old := self.following.pop(id_, None)) is not None:
            self.arena.hub.unsubscribe(old)
            if old.told_end and id_ not in self._told:
                self._told = (*self._told, id_)

    def _unwatch(self, id_: SessionId) -> Answer:
        if id_ not in self.seats:
            self._leave(id_)
        return Answer({})

    async def _message(self, command: wire.Message) -> Answer:
        id_ = chat.session_of(command.challenge_id)
        player = self.seats.get(id_) or await self._stranger(id_)
        return Answer(await self.arena.engine.act(id_, player, command.message_type, command.content, command.key))

    async def _chat(self, command: wire.Chat) -> Answer:
        if command.channel.startswith(chat.PREFIX):
            raise Forbidden("Only the operator speaks in that channel.")
        id_ = chat.session_of(command.channel)
        player = self.seats.get(id_) or await self._stranger(id_)
        to = command.to or None
        index = await self.arena.engine.chat(id_, player, command.content, to, command.key)
        return Answer({"index": index, "channel": command.channel, "from": player, "to": to})

    async def _scorecards(self, command: wire.Scorecards) -> Answer:
        id_ = chat.session_of(command.challenge_id)
        found = await runs.runs_of(self.arena, Viewer(self.seats.get(id_)), id_)
        return Answer(await found.scorecards())

    async def _vote(self, command: wire.Vote) -> Answer:
        id_ = chat.session_of(command.challenge_id)
        if id_ in self.seats:
            raise Refused("SEATED", "Those who play do not vote.")
        body = command.model_dump(by_alias=True, exclude_none=True, exclude={"type", "id", "challenge_id"})
        return Answer(await runs.vote(self.arena, id_, body, self.origin))

    async def _stranger(self, id_: SessionId) -> Never:
        """Refuse somebody who has no seat in a session, if it exists."""
        await self.arena.engine.get(id_)
        raise PlayerNotFound("You have no seat in this session.")

    async def _sync(self, command: wire.Sync) -> Answer:
        channel = Channel(command.channel)
        session = await self.arena.engine.get(chat.session_of(channel))
        viewer, sessions, most = self.seats.get(session.id), self.arena.sessions, self.arena.settings.page_bytes
        page = await sessions.slice(channel, max(command.index, 1), most)
        revealed = history.is_revealed(session, channel)
        read = await history.read(sessions, channel, page, viewer, most, revealed=revealed)
        return Answer({"messages": read.messages, "count": len(read.messages), "next": read.next})

    async def _lobby(self, command: wire.Lobby) -> Answer:
        if command.off:
            self.arena.lobby.leave(self.listener)
            return Answer({})
        return Answer(await self.arena.lobby.enter(self.listener, command.challenge_type))

    async def _leaderboard(self, command: wire.Leaderboard) -> Answer:
        if command.off:
            self.arena.lobby.unfollow(self.listener, command.challenge_type, command.strategy)
            return Answer({})
        return Answer(await self.arena.lobby.follow(self.listener, command.challenge_type, command.strategy))

    async def _queue(self, command: wire.Queue) -> Answer:
        maker, type_ = self.arena.matchmaker, command.challenge_type
        if command.off:
            followed = maker.followers.unfollow(self.listener, type_, command.ticket)
            left = [await maker.leave(type_, ticket) for ticket in ([command.ticket] if command.ticket else followed)]
            return Answer(left[0].wire() if left else {})
        if command.ticket is not None:
            state = await maker.state(type_, command.ticket)
        else:
            body = command.model_dump(by_alias=True, exclude_none=True, exclude={"type", "id", "challenge_type"})
            state = await queues.enter(self.arena, type_, body, self.origin)
        await maker.follow(self.listener, state)
        return Answer(state.wire())
