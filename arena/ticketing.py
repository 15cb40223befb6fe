"""Ticketing: what somebody wants to play, made a ticket that the others can be held against."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from arena.engine import Engine
from arena.errors import Refused
from arena.models import PLAYER, Millis, UserId
from arena.pairing import START, Ticket
from arena.scorer import Scorer

# Boards that rate players, the best first: their number, where players begin, and how much of it is an Elo point.
RATED = {
    "glicko2": ("glicko2:rating", 1500.0, 1.0),
    "openskill": ("openskill:mu", 25.0, 50.0),
    "elo": ("elo:rating", 1500.0, 1.0),
}


class Wish(NamedTuple):
    """What somebody wants to play, and who that is."""

    type: str
    options: Mapping[str, JsonValue] | None = None
    ranked: bool = True
    user: UserId | None = None
    proven: bool = False  # by a signature; other names are only believed
    origin: str = ""
    key: str | None = None


class Tickets:
    """Makes tickets."""

    def __init__(self, engine: Engine, scorer: Scorer, secret: bytes) -> None:
        self.engine = engine
        self.scorer = scorer
        self.secret = secret

    async def ticket(self, wish: Wish, now: Millis) -> Ticket:
        """A ticket for a wish, or why there is none."""
        seats, options = await self.offer(wish.type, wish.options)
        lane = hashlib.blake2b(orjson.dumps([wish.ranked, options], option=orjson.OPT_SORT_KEYS), digest_size=8)
        return Ticket(
            id=self._name(wish, lane.hexdigest()),
            lane=lane.hexdigest(),
            seats=seats,
            options=dict(wish.options or {}),
            ranked=wish.ranked,
            user=wish.user,
            origin=wish.origin,
            rating=await self._rating(wish.type, wish.user),
            at=now,
        )

    async def offer(self, type: str, options: Mapping[str, JsonValue] | None) -> tuple[int, dict[str, JsonValue]]:
        """How many play, and by which options in full; refuses what cannot be queued for."""
        kind, options, _ = await self.engine.catalog.offer(type, options)
        operator = kind.operator(options)
        if reason := operator.lacks(self.engine.parts):
            raise Refused("CANNOT_PLAY", f"This cannot be played here: {reason}.")
        if any(role != PLAYER for role in operator.roles()):
            raise Refused("CANNOT_QUEUE", "This needs somebody at the table who does not compete.")
        return operator.players, operator.canonical

    def _name(self, wish: Wish, lane: str) -> str:
        """The id of a ticket, which opens it: drawn, or the same for the same key of the same owner."""
        if wish.key is None:
            return f"tkt_{secrets.token_hex(16)}"
        owner = orjson.dumps(["ticket", wish.type, wish.user or "", "" if wish.user else wish.origin, wish.key, lane])
        return f"tkt_{hmac.digest(self.secret, owner, 'sha256').hex()[:32]}"

    async def _rating(self, type: str, user: UserId | None) -> float | None:
        """Where a player stands, in points like Elo's; none without a board that rates."""
        names = {strategy.name for strategy in self.scorer.strategies(type)}
        rated = next((name for name in RATED if name in names), None)
        if user is None or rated is None:
            return None
        key, start, scale = RATED[rated]
        entrant = await self.engine.agents.entrant(user)
        entries = await self.scorer.boards.entries(type, rated, [entrant.id if entrant else user])
        value = entries[0].metrics.get(key) if entries else None
        return None if value is None else START + (value - start) * scale
