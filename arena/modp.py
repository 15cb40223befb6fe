"""The group in which bots hide numbers from each other: 1536-bit MODP of RFC 3526.

Its prime is a safe one: the squares form a group of prime order, which 2 and every other square but 1 generate.
"""

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

PRIME = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F"
    "83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA237327FFFFFFFFFFFFFFFF",
    16,
)


def _hides(digits: str) -> str:
    if not 1 < int(digits, 16) < PRIME - 1:
        raise ValueError("not a number that hides anything")
    return digits


Element = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{1,384}$"), AfterValidator(_hides)]  # as messages have it
