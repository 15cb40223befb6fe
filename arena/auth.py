"""A credential in, a seat out; nothing deeper ever sees a token."""

import hashlib
import hmac
import re
from collections.abc import Sequence

from arena.errors import Unauthorized
from arena.models import Invite, Seat, SessionId

_SESSION_KEY = re.compile(r"s_(0|[1-9][0-9]{0,8})\.([0-9a-f]{64})")


def session_key(secret: bytes, session: SessionId, seat: Seat, invite: Invite) -> str:
    """What a player shows to get back to its seat.

    It holds for the invite that sits there: after the store lost a join, somebody else may sit on the same number.
    """
    proof = hmac.digest(secret, f"arena:v1:session:{session}:{seat}:{invite}".encode(), "sha256")
    return f"s_{seat}.{proof.hex()}"


def seat_of(secret: bytes, session: SessionId, players: Sequence[Invite], key: str) -> Seat:
    """The seat that a session key opens in this session."""
    match = _SESSION_KEY.fullmatch(key)
    if match is None:
        raise Unauthorized("This is not a session key.")
    seat = int(match[1])
    invite = players[seat] if seat < len(players) else Invite("")
    if not hmac.compare_digest(session_key(secret, session, seat, invite), key) or not invite:
        raise Unauthorized("This session key does not fit the session.")
    return seat


def origin(secret: bytes, address: str) -> str:
    """What we remember of an address: enough to count its sessions, not enough to know it."""
    return hashlib.blake2b(address.encode(), key=secret[:64], digest_size=12).hexdigest()
