"""A credential in, a viewer out; nothing deeper ever sees a token."""

import hashlib
import hmac
import re
from collections.abc import Sequence
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from arena.errors import Forbidden, Invalid, Unauthorized
from arena.models import Invite, Millis, Seat, SessionId, UserId

WINDOW = 300_000  # milliseconds that a signature holds, before and after its time
SPKI = "302a300506032b6570032100"  # how the DER of every Ed25519 public key begins
NOBODY = frozenset({None, "", "viewer"})  # handles that stand for no identity

_SESSION_KEY = re.compile(r"s_(0|[1-9][0-9]{0,8})\.([0-9a-f]{64})")
_PUBLIC_KEY = re.compile(SPKI + "[0-9a-f]{64}")
_SIGNATURE = re.compile("[0-9a-fA-F]{128}")
_P = 2**255 - 19  # the field of Ed25519
_SMALL = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7  # y of a point of order 8
_SMALL_ORDER = frozenset({0, 1, _P - 1, _SMALL, _P - _SMALL})  # y of the points under which anything is signed
_TIMESTAMP = re.compile("[0-9]{1,15}")


class Keyring(NamedTuple):
    """What session keys are made with, whether they are required or a handle will do, and what an admin shows."""

    secret: bytes
    required: bool = False
    admin: str | None = None  # none has no admins


class Credential(NamedTuple):
    """What a request shows of its sender: a session key, the handle that it claims, and the token in its header."""

    key: str | None = None
    handle: str | None = None
    bearer: str | None = None


class Viewer(NamedTuple):
    """Who reads or writes: an invite code, in open mode any handle; without a name it sees what everybody may see.

    An admin may do more than others, and sees what packs expect; of games it sees no more.
    """

    name: str | None = None
    admin: bool = False


ANONYMOUS = Viewer()


class Signed(NamedTuple):
    """A public key with a signature of something at a time, all as text."""

    public_key: str
    signature: str
    timestamp: str


def session_key(ring: Keyring, session: SessionId, seat: Seat, invite: Invite) -> str:
    """What a player shows to get back to its seat.

    Where keys are required it is the protocol's formula. In open mode it holds for the invite that sits there only:
    after the store lost a join, somebody else may sit on the same number.
    """
    bound = f"{session}:{seat}" if ring.required else f"{session}:{seat}:{invite}"
    proof = hmac.digest(ring.secret, f"arena:v1:session:{bound}".encode(), "sha256")
    return f"s_{seat}.{proof.hex()}"


def seat_of(ring: Keyring, session: SessionId, players: Sequence[Invite], key: str) -> Seat:
    """The seat that a session key opens in this session."""
    match = _SESSION_KEY.fullmatch(key)
    if match is None:
        raise Unauthorized("This is not a session key.")
    seat = int(match[1])
    invite = players[seat] if seat < len(players) else Invite("")
    if not hmac.compare_digest(session_key(ring, session, seat, invite), key) or not invite:
        raise Unauthorized("This session key does not fit the session.")
    return seat


def viewer_of(
    ring: Keyring, credential: Credential, session: SessionId | None = None, players: Sequence[Invite] = ()
) -> Viewer:
    """Who sends a request about a session, or about none: a handle is believed only where no key is required."""
    admin = fits(credential.bearer, ring.admin)
    if not ring.required:
        return Viewer(None if credential.handle in NOBODY else credential.handle, admin)
    if admin or credential.key is None or session is None:
        return Viewer(admin=admin)
    return Viewer(players[seat_of(ring, session, players, credential.key)])


def check_admin(viewer: Viewer) -> None:
    """Refuse whoever is no admin."""
    if not viewer.admin:
        raise Forbidden("Only an admin may do this: show the token of this server as a bearer.")


def fits(shown: str | None, token: str | None) -> bool:
    """Whether somebody shows a token of this server, told in the same time however much of it is right."""
    if not shown or not token:
        return False
    return hmac.compare_digest(shown.encode(), token.encode())


def sign_in(signed: Signed, purpose: str, now: Millis) -> UserId:
    """The user whose signature of `arena:v1:{purpose}:{timestamp}` this is."""
    if not all(signed):
        raise Invalid("publicKey, signature, and timestamp are required")
    if not _TIMESTAMP.fullmatch(signed.timestamp) or abs(now - int(signed.timestamp)) > WINDOW:
        raise Unauthorized("Timestamp expired")
    if not _is_signed(signed, f"arena:v1:{purpose}:{signed.timestamp}"):
        raise Unauthorized("Invalid signature")
    return user_of(signed.public_key)


def _is_signed(signed: Signed, text: str) -> bool:
    public = signed.public_key.lower()
    if not _PUBLIC_KEY.fullmatch(public) or not _SIGNATURE.fullmatch(signed.signature):
        return False
    point = bytes.fromhex(public.removeprefix(SPKI))
    if not _is_of_somebody(point):
        return False
    try:
        key = Ed25519PublicKey.from_public_bytes(point)
        key.verify(bytes.fromhex(signed.signature), text.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def _is_of_somebody(point: bytes) -> bool:
    """Whether a public key can have an owner, and is written in the one way that there is."""
    y = int.from_bytes(point, "little") & (2**255 - 1)
    return y < _P and y not in _SMALL_ORDER


def user_of(public_key: str) -> UserId:
    """The name of whoever holds a key pair: one per key, however its hex is written."""
    return UserId(hashlib.sha256(public_key.lower().encode()).hexdigest())


def origin(secret: bytes, address: str) -> str:
    """What we remember of an address: enough to count its sessions, not enough to know it."""
    return hashlib.blake2b(address.encode(), key=secret[:64], digest_size=12).hexdigest()
