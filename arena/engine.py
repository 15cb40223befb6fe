"""Engine: load, play, commit. Where the rules meet the store, whatever door a wish came in by."""

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple

from pydantic import JsonValue

from arena import chat, turn
from arena.catalog import Catalog
from arena.clock import Clock
from arena.errors import (
    ArenaError,
    Internal,
    InviteNotFound,
    NotFound,
    PlayerNotFound,
    RateLimited,
    Refused,
    TooLarge,
    trace,
)
from arena.models import ChallengeMetadata, Invite, Millis, Seat, SessionId, Status, UserId
from arena.operator import Operator
from arena.outbox import Outbox
from arena.session import Act, Expire, Finish, Header, Input, Join, Session, commit_to
from arena.settings import Settings
from arena.store import keys
from arena.store.index import Index
from arena.store.sessions import Committed, Conflict, Key, Sessions, request_key
from arena.turn import Turn
from arena.version import __version__

logger = logging.getLogger(__name__)

OPERATORS = 1_000  # kept ready
TRIES = 50  # commits that may lose a race before the client is asked to try again
SENT = {"ok": "Message sent"}


class Joined(NamedTuple):
    """A seat that was taken, now or under this key before."""

    session: SessionId
    seat: Seat
    metadata: ChallengeMetadata


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
        self._hot: OrderedDict[SessionId, Session] = OrderedDict()
        self._operators: dict[tuple[str, str], Operator[Any, Any]] = {}
        self._locks: dict[SessionId, tuple[asyncio.Lock, int]] = {}
        self.touched: Callable[[SessionId], None] = lambda id_: None  # told when something was said or done

    async def create(
        self,
        type: str,
        options: Mapping[str, JsonValue] | None = None,
        *,
        private: bool = False,
        origin: str | None = None,
    ) -> Session:
        """Open a new session, with one invite per seat."""
        kind = self.catalog.challenge(type)
        operator = kind.operator(options)
        limit = self.settings.limit_open_sessions_per_address
        if origin and limit and await self.index.open_of(origin) >= limit:
            raise RateLimited("Too many of your sessions wait for players.", self.settings.open_seconds)
        id_, secret, seed = keys.new_session_id(), secrets.token_hex(32), secrets.token_hex(16)
        canonical = operator.options.model_dump(mode="json", by_alias=True)
        header = Header(
            id=id_,
            type=type,
            name=kind.metadata.name,
            created_at=self.clock.now(),
            invites=[keys.new_invite(id_) for _ in range(operator.players)],
            options=canonical,
            private=private,
            secret=secret,
            seed=seed,
            commitment=commit_to(secret, seed, type, kind.version, canonical),
            version=kind.version,
            arena=__version__,
            origin=origin,
        )
        with guarded(type):
            session = turn.open_session(header, operator)
        session = Session(session.header, session.standing, session.game, tag=chat.new_tag())
        committed = await self.sessions.create(session, request_key("", None), self.due(session))
        self._keep(session)
        await self.outbox.tell(session.id, committed.posted, self.settings.fold_wait_seconds)
        return session

    async def join(self, invite: Invite, user: UserId | None = None, key: str | None = None) -> Joined:
        """Take the seat of an invite."""
        id_ = await self.session_of(invite)
        made = request_key(invite, key, "join", user)
        committed = await self._play(
            id_, made, lambda session, now: Join(invite=invite, user=user, at=now), lambda made: {"seat": made.seat}
        )
        session = await self.get(id_)
        return Joined(id_, committed.answer["seat"], self.catalog.challenge(session.header.type).metadata)

    async def act(
        self, id_: SessionId, player: Invite, type: str, content: str, key: str | None = None
    ) -> dict[str, Any]:
        """Make a move for a seated player; a refused one raises, now and whenever its key comes again."""
        self._check_content(content)
        made = request_key(player, key, "message", type, content)

        def move(session: Session, now: Millis) -> Act:
            seat = session.seat_of(player)
            if seat is None:
                raise PlayerNotFound("You have no seat in this session.")
            self._check_room(session, seat)
            return Act(seat=seat, type=type, content=content, at=now)

        committed = await self._play(id_, made, move, _answer)
        if "error" in committed.answer:
            raise Refused(committed.answer["code"], committed.answer["error"])
        return committed.answer

    async def chat(
        self, id_: SessionId, player: Invite, content: str, to: str | None = None, key: str | None = None
    ) -> int:
        """Say something in the players' channel of a session; operators do not hear it."""
        self._check_content(content)
        now = self.clock.now()
        entry = chat.entry(chat.player_channel(id_), player, content, now, to=to)
        grace = round(self.settings.chat_after_end_seconds * 1000)
        limits = (self.settings.limit_channel_messages, self.settings.limit_channel_bytes, grace)
        made = request_key(player, key, "chat", content, to)
        index = await self.sessions.talk(id_, player, entry, made, now, limits)
        self.touched(id_)
        return index

    async def finish(self, id_: SessionId, job: str, result: JsonValue, failed: str | None = None) -> None:
        """Hand a job's result to the session that waits for it; one that does not wait any more ignores it."""

        def hand_in(session: Session, now: Millis) -> Finish:
            if job not in session.standing.jobs:
                raise NotFound("The session does not wait for this job.")
            return Finish(id=job, result=result, failed=failed, at=now)

        try:
            await self._play(id_, Key(f"j:{job}", "0" * 32), hand_in, lambda made: {})
        except NotFound:
            logger.info("job result came too late job=%s", job)

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

    def forget(self) -> None:
        """Trust nothing that was loaded so far: the store may have lost the end of its history."""
        self._hot.clear()

    def due(self, session: Session) -> Millis | None:
        """When a session needs to be looked at next although nobody acts."""
        match session.standing.status:
            case Status.OPEN:
                return Millis(session.header.created_at + round(self.settings.open_seconds * 1000))
            case Status.ACTIVE:
                return None if session.due is None else session.due[1]
            case Status.ENDED:
                ended, days = session.standing.completed_at, self.settings.keep_days
                return Millis(ended + round(days * 86_400_000)) if ended and days else None

    async def wake(self, id_: SessionId) -> None:
        """Look at a session whose time has come: fire its deadlines, or remove it."""
        async with self._alone(id_):
            session = await self.sessions.load(id_)
            if session is None:
                await self.sessions.settle(id_, "", None)
                return
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
        """Apply an input and commit it, again if somebody else came first."""
        async with self._alone(id_):
            for _ in range(TRIES):
                hot = self._hot.get(id_)
                session = hot or await self.get(id_)
                try:
                    session = await self._fire(session, self.clock.now())
                    change = make(session, self.clock.now())
                    made = self._apply(session, change)
                    committed = await self._commit(made, key, answer(made))
                except Conflict:
                    self._hot.pop(id_, None)
                    continue
                except (Refused, NotFound, TooLarge, Internal):
                    # What we know may be old, and the key may have been answered long ago.
                    stored = await self.sessions.answer(id_, key)
                    if stored is not None:
                        return Committed(stored, None, ())
                    if hot is None or (await self.get(id_)).tag == hot.tag:
                        raise
                    continue
                break
            else:
                raise RateLimited("This session is very busy; try again.", 0.1)
        await self.outbox.tell(id_, committed.posted, self.settings.fold_wait_seconds)
        return committed

    async def _commit(self, made: Turn, key: Key, answer: dict[str, Any]) -> Committed:
        session = made.session
        if made.standing.status is Status.ENDED and session.standing.status is not Status.ENDED:
            turn.categorise(made, await self.sessions.profiles(made.standing.player_identities.values()))
        committed = await self.sessions.commit(made, key, answer, self.due(turn.after(made, "")))
        if committed.session is not None:
            self._keep(committed.session)
            self.touched(session.id)
        else:
            self._hot.pop(session.id, None)
        return committed

    async def _fire(self, session: Session, now: Millis) -> Session:
        """Carry out the deadlines that have passed before anything else happens."""
        while (due := session.due) is not None and due[1] <= now:
            name, moment = due
            made = self._apply(session, Expire(name=name, at=moment))
            key = Key(f"d:{session.version}:{name}", "0" * 32)
            committed = await self._commit(made, key, {})
            await self.outbox.tell(session.id, committed.posted, 0)
            session = committed.session or await self.get(session.id)
        return session

    def _apply(self, session: Session, change: Input) -> Turn:
        with guarded(session.header.type):
            made = turn.apply(self._operator(session), session, change)
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

    def _keep(self, session: Session) -> None:
        self._hot[session.id] = session
        self._hot.move_to_end(session.id)
        while len(self._hot) > self.settings.hot_sessions:
            self._hot.popitem(last=False)

    @asynccontextmanager
    async def _alone(self, id_: SessionId) -> AsyncIterator[None]:
        """One at a time per session within this worker; between workers the tag decides."""
        lock, users = self._locks.get(id_, (asyncio.Lock(), 0))
        self._locks[id_] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks.pop(id_)
            if users > 1:
                self._locks[id_] = (lock, users - 1)

    def _check_content(self, content: str) -> None:
        limit = self.settings.limit_content_bytes
        if limit and len(content) * 4 > limit and len(content.encode()) > limit:
            raise TooLarge(f"Content may have at most {limit} bytes.")

    def _check_room(self, session: Session, seat: Seat) -> None:
        """A full channel takes no more moves, but for those of seats that have not had their share of it."""
        standing, shares = session.standing, 2 * len(session.header.invites)
        said = standing.spoken[seat]
        for limit, there, own in (
            (self.settings.limit_channel_messages, standing.messages, said.messages),
            (self.settings.limit_channel_bytes, standing.bytes, said.bytes),
        ):
            if limit and there >= limit and own >= limit // shares:
                raise TooLarge("This channel is full.")


def _answer(made: Turn) -> dict[str, Any]:
    refusal = made.refusal
    return SENT if refusal is None else {"error": refusal.message, "code": refusal.code}


@contextmanager
def guarded(type: str) -> Iterator[None]:
    """Turns whatever a challenge raises, other than what a client may be told, into a line of log and `Internal`."""
    try:
        yield
    except Exception as error:
        if isinstance(error, ArenaError) and not isinstance(error, Internal):
            raise
        logger.error("challenge failed type=%s %s", type, trace(error))
        raise Internal("The challenge failed; nothing has changed.") from None
