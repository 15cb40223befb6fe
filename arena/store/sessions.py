"""Sessions in the store: load, commit, talk, read a log. One script call each, and each may be sent twice."""

import hashlib
import zlib
from collections.abc import Coroutine, Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, cast

import orjson
from pydantic import Field, JsonValue

from arena.chat import NO_TAG, Entry, new_tag
from arena.errors import Forbidden, KeyReused, NotFound, PlayerNotFound, Refused, TooLarge, Unreadable
from arena.models import Channel, GameResult, Invite, Millis, Model, Seat, SessionId, Status, UserId, UserProfile
from arena.session import INPUT, Header, Input, Join, Session, Standing, WaitingJob, line_of, result_of
from arena.store import keys
from arena.store.nodes import Nodes
from arena.store.users import Users
from arena.turn import Event, Turn

DIGEST = 32  # characters
NO_DIGEST = "0" * DIGEST  # of a key that nobody else can use
FREE = "free"  # what stands for the tag of a channel that belongs to no session
ANY = "any"  # says that a cursor holds whatever its epoch; no part of a cursor, which is the client's


class Key(NamedTuple):
    """What makes a request idempotent: whose key, and what it stood for."""

    field: str
    digest: str


def request_key(owner: str, key: str | None, *body: str | None) -> Key:
    """The key of a request, the client's or a fresh one; the digest tells one body from another."""
    if not key:
        return Key(f"-:{new_tag()}", NO_DIGEST)
    digest = hashlib.blake2b(orjson.dumps(body), digest_size=DIGEST // 2).hexdigest()
    return Key(f"{owner}:{key}", digest)


Result = Annotated[GameResult | dict[str, Any], Field(union_mode="left_to_right")]  # plain where we cannot read it


class Posted(Model):
    """An event in the outbox: all that its consumers need, since the session may be gone when they read it."""

    kind: Literal["created", "started", "ended", "removed", "job"]
    id: SessionId
    type: str
    version: int
    at: Millis
    created_at: Millis
    status: Status
    private: bool
    origin: str | None = None
    users: list[UserId] = []
    twins: list[SessionId] = []
    result: Result | None = None
    job: dict[str, JsonValue] | None = None


class QueuedJob(WaitingJob):
    """A job on the stream: all that its runner needs."""

    id: str
    session: SessionId
    type: str


class Committed(NamedTuple):
    """A commit that went through, now or when this key was first used."""

    answer: dict[str, Any]
    session: Session | None  # None when the answer is an old one
    posted: Sequence[tuple[str | None, Posted]]  # with their places in the outbox, where those are known


class Conflict(Exception):
    """Somebody else has committed since the session was loaded."""


class Page(NamedTuple):
    """A stretch of a log."""

    holds: bool  # the cursor that was asked for
    first: int
    epoch: str  # of the cursor after this page
    length: int  # of the whole log
    entries: list[Entry]

    @property
    def next(self) -> int:
        """The index after this page."""
        return self.first + len(self.entries)


class Heads(NamedTuple):
    """Where a session and its logs stand; no tag means no session."""

    tag: str
    end: tuple[int, int] | None  # lengths of the two logs when the game ended
    logs: list[tuple[int, str]]  # length and last tag of each channel, in the order of `keys.channels_of`


def post(kind: Event, session: Session, now: Millis) -> Posted:
    """An event as it goes into the outbox."""
    header, standing = session.header, session.standing
    ended = kind.kind == "ended"
    return Posted(
        kind=kind.kind,
        id=session.id,
        type=header.type,
        version=session.version,
        at=now,
        created_at=header.created_at,
        status=standing.status,
        private=header.private,
        origin=header.origin,
        users=list(standing.player_identities.values()),
        twins=header.twins,
        result=result_of(session) if ended else None,
        job=None if kind.job is None else {"id": kind.job.id, "kind": kind.job.kind, "payload": kind.job.payload},
    )


class Sessions:
    """The sessions of a store."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    async def load(self, session: SessionId) -> Session | None:
        """A session as it stands now; `Unreadable` if it is there and cannot be read."""
        key = keys.of(session).session
        found = await self.nodes.run(key, "HMGET", key, "tag", "version", "header", "state", "game")
        if found[0] is None:
            return None
        tag, version, header, state, game = found
        try:
            return Session(Header.from_json(header), Standing.from_json(state), game, tag.decode(), int(version))
        except (TypeError, ValueError):
            raise Unreadable from None

    async def find(self, invite: Invite) -> SessionId | None:
        """The session that an invite is for."""
        key = keys.invite(invite)
        found = await self.nodes.run(key, "GET", key)
        return None if found is None else SessionId(found.decode())

    def create(self, session: Session, key: Key, due: Millis | None) -> Coroutine[None, None, Committed]:
        """Write a new session."""
        return self._write(session, key, {}, "", due, [Event("created")], header=session.header)

    def commit(
        self, turn: Turn, session: Session, key: Key, answer: dict[str, Any], due: Millis | None
    ) -> Coroutine[None, None, Committed]:
        """Write what a turn makes of its session, all of it or nothing; `Conflict` if another came first."""
        return self._write(session, key, answer, turn.session.tag, due, turn.events, turn=turn)

    async def _write(
        self,
        session: Session,
        key: Key,
        answer: dict[str, Any],
        expected: str,
        due: Millis | None,
        events: Iterable[Event],
        *,
        turn: Turn | None = None,
        header: Header | None = None,
    ) -> Committed:
        standing, now = session.standing, turn.input.at if turn else session.header.created_at
        posted = [post(event, session, now) for event in events]
        entries = [entry.pack() for entry in turn.entries] if turn else []
        invites = [keys.invite(code) for code in header.invites] if header else []
        taken = _seat_of_pair(turn) if turn else ()
        ended = "ended" in [event.kind for event in posted]
        reply = await self.nodes.script(
            "commit",
            [*keys.of(session.id), *invites, *taken[:1]],
            key.field,
            key.digest,
            orjson.dumps(answer),
            expected,
            session.tag,
            session.version,
            header.to_json() if header else "",
            standing.to_json(),
            session.game,
            line_of(turn.input) if turn else "",
            " ".join([*standing.players, *standing.attendants]),
            "" if due is None else due,
            session.id,
            standing.completed_at if ended else "",
            len(entries),
            *entries,
            len(posted),
            *[event.to_json() for event in posted],
            len(turn.notes) if turn else 0,
            *(turn.notes if turn else ()),
            *taken[1:],
        )
        match reply[0]:
            case b"ok":
                marks = [mark.decode() for mark in reply[2]]
                return Committed(answer, session, list(zip(marks, posted, strict=True)) if posted else ())
            case b"again":
                before = orjson.loads(_stored(reply[1], key))
                if reply[2].decode() != session.tag:
                    return Committed(before, None, ())
                # This very commit, sent again because its answer was lost.
                return Committed(before, session, [(None, event) for event in posted])
            case b"elsewhere":
                raise Refused("OTHER_SEAT", "You know another seat of this deal, and may sit on that one only.")
            case _:
                raise Conflict

    async def remove(self, session: Session, now: Millis) -> list[tuple[str, Posted]]:
        """Delete a session with its channels and invites."""
        posted = post(Event("removed"), session, now)
        header = session.header
        own = [keys.blobs(session.id), *(keys.invite(code) for code in header.invites)]
        pair = [keys.pair(header.id, header.pair)] if header.pair else []
        names = [*keys.of(session.id), *own, *pair, *(keys.of(twin).session for twin in header.twins)]
        reply = await self.nodes.script("remove", names, session.tag, session.id, posted.to_json(), len(own))
        match reply[0]:
            case b"ok":
                return [(reply[1].decode(), posted)]
            case b"gone":
                return []
            case _:
                raise Conflict

    async def talk(
        self, session: SessionId, sender: Invite, entry: Entry, key: Key, now: Millis, limits: tuple[int, int, int]
    ) -> int:
        """Append a player's message to the players' channel; its index comes back."""
        names = keys.of(session)
        reply = await self.nodes.script(
            "chat",
            [names.session, names.player_log, names.answers, names.feed],
            key.field,
            key.digest,
            sender,
            entry.pack(),
            limits[0],
            limits[1],
            now,
            limits[2],
        )
        match reply[0]:
            case b"ok":
                return int(reply[1])
            case b"again":
                return int(_stored(reply[1], key))
            case b"gone":
                raise NotFound("Challenge not found")
            case b"stranger":
                raise PlayerNotFound("You have no seat in this session.")
            case b"late":
                raise Forbidden("The game is over, and so is the time to talk about it.")
            case _:
                raise TooLarge("This channel is full.")

    async def answer(self, session: SessionId, key: Key) -> dict[str, Any] | None:
        """The answer that was given under a key, if it was used before."""
        name = keys.of(session).answers
        stored = await self.nodes.run(name, "HGET", name, key.field)
        return None if stored is None else cast(dict[str, Any], orjson.loads(_stored(stored, key)))

    async def page(self, channel: Channel, index: int, epoch: str, most: int) -> Page:
        """A page of a channel from a cursor on, or from the start if the cursor does not hold."""
        return _page(await self.nodes.script("page", [keys.log(channel)], index, epoch, most))

    async def slice(self, channel: Channel, index: int, most: int) -> Page:
        """A page of a channel from an index on, whatever stands before it."""
        return _page(await self.nodes.script("page", [keys.log(channel)], index, NO_TAG, most, ANY))

    async def glance(
        self, session: SessionId, channel: Channel, index: int, most: int, epoch: str | None = None
    ) -> tuple[Page, str]:
        """A page, with an epoch from a cursor on, and the tag at which the session stands; none if there is none."""
        asked = (NO_TAG, most, ANY) if epoch is None else (epoch, most)
        reply = await self.nodes.script("page", [keys.log(channel), keys.of(session).session], index, *asked)
        return _page(reply[:5]), reply[5].decode()

    async def tag_at(self, channel: Channel, index: int) -> str:
        """The tag of a message, empty if there is none of that index."""
        key = keys.log(channel)
        found = await self.nodes.run(key, "LINDEX", key, index - 1)
        return Entry.unpack(found).tag if found else NO_TAG

    async def tail(self, channel: Channel, count: int) -> Page:
        """The last messages of a channel."""
        key = keys.log(channel)
        length, entries = await self.nodes.run_all([(key, ("LLEN", key)), (key, ("LRANGE", key, -count, -1))])
        read = [Entry.unpack(entry) for entry in entries]
        return Page(True, length - len(read) + 1, read[-1].tag if read else "", length, read)

    async def heads(self, room: SessionId) -> Heads:
        """Where a session and its logs stand, or a channel of no session, which is always there."""
        logs = [keys.log(channel) for channel in keys.channels_of(room)]
        tag, end, *found = await self.nodes.script("heads", [keys.of(room).session, *logs])
        heads = [(length, last.decode()) for length, last in zip(found[::2], found[1::2], strict=True)]
        return Heads(tag.decode() if keys.is_session_id(room) else FREE, read_end(end.decode()), heads)

    async def proof(self, session: SessionId) -> bytes | None:
        """The signed record of a session, if one was kept."""
        key = keys.of(session).session
        found = await self.nodes.run(key, "HGET", key, "proof")
        return None if found is None else zlib.decompress(found)

    async def keep_proof(self, session: SessionId, proof: bytes, *, instead: bool = False) -> bytes:
        """Keep the signed record of a session; what was kept before stays, unless this comes in its place."""
        packed = zlib.compress(proof)
        kept = await self.nodes.script("proof", [keys.of(session).session], packed, int(instead))
        return proof if kept is None else zlib.decompress(kept)

    async def inputs(self, session: SessionId) -> list[Input]:
        """Everything that happened to a session, in order."""
        key = keys.of(session).inputs
        lines = await self.nodes.run(key, "LRANGE", key, 0, -1)
        return [INPUT.validate_json(line, extra="ignore") for line in lines]

    async def notes(self, session: SessionId, seat: Seat | None = None) -> list[dict[str, Any]]:
        """The run log of a session, or what it says of one seat."""
        key = keys.of(session).notes
        lines = map(orjson.loads, await self.nodes.run(key, "LRANGE", key, 0, -1))
        return [line for line in lines if seat in {None, line["seat"]}]

    async def due(self, shards: Iterable[int], now: Millis, most: int = 100) -> list[SessionId]:
        """Sessions of these shards that have a deadline behind them."""
        names = [keys.due(shard) for shard in shards]
        command = ("-inf", now, "LIMIT", 0, most)
        found = await self.nodes.run_all([(name, ("ZRANGEBYSCORE", name, *command)) for name in names])
        return [SessionId(id_.decode()) for ids in found for id_ in ids]

    async def settle(self, session: SessionId, tag: str, due: Millis | None) -> None:
        """Put a session's entry among the deadlines right."""
        names = keys.of(session)
        await self.nodes.script("due", [names.session, names.due], tag, session, "" if due is None else due)

    async def put_off(self, session: SessionId, until: Millis) -> None:
        """Look at a session again later; whatever is committed to it meanwhile sets its own time."""
        name = keys.of(session).due
        await self.nodes.run(name, "ZADD", name, "XX", until, session)

    async def profiles(self, users: Iterable[UserId]) -> dict[UserId, UserProfile]:
        """The profiles of those who have one."""
        return await Users(self.nodes).profiles(users)


def _seat_of_pair(turn: Turn) -> tuple[str, UserId, Seat] | tuple[()]:
    """Where a pair keeps who sits where, and who takes which seat now; nothing where seats may be changed."""
    change, header, seat = turn.input, turn.session.header, turn.seat
    if not isinstance(change, Join) or change.user is None or seat is None or not header.pair or header.swap:
        return ()
    return keys.pair(header.id, header.pair), change.user, seat


def read_end(text: str) -> tuple[int, int] | None:
    """The position at which a game ended in its two logs."""
    if text in {"", "-"}:
        return None
    operator, _, player = text.partition(":")
    return int(operator), int(player)


def _page(reply: Sequence[Any]) -> Page:
    holds, first, epoch, length, entries = reply
    return Page(bool(holds), first, epoch.decode(), length, [Entry.unpack(entry) for entry in entries])


def _stored(stored: bytes, key: Key) -> bytes:
    if stored[:DIGEST].decode() != key.digest:
        raise KeyReused("This key was used with another request.")
    return stored[DIGEST:]
