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
SIGNING = "{meta}:signing"  # key pairs that records are signed with, by number
JOBS = "{jobs}:q"
JOB_IDS = "{jobs}:ids"
LOBBY_FEED = "{idx}:f"
RELEASES = "{packs}:releases"  # versions of published packs: record by slug@number
ARCHIVED = "{packs}:archived"  # slugs, and slug@number, that take no new sessions
PACK_REVISION = "{packs}:revision"  # moves whenever something was published or archived
PACK_BYTES = "{packs}:bytes"
TOURNAMENTS = "{tour}:all"  # by the time of their creation
PLAYED = "{tour}:played"  # those that are under way
TOURNAMENT_KEYS = "{tour}:k"  # id by the key under which it was created
USERS = "{idx}:users"  # who has a profile, by the time of the first

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_SESSION = re.compile(_UUID)
_INVITE = re.compile(f"inv_{_UUID}")
_RANDOM = re.compile(f"(?:inv_)?{_UUID}")  # either of them: its last bits name the shard


def new_session_id(beside: SessionId | None = None) -> SessionId:
    """A random id; its last six bits name the shard, which may be that of another session."""
    return SessionId(str(uuid.uuid4() if beside is None else _drawn_in(shard_of(beside))))


def new_invite(session: SessionId) -> Invite:
    """A random invite in the shard of its session."""
    return Invite(f"inv_{_drawn_in(shard_of(session))}")


def _drawn_in(shard: int) -> str:
    drawn = str(uuid.uuid4())
    return f"{drawn[:-2]}{int(drawn[-2:], 16) & -SHARDS | shard:02x}"


def session_id_of(digest: bytes, group: bytes) -> SessionId:
    """The id that a digest stands for; all ids with the same group are in one shard."""
    made = str(uuid.UUID(bytes=digest[:16], version=4))
    return SessionId(f"{made[:-2]}{int(made[-2:], 16) & -SHARDS | group[0] % SHARDS:02x}")


def is_session_id(text: str) -> bool:
    """Whether this could be a session of ours."""
    return _SESSION.fullmatch(text) is not None


def is_invite(text: str) -> bool:
    """Whether this could be an invite of ours."""
    return _INVITE.fullmatch(text) is not None


def shard_of(name: str) -> int:
    """The shard of a session id, an invite or a channel."""
    name = session_of(name)
    if _RANDOM.fullmatch(name):
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


def pair(session: SessionId, pair: str) -> str:
    """Who has sat where on a deal that several sessions share; they are all in one shard."""
    return f"{tag(shard_of(session))}:p:{pair}"


def room_of(channel: Channel) -> SessionId:
    """Under which name a channel is followed: that of its session, or its own if it belongs to none."""
    session = session_of(channel)
    return session if is_session_id(session) else SessionId(channel)


def channels_of(room: SessionId) -> tuple[Channel, ...]:
    """The channels that are followed under a name: the two of a session, or the one that is called so."""
    return (operator_channel(room), player_channel(room)) if is_session_id(room) else (Channel(room),)


def feed(session: SessionId) -> str:
    """Where news of a session, or of a channel of no session, is published."""
    return f"{tag(shard_of(session))}:f:{session}"


def fed_by(feed: str) -> SessionId:
    """Of which session, or channel of no session, a feed tells."""
    return SessionId(feed.partition(":f:")[2])


def blobs(session: SessionId) -> str:
    """Bytes that jobs keep for a session."""
    return f"{tag(shard_of(session))}:b:{session}"


def memory(job: str) -> str:
    """What a job remembers until it is done."""
    return f"{{jobs}}:m:{job}"


def profile(user: str) -> str:
    """A player's profile."""
    return f"u:{user}"


def agent(entrant: str) -> str:
    """What an entrant has declared."""
    return f"a:{entrant}"


def variants(user: str) -> str:
    """The entrants of a user, by the time when each was declared first."""
    return f"av:{user}"


def signatures(user: str) -> str:
    """Signatures that a user has made lately; in the slot of its profile, since such a user's id is hex."""
    return f"{{u:{user}}}:s"


def answers(channel: Channel) -> str:
    """What was answered to those who spoke in a channel that belongs to no session."""
    return f"{tag(shard_of(channel))}:k:{channel}"


def free(channel: Channel) -> str:
    """The channels of a shard that belong to no session, by the time when somebody spoke last."""
    return f"{tag(shard_of(channel))}:free"


def channel_feed(channel: Channel) -> str:
    """Where news of a channel that belongs to no session is published."""
    return f"{tag(shard_of(channel))}:f:{channel}"


def pack_blob(sha256: str) -> str:
    """A text or a file of published packs."""
    return f"{{packs}}:b:{sha256}"


def pack_assets(mark: str) -> str:
    """The files of one version of a pack: record by path."""
    return f"{{packs}}:a:{mark}"


def tournament(id_: str) -> str:
    """What a tournament is, and how it stands."""
    return f"{{tour}}:t:{id_}"


def tournament_games(id_: str) -> str:
    """The games of a tournament by their place in its plan."""
    return f"{{tour}}:g:{id_}"


def tournament_changes(id_: str) -> str:
    """How often something about a tournament has changed."""
    return f"{{tour}}:n:{id_}"


def tournament_owner(id_: str) -> str:
    """The worker that has it played."""
    return f"{{tour}}:o:{id_}"


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
    notes: str


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
        notes=f"{prefix}:r:{session}",
    )
