"""Signing keys in the store: what records are signed with, one key after the other; the last one is in use.

A key is numbered, and written only where its number is free, so that several workers make one key and not several.
"""

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.errors import Internal, Taken
from arena.identity import Identity
from arena.models import Millis, Model
from arena.store import keys
from arena.store.nodes import Nodes


class PublicKey(Model):
    """What everybody may know of a key."""

    number: int
    algorithm: str = "Ed25519"
    public_key: str  # SPKI DER, as hex
    created_at: Millis
    retired_at: Millis | None = None  # it signs nothing any more; what it has signed holds
    revoked_at: Millis | None = None  # somebody else may have it: what it has signed proves nothing


class KeyPair(PublicKey):
    """A key as the store keeps it; one that is retired has no private half."""

    private_key: str | None = None  # PKCS8 DER, as hex

    @property
    def private(self) -> Ed25519PrivateKey:
        """What signs."""
        if self.private_key is None:
            raise Internal("A key that is retired cannot sign.")
        key = serialization.load_der_private_key(bytes.fromhex(self.private_key), None)
        if not isinstance(key, Ed25519PrivateKey):
            raise Internal("The signing key is no Ed25519 key.")
        return key

    @property
    def shown(self) -> PublicKey:
        """Without its private half."""
        return PublicKey.from_json(self.to_json())


class Signing:
    """The keys that records of this store are signed with."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    async def current(self, now: Millis) -> KeyPair:
        """The key in use, made now if there is none."""
        found = await self._all()
        if found:
            return found[-1]
        await self._add(1, now)
        return (await self._all())[-1]

    async def published(self) -> list[PublicKey]:
        """All keys there have been, the newest first."""
        return [pair.shown for pair in reversed(await self._all())]

    async def is_revoked(self, public_key: str) -> bool:
        """Whether what a key has signed proves nothing."""
        return any(pair.public_key == public_key and pair.revoked_at for pair in await self._all())

    async def rotate(self, now: Millis, *, revoke: bool) -> KeyPair:
        """Sign with a new key from now on. The private half of the old one is forgotten; revoked, nobody trusts it."""
        old = await self.current(now)
        if not await self._add(old.number + 1, now):
            raise Taken("ROTATED", "Somebody else has made a new key at this moment.")
        changed = {"retired_at": now, "revoked_at": now if revoke else None, "private_key": None}
        kept = old.model_copy(update=changed)
        await self.nodes.run(keys.SIGNING, "HSET", keys.SIGNING, str(old.number), kept.to_json())
        return await self.current(now)

    async def _add(self, number: int, now: Millis) -> bool:
        made = Identity.new()
        pair = KeyPair(number=number, public_key=made.public_key, private_key=made.private_key, created_at=now)
        return bool(await self.nodes.run(keys.SIGNING, "HSETNX", keys.SIGNING, str(number), pair.to_json()))

    async def _all(self) -> list[KeyPair]:
        found = await self.nodes.run(keys.SIGNING, "HVALS", keys.SIGNING)
        return sorted(map(KeyPair.from_json, found), key=lambda pair: pair.number)
