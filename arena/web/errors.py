"""What a client is told over HTTP when something goes wrong: one table from error class to status and body."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from arena.errors import (
    ArenaError,
    BadFrame,
    Forbidden,
    GameNotRunning,
    Internal,
    Invalid,
    InviteAlreadyUsed,
    InviteNotFound,
    KeyReused,
    NotFound,
    PlayerNotFound,
    RateLimited,
    Refused,
    Rejected,
    StoreUnavailable,
    Taken,
    TooLarge,
    Unauthorized,
    UnknownChallengeType,
    UnknownMethod,
    UnknownType,
)

FAILED = "Internal server error"


class Row(NamedTuple):
    """How an error is told; the protocol's own routes name only some codes."""

    status: int
    coded: bool = True


Rows = Mapping[type[ArenaError], Row]

TABLE: Rows = {
    BadFrame: Row(400, coded=False),
    UnknownType: Row(400),
    Invalid: Row(400, coded=False),
    Rejected: Row(400),
    Unauthorized: Row(401, coded=False),
    Forbidden: Row(403),
    NotFound: Row(404, coded=False),
    InviteNotFound: Row(404, coded=False),
    UnknownChallengeType: Row(404, coded=False),
    Refused: Row(400),
    Taken: Row(409),
    InviteAlreadyUsed: Row(409, coded=False),
    PlayerNotFound: Row(400),
    UnknownMethod: Row(400),
    GameNotRunning: Row(400),
    RateLimited: Row(429),
    TooLarge: Row(400),
    KeyReused: Row(409),
    StoreUnavailable: Row(503),
    Internal: Row(500, coded=False),
}

# Where somebody wants to play, the protocol tells everything that is wrong with the wish as 400.
PLAYING: Rows = {
    NotFound: Row(400, coded=False),
    InviteNotFound: Row(400, coded=False),
    UnknownChallengeType: Row(400, coded=False),
    InviteAlreadyUsed: Row(400),
}

# Routes that are not the protocol's tell the code of everything.
CODED: Rows = {error: Row(row.status) for error, row in TABLE.items()}


class Told(NamedTuple):
    """An answer on its way out."""

    status: int
    body: Any
    headers: tuple[tuple[bytes, bytes], ...] = ()


def tell(error: ArenaError, but: Rows | None = None, *, ours: bool = False) -> Told:
    """What a client is told; `but` has the exceptions of a route, and routes that are ours always have a code."""
    kinds = [kind for kind in type(error).__mro__ if kind in TABLE]
    row = next(((but or {}).get(kind) or TABLE[kind]) for kind in kinds)
    body: dict[str, Any] = {"error": FAILED if row.status == 500 else error.message}
    if row.coded or ours:
        body["code"] = error.code
    if isinstance(error, Rejected):
        body["errors"] = error.findings
    if isinstance(error, RateLimited):
        return Told(row.status, body, ((b"retry-after", b"%d" % max(1, math.ceil(error.retry_after))),))
    return Told(row.status, body)
