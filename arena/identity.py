"""Identity: the key pair that a player signs in with, and the files in which it lies."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from arena.auth import user_of
from arena.errors import CannotStart
from arena.models import UserId


def default_folder() -> Path:
    """Where key pairs lie unless told otherwise."""
    return Path.home() / ".arena" / "keys"


@dataclass(frozen=True)
class Identity:
    """A player's key pair."""

    private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def new(cls) -> Self:
        """Somebody new."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a private key file."""
        try:
            key = serialization.load_der_private_key(bytes.fromhex(path.read_text(encoding="ascii").strip()), None)
        except OSError as error:
            raise CannotStart(f"{path} cannot be read: {error.strerror}.") from None
        except (ValueError, TypeError):
            raise CannotStart(f"{path} is no private key file.") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise CannotStart(f"{path} is no Ed25519 key.")
        return cls(key)

    @property
    def public_key(self) -> str:
        """SPKI DER, as hex."""
        return self.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo).hex()

    @property
    def private_key(self) -> str:
        """PKCS8 DER, as hex."""
        return self.private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()).hex()

    @property
    def user(self) -> UserId:
        """The name that the arena gives to whoever holds it."""
        return user_of(self.public_key)

    def sign(self, purpose: str, now: int | None = None) -> dict[str, Any]:
        """What a request says to prove who sends it; the purpose is `join:{invite}` or `user-update`."""
        timestamp = round(time.time() * 1000) if now is None else now
        signature = self.private.sign(f"arena:v1:{purpose}:{timestamp}".encode())
        return {"publicKey": self.public_key, "signature": signature.hex(), "timestamp": timestamp}

    def save(self, folder: Path) -> None:
        """Write both files, the private one for nobody else to read."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            private = os.open(folder / f"{self.user}.key", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(private, "w") as file:
                file.write(self.private_key + "\n")
            (folder / f"{self.user}.pub").write_text(self.public_key + "\n", encoding="ascii")
        except OSError as error:
            raise CannotStart(f"No key can be written to {folder}: {error.strerror}.") from None


def known(folder: Path) -> list[dict[str, str]]:
    """The identities in a folder: names, public keys and where the private ones lie."""
    files = sorted(folder.glob("*.key")) if folder.is_dir() else []
    found = [(path, Identity.load(path)) for path in files]
    return [{"hash": one.user, "publicKey": one.public_key, "file": str(path)} for path, one in found]
