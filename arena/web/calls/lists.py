"""Lists: what can be played, which sessions there are, and who has played what."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from arena.errors import NotFound
from arena.models import Challenge, Status, UserId, user_behind
from arena.runtime import Arena
from arena.store import index

MOST = 100  # sessions on a page
_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,15})")


class Stretch(NamedTuple):
    """Which part of a list is wanted."""

    limit: int
    offset: int


def stretch(query: Mapping[str, str], default: int) -> Stretch:
    """The part of a list that a query asks for, as lenient as the protocol."""
    limit, offset = _integer(query.get("limit")), _integer(query.get("offset"))
    return Stretch(max(1, min(limit or default, MOST)), max(0, offset))


def _integer(text: str | None) -> int:
    match = _INTEGER.match(text or "")
    return int(match[1]) if match else 0


def metadata(arena: Arena) -> dict[str, Any]:
    """The words of all challenges, by type."""
    return {name: kind.words for name, kind in arena.catalog.challenges.items()}


async def metadata_of(arena: Arena, type: str) -> dict[str, Any]:
    """The words of one challenge."""
    found = await arena.catalog.look_for(type)
    if found is None:
        raise NotFound("Challenge not found")
    return found.words


async def challenges(arena: Arena, part: Stretch, type: str | None = None, status: str | None = None) -> dict[str, Any]:
    """Public sessions, newest first: of one type or all, in one status or any."""
    if type is not None and await arena.catalog.look_for(type) is None:
        return _answer([], 0, part, {})
    wanted = Status(status) if status in set(Status) else None
    return await _page(arena, index.name(type, wanted), part)


async def history(arena: Arena, user: UserId, part: Stretch) -> dict[str, Any]:
    """Public games that a user, or the user of an entrant, has played to their end, newest first."""
    return await _page(arena, index.of_user(user_behind(user)), part)


async def _page(arena: Arena, name: str, part: Stretch) -> dict[str, Any]:
    listed = await arena.index.page(name, part.offset, part.limit)
    found = await arena.lobby.views(listed.ids)
    users = [user for challenge in found for user in challenge.state.player_identities.values()]
    profiles = {user: profile.wire() for user, profile in (await arena.users.profiles(users)).items()}
    return _answer(found, listed.total, part, profiles)


def _answer(found: list[Challenge], total: int, part: Stretch, profiles: dict[UserId, Any]) -> dict[str, Any]:
    views = [challenge.wire() for challenge in found]
    return {"challenges": views, "total": total, "limit": part.limit, "offset": part.offset, "profiles": profiles}
