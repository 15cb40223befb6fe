"""Desk: what the commands of one connection do. It knows its seats and the sessions it follows, but no socket."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, assert_never

from arena import auth, chat, wire
from arena.errors import Forbidden, PlayerNotFound, Unauthorized
from arena.hub import read_page
from arena.models import Channel, Invite, Seat, SessionId
from arena.room import Listener, Subscription
from arena.runtime import Arena
from arena.session import challenge_view, creator_view
from arena.wire import Cursor


class Answer(NamedTuple):
    """The result of a command, and what happens once it is on its way."""

    result: Mapping[str, Any]
    then: Callable[[], None] = lambda: None


class Desk:
    """Carries out the commands of one connection."""

    def __init__(self, arena: Arena, listener: Listener, origin: str) -> None:
        self.arena = arena
        self.listener = listener
        self.origin = origin
        self.seats: dict[SessionId, Invite] = {}
        self.following: dict[SessionId, Subscription] = {}
        self._told: set[SessionId] = set()  # games whose end this connection has been told

    def clear(self) -> None:
        """The connection is gone."""
        for subscription in self.following.values():
            self.arena.hub.unsubscribe(subscription)
        self.following.clear()
        self.arena.lobby.forget(self.listener)

    def drop(self, session: SessionId) -> None:
        """A session is gone."""
        self.following.pop(session, None)
        self.seats.pop(session, None)

    async def handle(self, command: wire.Command) -> Answer:  # noqa: PLR0911
        """Carry out a command."""
        match command:
            case wire.Create():
                return await self._create(command)
            case wire.Join():
                return await self._join(command)
            case wire.Resume():
                return await self._resume(command)
            case wire.Watch():
                return await self._watch_session(command)
            case wire.Unwatch():
                return self._unwatch(chat.session_of(command.challenge_id))
            case wire.Message():
                return await self._message(command)
            case wire.Chat():
                return await self._chat(command)
            case wire.Sync():
                return await self._sync(command)
            case wire.Lobby():
                return await self._lobby(command)
            case wire.Leaderboard():
                return await self._leaderboard(command)
            case wire.Ping():
                return Answer({"time": self.arena.clock.now()})
            case _:
                assert_never(command)

    async def _create(self, command: wire.Create) -> Answer:
        session = await self.arena.engine.create(
            command.challenge_type, command.options, private=command.private, origin=self.origin
        )
        return Answer(creator_view(session).wire())

    async def _join(self, command: wire.Join) -> Answer:
        engine = self.arena.engine
        id_ = await engine.session_of(command.invite)
        if self.seats.get(id_, command.invite) != command.invite:
            raise Forbidden("This connection has a seat in that session.")
        joined = await engine.join(Invite(command.invite), command.user_id, command.key)
        return await self._sit(joined.session, joined.seat, None)

    async def _resume(self, command: wire.Resume) -> Answer:
        id_ = chat.session_of(command.challenge_id)
        session = await self.arena.engine.get(id_)
        players = session.standing.players
        seat = auth.seat_of(self.arena.secret, id_, players, command.session_key)
        if self.seats.get(id_, players[seat]) != players[seat]:
            raise Forbidden("This connection has another seat in that session.")
        return await self._sit(id_, seat, command.cursors)

    async def _sit(self, id_: SessionId, seat: Seat, cursors: Mapping[str, Cursor] | None) -> Answer:
        session = await self.arena.engine.get(id_)
        if seat >= len(session.standing.players):
            raise Unauthorized("This session key does not fit the session.")
        invite = session.standing.players[seat]
        result = {
            "ChallengeID": id_,
            "ChallengeInfo": self.arena.catalog.challenge(session.header.type).metadata.wire(),
            "sessionKey": auth.session_key(self.arena.secret, id_, seat, invite),
            "playerIndex": seat,
        }
        subscription = await self.arena.hub.subscribe(self.listener, id_, invite, cursors)
        self.seats[id_] = invite
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
            if old.told_end:
                self._told.add(id_)

    def _unwatch(self, id_: SessionId) -> Answer:
        if id_ not in self.seats:
            self._leave(id_)
        return Answer({})

    async def _message(self, command: wire.Message) -> Answer:
        id_ = chat.session_of(command.challenge_id)
        player = await self._player(id_)
        return Answer(await self.arena.engine.act(id_, player, command.message_type, command.content, command.key))

    async def _chat(self, command: wire.Chat) -> Answer:
        if command.channel.startswith(chat.PREFIX):
            raise Forbidden("Only the operator speaks in that channel.")
        id_ = chat.session_of(command.channel)
        player = await self._player(id_)
        to = command.to or None
        index = await self.arena.engine.chat(id_, player, command.content, to, command.key)
        return Answer({"index": index, "channel": command.channel, "from": player, "to": to})

    async def _player(self, id_: SessionId) -> Invite:
        """Who we are in a session."""
        if id_ not in self.seats:
            await self.arena.engine.get(id_)
            raise PlayerNotFound("You have no seat in this session.")
        return self.seats[id_]

    async def _sync(self, command: wire.Sync) -> Answer:
        channel = Channel(command.channel)
        session = await self.arena.engine.get(chat.session_of(channel))
        viewer = self.seats.get(session.id)
        page = await self.arena.sessions.slice(channel, max(command.index, 1), self.arena.settings.page_bytes)
        messages = read_page(page, channel, viewer, session)
        return Answer({"messages": messages, "count": len(messages), "next": page.next})

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
