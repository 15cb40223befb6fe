"""Engine: load, play, commit. Where the rules meet the store, whatever door a wish came in by."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import JsonValue

from arena import chat, turn
from arena.catalog import Catalog, ChallengeType
from arena.clock import Clock
from arena.deals import Deal, draw
from arena.errors import (
    ArenaError,
    GameNotRunning,
    Internal,
    Invalid,
    InviteNotFound,
    NotFound,
    PlayerNotFound,
    RateLimited,
    Refused,
    TooLarge,
    trace,
)
from arena.lanes import Lanes
from arena.models import PLAYER, Invite, Millis, Seat, SessionId, Status, UserId
from arena.operator import Operator
from arena.outbox import Outbox
from arena.pairs import Pairs
from arena.session import Act, Expire, Finish, Header, Input, Join, Knock, Session, Vote, commit_to
from arena.settings import Settings
from arena.store import keys
from arena.store.agents import Agents
from arena.store.index import Index
from arena.store.sessions import NO_DIGEST, Committed, Conflict, Key, Sessions, request_key
from arena.turn import Turn
from arena.version import __version__
from arena.workbench import Parts

logger = logging.getLogger(__name__)

OPERATORS = 1_000  # kept ready
TRIES = 50  # commits that may lose a race before the client is asked to try again
SENT = {"ok": "Message sent"}


class Joined(NamedTuple):
    """A seat that was taken, now or under this key before."""

    session: SessionId
    seat: Seat
    kind: ChallengeType


class Engine:
    """The sessions of this arena, as one worker plays them."""

    def __init__(
        self, sessions: Sessions, index: Index, outbox: Outbox, catalog: Catalog, clock: Clock, settings: Settings
    ) -> None:
        self.sessions = sessions
        self.index = index
        self.outbox = outbox
        self.catalog = catalog
        self.clock = clock
        self.settings = settings
        self.parts = Parts()  # what this server lends to jobs
        self.pairs = Pairs(self)
        self.agents = Agents(sessions.nodes)
        self._hot: OrderedDict[SessionId, Session] = OrderedDict()
        self._operators: dict[tuple[str, str], Operator[Any, Any]] = {}
        self._lanes = Lanes()  # one at a time per session within this worker; between workers the tag decides
        self.touched: Callable[[SessionId], None] = lambda id_: None  # told when something was said or done
        self.acted: Callable[[], None] = lambda: None  # told of every move
        self.talked: Callable[[], None] = lambda: None  # told of every message of a player
        self.raced: Callable[[], None] = lambda: None  # told of every commit that lost a race

    async def create(
        self,
        type: str,
        options: Mapping[str, JsonValue] | None = None,
        *,
        private: bool = False,
        origin: str | None = None,
        deal: Deal | None = None,
        id_: SessionId | None = None,
        held: Sequence[UserId | None] = (),
        fill_by: Millis | None = None,
    ) -> Session:
        """Open a new session, with one invite per seat; some may be held for users, in the order of the invites."""
        deal = deal or draw()
        id_ = id_ or keys.new_session_id()
        kind, options, version = await self.catalog.offer(type, options)
        operator = kind.operator(options)
        if reason := operator.lacks(self.parts):
            raise Refused("CANNOT_PLAY", f"This cannot be played here: {reason}.")
        await self.check_waiting(origin)
        canonical = operator.canonical
        invites = [keys.new_invite(id_) for _ in operator.roles()]
        header = Header(
            id=id_,
            type=type,
            name=kind.metadata.name,
            created_at=self.clock.now(),
            invites=invites,
            roles=told_roles(operator),
            options=canonical,
            private=private,
            secret=deal.secret,
            seed=deal.seed,
            seeded=deal.seeded,
            ranked=deal.ranked,
            pair=deal.pair,
            twins=list(deal.twins),
            swap=deal.swap,
            commitment=commit_to(deal.secret, deal.seed, type, version, canonical),
            version=version,
            arena=__version__,
            origin=origin,
            held={invite: user for invite, user in zip(invites, held, strict=False) if user is not None},
            fill_by=fill_by,
        )
        try:
            session = turn.open_session(header, operator)
        except Exception as error:
            raise told(type, error) from None
        session = Session(session.header, session.standing, session.game, tag=chat.new_tag())
        committed = await self.sessions.create(session, request_key("", None), self.due(session))
        self._keep(session)
        await self.outbox.tell(session.id, committed.posted, self.settings.fold_wait_seconds)
        return session

    async def check_waiting(self, origin: str | None, more: int = 1) -> None:
        """Refuse more sessions of somebody who has enough that wait for players."""
        limit = self.settings.limit_open_sessions_per_address
        if origin and limit and await self.index.open_of(origin) + more > limit:
            raise RateLimited("Too many of your sessions wait for players.", self.settings.open_seconds)

    async def join(
        self, invite: Invite, user: UserId | None = None, key: str | None = None, id_: SessionId | None = None
    ) -> Joined:
        """Take the seat of an invite; whoever knows its session may say so."""
        id_ = id_ or await self.session_of(invite)
        user = user or (await self.recall(id_)).header.held.get(invite)
        entrant = await self.agents.entrant(user) if user else None
        made = request_key(invite, key, "join", user)

        def sit(session: Session, now: Millis) -> Join:
            return Join(invite=invite, user=user, entrant=entrant, at=now)

        committed = await self._play(id_, made, sit, lambda made: {"seat": made.seat})
        session = committed.session or await self.get(id_)
        return Joined(id_, committed.answer["seat"], self.catalog.challenge(session.header.type))

    async def act(
        self, id_: SessionId, player: Invite, type: str, content: str, key: str | None = None, *, knock: bool = False
    ) -> dict[str, Any]:
        """Make a move for a seated player; a refused one raises, now and whenever its key comes again.

        With `knock`, a move while no game is on is not refused: the operator answers it in its channel.
        """
        self.check_content(content)
        made = request_key(player, key, "message", type, content)

        def move(session: Session, now: Millis) -> Act | Knock:
            seat = session.seat_of(player)
            knocks = knock and session.standing.status is not Status.ACTIVE
            if seat is None and knocks:
                raise GameNotRunning("The game is not running.")
            if seat is None:
                raise PlayerNotFound("You have no seat in this session.")
            self._check_room(session, seat)
            return (Knock if knocks else Act)(seat=seat, type=type, content=content, at=now)

        committed = await self._play(id_, made, move, _answer)
        self.acted()
        if "error" in committed.answer:
            raise Refused(committed.answer["code"], committed.answer["error"])
        return committed.answer

    async def chat(
        self, id_: SessionId, player: Invite, content: str, to: str | None = None, key: str | None = None
    ) -> int:
        """Say something in the players' channel of a session; operators do not hear it."""
        self.check_content(content)
        now = self.clock.now()
        entry = chat.entry(chat.player_channel(id_), player, content, now, to=to)
        grace = round(self.settings.chat_after_end_seconds * 1000)
        limits = (self.settings.limit_channel_messages, self.settings.limit_channel_bytes, grace)
        made = request_key(player, key, "chat", content, to)
        index = await self.sessions.talk(id_, player, entry, made, now, limits)
        self.talked()
        self.touched(id_)
        return index

    async def vote(self, id_: SessionId, voter: str, ballot: str, choice: str, key: str | None = None) -> None:
        """Take the vote of somebody without a seat."""
        made = request_key(f"v:{voter}", key, "vote", ballot, choice)
        await self._play(id_, made, lambda _, now: Vote(voter=voter, ballot=ballot, choice=choice, at=now), _answer)

    async def finish(self, id_: SessionId, job: str, result: JsonValue, failed: str | None = None) -> None:
        """Hand a job's result to the session that waits for it; one that does not wait any more ignores it."""

        def hand_in(session: Session, now: Millis) -> Finish:
            if job not in session.standing.jobs:
                raise NotFound("The session does not wait for this job.")
            return Finish(id=job, result=result, failed=failed, at=now)

        try:
            await self._play(id_, Key(f"j:{job}", NO_DIGEST), hand_in, lambda made: {})
        except NotFound:
            logger.info("job result came too late job=%s", job)

    async def put(self, id_: SessionId, key: Key, make: Callable[[Session, Millis], Input]) -> None:
        """Have something happen to a session that no player asked for."""
        await self._play(id_, key, make, lambda made: {})

    async def session_of(self, invite: str) -> SessionId:
        """The session that an invite is for."""
        found = await self.sessions.find(Invite(invite)) if keys.is_invite(invite) else None
        if found is None:
            raise InviteNotFound(f"Challenge not found for invite: {invite}")
        return found

    async def get(self, id_: str) -> Session:
        """A session as it stands in the store."""
        session = await self.sessions.load(SessionId(id_)) if keys.is_session_id(id_) else None
        if session is None:
            self._hot.pop(SessionId(id_), None)
            raise NotFound("Challenge not found")
        self._keep(session)
        return session

    async def at_tag(self, id_: SessionId, tag: str) -> Session:
        """A session that stands at least where a piece of news said; from memory if it is there."""
        hot = self._hot.get(id_)
        return hot if hot is not None and hot.tag == tag else await self.get(id_)

    def seen(self, id_: SessionId) -> Session | None:
        """A session as this worker saw it last, if it remembers."""
        return self._hot.get(id_)

    async def recall(self, id_: SessionId) -> Session:
        """A session as this worker saw it last, which may be a while ago."""
        return self._hot.get(id_) or await self.get(id_)

    def drop(self, id_: SessionId) -> None:
        """Do not trust what was loaded of a session."""
        self._hot.pop(id_, None)

    def forget(self) -> None:
        """Trust nothing that was loaded so far: the store may have lost the end of its history."""
        self._hot.clear()

    def due(self, session: Session) -> Millis | None:
        """When a session needs to be looked at next although nobody acts."""
        match session.standing.status:
            case Status.OPEN:
                usual = Millis(session.header.created_at + round(self.settings.open_seconds * 1000))
                return session.header.fill_by or usual
            case Status.ACTIVE:
                return None if session.due is None else session.due[1]
            case Status.ENDED:
                ended, days = session.standing.completed_at, self.settings.keep_days
                return Millis(ended + round(days * 86_400_000)) if ended and days else None

    async def wake(self, id_: SessionId) -> None:
        """Look at a session whose time has come: fire its deadlines, or remove it."""
        await self._lanes.enter(id_)
        try:
            await self._wake(id_)
        finally:
            self._lanes.leave(id_)

    async def _wake(self, id_: SessionId) -> None:
        session = await self.sessions.load(id_)
        if session is None:
            await self.sessions.settle(id_, "", None)
            return
        await self.catalog.fetch(session.header.type, session.header.version)
        now = self.clock.now()
        moment = self.due(session)
        try:
            if session.standing.status is Status.ACTIVE:
                session = await self._fire(session, now)
            elif moment is not None and moment <= now:
                await self._remove(session, now)
                return
        except Conflict:
            return
        await self.sessions.settle(id_, session.tag, self.due(session))

    async def abandon(self, id_: SessionId) -> Session | None:
        """Remove a session that nobody will play to its end; one that has ended after all stays, and comes back."""
        await self._lanes.enter(id_)
        try:
            while (session := await self.sessions.load(id_)) is not None:
                if session.standing.status is Status.ENDED:
                    return session
                try:
                    await self._remove(session, self.clock.now())
                except Conflict:
                    continue
            return None
        finally:
            self._lanes.leave(id_)

    async def _remove(self, session: Session, now: Millis) -> None:
        posted = await self.sessions.remove(session, now)
        self._hot.pop(session.id, None)
        logger.info("session removed id=%s status=%s", session.id, session.standing.status)
        await self.outbox.tell(session.id, posted, self.settings.fold_wait_seconds)

    async def _play(
        self,
        id_: SessionId,
        key: Key,
        make: Callable[[Session, Millis], Input],
        answer: Callable[[Turn], dict[str, Any]],
    ) -> Committed:
        """Carry out an input when it is its turn, and tell whom it concerns."""
        await self._lanes.enter(id_)
        try:
            committed = await self._insist(id_, key, make, answer)
        finally:
            self._lanes.leave(id_)
        if committed.posted:
            await self.outbox.tell(id_, committed.posted, self.settings.fold_wait_seconds)
        return committed

    async def _insist(
        self,
        id_: SessionId,
        key: Key,
        make: Callable[[Session, Millis], Input],
        answer: Callable[[Turn], dict[str, Any]],
    ) -> Committed:
        """Apply an input and commit it, again if somebody else came first."""
        for _ in range(TRIES):
            hot = self._hot.get(id_)
            session = hot or await self.get(id_)
            await self.catalog.fetch(session.header.type, session.header.version)
            try:
                now = self.clock.now()
                if session.standing.deadlines:
                    session = await self._fire(session, now)
                made = self._apply(session, make(session, now))
                return await self._commit(made, key, answer(made))
            except Conflict:
                self.raced()
                self._hot.pop(id_, None)
            except (Refused, NotFound, Invalid, TooLarge, Internal):
                # What we know may be old, and the key may have been answered long ago.
                stored = await self.sessions.answer(id_, key)
                if stored is not None:
                    return Committed(stored, None, ())
                if hot is None or (await self.get(id_)).tag == hot.tag:
                    raise
        raise RateLimited("This session is very busy; try again.", 0.1)

    async def _commit(self, made: Turn, key: Key, answer: dict[str, Any]) -> Committed:
        before = made.session
        if made.standing.status is Status.ENDED and before.standing.status is not Status.ENDED:
            turn.categorise(made, await self.sessions.profiles(made.standing.player_identities.values()))
        session = turn.after(made, chat.new_tag())
        committed = await self.sessions.commit(made, session, key, answer, self.due(session))
        if committed.session is not None:
            self._keep(session)
            self.touched(session.id)
        else:
            self._hot.pop(session.id, None)
        return committed

    async def _fire(self, session: Session, now: Millis) -> Session:
        """Carry out the deadlines that have passed before anything else happens."""
        while (due := session.due) is not None and due[1] <= now:
            name, moment = due
            made = self._apply(session, Expire(name=name, at=moment))
            key = Key(f"d:{session.version}:{name}", NO_DIGEST)
            committed = await self._commit(made, key, {})
            await self.outbox.tell(session.id, committed.posted, 0)
            session = committed.session or await self.get(session.id)
        return session

    def _apply(self, session: Session, change: Input) -> Turn:
        try:
            made = turn.apply(self._operator(session), session, change)
        except Exception as error:
            raise told(session.header.type, error) from None
        if made.fault is not None:
            logger.error("challenge failed type=%s %s", session.header.type, trace(made.fault))
        return made

    def _operator(self, session: Session) -> Operator[Any, Any]:
        """The referee, without state of its own; built once for all sessions with the same options."""
        header = session.header
        key = (header.type, header.options_key)
        found = self._operators.get(key)
        if found is None:
            if len(self._operators) >= OPERATORS:
                self._operators.clear()
            found = self._operators[key] = self.catalog.challenge(header.type).operator(header.options)
        return found

    def rules(self, session: Session) -> Operator[Any, Any]:
        """The referee of a session, for whoever looks at what it keeps."""
        return self._operator(session)

    def _keep(self, session: Session) -> None:
        hot, id_ = self._hot, session.id
        hot[id_] = session
        hot.move_to_end(id_)
        while len(hot) > self.settings.hot_sessions:
            hot.popitem(last=False)

    def check_content(self, content: str) -> None:
        """Refuse what is too long to be said."""
        limit = self.settings.limit_content_bytes
        if limit and len(content) * 4 > limit and len(content.encode()) > limit:
            raise TooLarge(f"Content may have at most {limit} bytes.")

    def _check_room(self, session: Session, seat: Seat) -> None:
        """A full channel takes no more moves, but for those of seats that have not had their share of it."""
        standing, said, shares = session.standing, session.standing.spoken[seat], 2 * len(session.header.invites)
        most, bytes_ = self.settings.limit_channel_messages, self.settings.limit_channel_bytes
        if (most and standing.messages >= most and said.messages >= most // shares) or (
            bytes_ and standing.bytes >= bytes_ and said.bytes >= bytes_ // shares
        ):
            raise TooLarge("This channel is full.")


def told_roles(operator: Operator[Any, Any]) -> list[str]:
    """The roles of a session's invites as its header keeps them."""
    roles = list(operator.roles())
    if roles[: operator.players] != [PLAYER] * operator.players or PLAYER in roles[operator.players :]:
        raise Internal("The roles of a challenge are those of its players, and then others.")
    return roles if len(roles) > operator.players else []


def _answer(made: Turn) -> dict[str, Any]:
    refusal = made.refusal
    return SENT if refusal is None else {"error": refusal.message, "code": refusal.code}


def told(type: str, error: Exception) -> ArenaError:
    """Turns whatever a challenge raises, other than what a client may be told, into a line of log and `Internal`."""
    if isinstance(error, ArenaError) and not isinstance(error, Internal):
        return error
    logger.error("challenge failed type=%s %s", type, trace(error))
    return Internal("The challenge failed; nothing has changed.")
