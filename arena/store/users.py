"""Users in the store: what players tell about themselves. A profile is one hash, and there is one list of them all.

The list is written first: a name in it without a profile is left out, one that is missing would never be found.
"""

from collections.abc import Iterable, Mapping, Sequence

from arena.errors import Unauthorized
from arena.models import Millis, UserId, UserProfile, user_behind
from arena.store import keys
from arena.store.nodes import Nodes

FIELDS = ("userId", "username", "model", "isBenchmark")
AGENT = "agent"  # what a user has declared, beside its profile
MOST = 10_000  # users that are listed


class Users:
    """The profiles of a store."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    async def profiles(self, users: Iterable[UserId]) -> dict[UserId, UserProfile]:
        """The profiles of those who have one; a variant of an agent has that of its user."""
        asked = list(dict.fromkeys(users))
        behind = [(user, user_behind(user)) for user in asked]
        names = dict.fromkeys(name for pair in behind for name in pair)
        read = [(keys.profile(name), ("HMGET", keys.profile(name), *FIELDS)) for name in names]
        found = dict(zip(names, await self.nodes.run_all(read), strict=True))
        known = [(user, found[user] if found[user][0] else found[owner]) for user, owner in behind]
        return {user: _profile(user, data) for user, data in known if data[0]}

    async def all(self) -> list[UserProfile]:
        """Everybody who has a profile, in the order of their first."""
        names = await self.nodes.run(keys.USERS, "ZRANGE", keys.USERS, 0, MOST - 1)
        return list((await self.profiles(UserId(name.decode()) for name in names)).values())

    async def update(self, user: UserId, told: Mapping[str, str], now: Millis) -> UserProfile:
        """Change what is told of a user, and keep the rest; told an empty text, it is forgotten."""
        return await self._write(user, told, now, [])

    async def update_signed(
        self, user: UserId, told: Mapping[str, str], now: Millis, signed_at: Millis, window: int
    ) -> UserProfile:
        """The same on the strength of a signature, which holds for one change only, however often that is sent."""
        return await self._write(user, told, now, [signed_at, window])

    async def mark(self, user: UserId, benchmark: bool, now: Millis) -> UserProfile:
        """Say whether a user is a benchmark agent, which nobody says of itself."""
        return await self._write(user, {"isBenchmark": "1" if benchmark else ""}, now, [])

    async def declare(self, user: UserId, declared: str, now: Millis, signed: Sequence[int]) -> None:
        """Keep what a user has declared; signed at a time and for so long, or in open mode by anybody."""
        await self._write(user, {AGENT: declared}, now, signed)

    async def _write(self, user: UserId, told: Mapping[str, str], now: Millis, signed: Sequence[int]) -> UserProfile:
        name = keys.profile(user)
        await self.nodes.run(keys.USERS, "ZADD", keys.USERS, "NX", now, user)
        pairs = [part for field in (*FIELDS, AGENT) if field in told for part in (field, told[field])]
        names = [name, keys.signatures(user)] if signed else [name]
        reply = await self.nodes.script("profile", names, user, now, *(signed or (0, 0)), *pairs)
        if not reply:
            raise Unauthorized("This signature was used for something else.")
        return (await self.profiles([user]))[user]


def _profile(user: UserId, data: Sequence[bytes | None]) -> UserProfile:
    _, username, model, benchmark = data
    return UserProfile(
        user_id=user,
        username=username.decode() if username else None,
        model=model.decode() if model else None,
        is_benchmark=True if benchmark == b"1" else None,
    )
