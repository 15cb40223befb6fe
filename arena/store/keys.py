"""Names in the store. All keys of a session carry its shard's hash tag, so that each script stays in one slot."""

import re
import uuid
from functools import lru_cache
from typing import NamedTuple

from redis.crc import key_slot

from arena.chat import operator_channel, player_channel, session_of
from arena.models import Channel, Invite, SessionId

SHARDS = 64
SCHEMA = "1"

META = "{meta}"
WORKERS = "{meta}:workers"
JOBS = "{jobs}:q"
JOB_IDS = "{jobs}:ids"
LOBBY_FEED = "{idx}:f"

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_SESSION = re.compile(_UUID)
_INVITE = re.compile(f"inv_{_UUID}")


def new_session_id() -> SessionId:
    """A random id; its last six bits name the shard."""
    return SessionId(str(uuid.uuid4()))


def new_invite(session: SessionId) -> Invite:
    """A random invite in the shard of its session."""
    drawn = uuid.uuid4().int & ~(SHARDS - 1) | shard_of(session)
    return Invite(f"inv_{uuid.UUID(int=drawn)}")


def is_session_id(text: str) -> bool:
    """Whether this could be a session of ours."""
    return _SESSION.fullmatch(text) is not None


def is_invite(text: str) -> bool:
    """Whether this could be an invite of ours."""
    return _INVITE.fullmatch(text) is not None


def shard_of(name: str) -> int:
    """The shard of a session id, an invite or a channel."""
    name = session_of(name)
    if is_session_id(name) or is_invite(name):
        return int(name[-2:], 16) % SHARDS
    return int(key_slot(name.encode())) % SHARDS


def tag(shard: int) -> str:
    """What keeps a shard's keys together in a cluster."""
    return f"{{s{shard:02d}}}"


def due(shard: int) -> str:
    """Deadlines of the shard's sessions: id by moment."""
    return f"{tag(shard)}:due"


def outbox(shard: int) -> str:
    """What the shard's sessions have to tell the rest."""
    return f"{tag(shard)}:outbox"


def log(channel: Channel) -> str:
    """A channel's messages."""
    return f"{tag(shard_of(channel))}:m:{channel}"


def invite(code: Invite) -> str:
    """Which session an invite is for."""
    return f"{tag(shard_of(code))}:i:{code}"


def feed(session: SessionId) -> str:
    """Where news of a session is published."""
    return f"{tag(shard_of(session))}:f:{session}"


def profile(user: str) -> str:
    """A player's profile."""
    return f"u:{user}"


class SessionKeys(NamedTuple):
    """The keys of one session, all in one slot; the order is the one the scripts expect."""

    session: str
    inputs: str
    operator_log: str
    player_log: str
    answers: str
    due: str
    outbox: str
    feed: str


@lru_cache(maxsize=20_000)
def of(session: SessionId) -> SessionKeys:
    """The keys of a session."""
    shard = shard_of(session)
    prefix = tag(shard)
    return SessionKeys(
        session=f"{prefix}:c:{session}",
        inputs=f"{prefix}:a:{session}",
        operator_log=f"{prefix}:m:{operator_channel(session)}",
        player_log=f"{prefix}:m:{player_channel(session)}",
        answers=f"{prefix}:k:{session}",
        due=due(shard),
        outbox=outbox(shard),
        feed=feed(session),
    )
