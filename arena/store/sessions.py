"""Sessions in the store: load, commit, talk, read a log. One script call each, and each may be sent twice."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, cast

import orjson
from pydantic import JsonValue

from arena.chat import Entry, new_tag
from arena.errors import Forbidden, KeyReused, NotFound, PlayerNotFound, TooLarge
from arena.models import Channel, Invite, Millis, Model, SessionId, Status, UserId, UserProfile
from arena.session import INPUT, Header, Input, Session, Standing, result_of
from arena.store import keys
from arena.store.nodes import Nodes
from arena.turn import Event, Turn, after

DIGEST = 32  # characters


class Key(NamedTuple):
    """What makes a request idempotent: whose key, and what it stood for."""

    field: str
    digest: str


def request_key(owner: str, key: str | None, *body: str | None) -> Key:
    """The key of a request, the client's or a fresh one; the digest tells one body from another."""
    digest = hashlib.blake2b(orjson.dumps(body), digest_size=DIGEST // 2).hexdigest()
    return Key(f"{owner}:{key}" if key else f"-:{new_tag()}", digest)


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
    result: dict[str, Any] | None = None
    job: dict[str, JsonValue] | None = None


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
    operator: tuple[int, str]
    player: tuple[int, str]


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
        result=result_of(session).wire() if ended else None,
        job=None if kind.job is None else {"id": kind.job.id, "kind": kind.job.kind, "payload": kind.job.payload},
    )


class Sessions:
    """The sessions of a store."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    async def load(self, session: SessionId) -> Session | None:
        """A session as it stands now."""
        key = keys.of(session).session
        found = await self.nodes.run(key, "HMGET", key, "tag", "version", "header", "state", "game")
        if found[0] is None:
            return None
        tag, version, header, state, game = found
        return Session(Header.from_json(header), Standing.from_json(state), game, tag.decode(), int(version))

    async def find(self, invite: Invite) -> SessionId | None:
        """The session that an invite is for."""
        key = keys.invite(invite)
        found = await self.nodes.run(key, "GET", key)
        return None if found is None else SessionId(found.decode())

    async def create(self, session: Session, key: Key, due: Millis | None) -> Committed:
        """Write a new session."""
        return await self._write(session, key, {}, "", due, [Event("created")], header=session.header)

    async def commit(self, turn: Turn, key: Key, answer: dict[str, Any], due: Millis | None) -> Committed:
        """Write what a turn makes of its session, all of it or nothing; `Conflict` if another came first."""
        session = after(turn, new_tag())
        return await self._write(session, key, answer, turn.session.tag, due, turn.events, turn=turn)

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
        entries = turn.entries if turn else []
        invites = [keys.invite(code) for code in header.invites] if header else []
        ended = any(event.kind == "ended" for event in posted)
        reply = await self.nodes.script(
            "commit",
            [*keys.of(session.id), *invites],
            key.field,
            key.digest,
            orjson.dumps(answer),
            expected,
            session.tag,
            session.version,
            header.to_json() if header else "",
            standing.to_json(),
            session.game,
            turn.input.to_json() if turn else "",
            " ".join(standing.players),
            "" if due is None else due,
            session.id,
            standing.completed_at if ended else "",
            len(entries),
            *(entry.pack() for entry in entries),
            len(posted),
            *(event.to_json() for event in posted),
        )
        match reply[0]:
            case b"ok":
                marks = [mark.decode() for mark in reply[2]]
                return Committed(answer, session, list(zip(marks, posted, strict=True)))
            case b"again":
                before = orjson.loads(_stored(reply[1], key))
                if reply[2].decode() != session.tag:
                    return Committed(before, None, ())
                # This very commit, sent again because its answer was lost.
                return Committed(before, session, [(None, event) for event in posted])
            case _:
                raise Conflict

    async def remove(self, session: Session, now: Millis) -> list[tuple[str, Posted]]:
        """Delete a session with its channels and invites."""
        posted = post(Event("removed"), session, now)
        invites = [keys.invite(code) for code in session.header.invites]
        names = [*keys.of(session.id), *invites]
        reply = await self.nodes.script("remove", names, session.tag, session.id, posted.to_json())
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
        holds, first, after_, length, entries = await self.nodes.script("page", [keys.log(channel)], index, epoch, most)
        return Page(bool(holds), first, after_.decode(), length, [Entry.unpack(entry) for entry in entries])

    async def slice(self, channel: Channel, index: int, most: int) -> Page:
        """A page of a channel from an index on, whatever stands before it."""
        key = keys.log(channel)
        before = await self.nodes.run(key, "LINDEX", key, index - 2) if index > 1 else None
        if index > 1 and before is None:
            return Page(True, index, "", index - 1, [])
        return await self.page(channel, index, Entry.unpack(before).tag if before else "", most)

    async def tail(self, channel: Channel, count: int) -> Page:
        """The last messages of a channel."""
        key = keys.log(channel)
        length, entries = await self.nodes.run_all([(key, ("LLEN", key)), (key, ("LRANGE", key, -count, -1))])
        read = [Entry.unpack(entry) for entry in entries]
        return Page(True, length - len(read) + 1, read[-1].tag if read else "", length, read)

    async def heads(self, session: SessionId) -> Heads:
        """Where a session and its logs stand."""
        names = keys.of(session)
        tag, end, length, last, talk, spoken = await self.nodes.script(
            "heads", [names.session, names.operator_log, names.player_log]
        )
        return Heads(tag.decode(), read_end(end.decode()), (length, last.decode()), (talk, spoken.decode()))

    async def inputs(self, session: SessionId) -> list[Input]:
        """Everything that happened to a session, in order."""
        key = keys.of(session).inputs
        return [INPUT.validate_json(line) for line in await self.nodes.run(key, "LRANGE", key, 0, -1)]

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
        asked = list(dict.fromkeys(users))
        names = [keys.profile(user) for user in asked]
        fields = ("userId", "username", "model", "isBenchmark")
        found = await self.nodes.run_all([(name, ("HMGET", name, *fields)) for name in names])
        return {user: _profile(user, data) for user, data in zip(asked, found, strict=True) if data[0]}


def read_end(text: str) -> tuple[int, int] | None:
    """The position at which a game ended in its two logs."""
    if text in {"", "-"}:
        return None
    operator, _, player = text.partition(":")
    return int(operator), int(player)


def _stored(stored: bytes, key: Key) -> bytes:
    if stored[:DIGEST].decode() != key.digest:
        raise KeyReused("This key was used with another request.")
    return stored[DIGEST:]


def _profile(user: UserId, data: Sequence[bytes | None]) -> UserProfile:
    _, username, model, benchmark = data
    return UserProfile(
        user_id=user,
        username=username.decode() if username else None,
        model=model.decode() if model else None,
        is_benchmark=True if benchmark == b"1" else None,
    )
