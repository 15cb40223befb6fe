"""Back-fill: which house bots take the seats that nobody else wants, and under which names. Pure."""

import hashlib
import hmac
from collections.abc import Collection, Iterable, Iterator
from random import Random

from arena.models import UserId
from arena.store.queues import Place

PREFIX = "house"


def line_up(type: str, bots: Iterable[str], count: int, taken: Collection[UserId | None], match: str) -> list[Place]:
    """So many bots for a match: the same ones whoever asks, and no name that is at the table already."""
    known = sorted(bots)
    first = int.from_bytes(hashlib.blake2b(match.encode(), digest_size=4).digest())
    chosen = [known[(first + number) % len(known)] for number in range(count)]
    places: list[Place] = []
    for bot in chosen:
        names = {*taken, *(place.user for place in places)}
        places.append(Place(bot=bot, user=next(name for name in _names(type, bot) if name not in names)))
    return places


def _names(type: str, bot: str) -> Iterator[UserId]:
    """The names of one bot: itself, and others of its kind at the same table."""
    yield UserId(f"{PREFIX}/{type}/{bot}")
    number = 2
    while True:
        yield UserId(f"{PREFIX}/{type}/{bot}-{number}")
        number += 1


def dice_of(secret: bytes, match: str, seat: int) -> Random:
    """The randomness of a bot: whoever goes on playing for it draws the same, and nobody else knows it."""
    return Random(hmac.digest(secret, f"arena:v1:house:{match}:{seat}".encode(), "sha256"))  # noqa: S311
