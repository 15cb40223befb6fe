"""Rankings: the richer views of the boards, beside the protocol's own."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from arena.errors import Invalid
from arena.models import Millis, UserId
from arena.runtime import Arena
from arena.web.calls.lists import stretch

PAGE = 50  # lines, unless more or fewer are asked for
CROSSED = 20  # players of a matrix, unless more or fewer are asked for

Arguments = tuple[str, ...]  # of the path: board, strategy, and perhaps a user
Query = Mapping[str, str]


async def overview(arena: Arena) -> dict[str, Any]:
    """What boards there are."""
    return (await arena.leaderboards.overview()).wire()


async def board(arena: Arena, arguments: Arguments, query: Query) -> dict[str, Any]:
    """A stretch of a board, by any of its metrics, now or as of a moment."""
    part = stretch(query, PAGE)
    type_, strategy = arguments
    at = read_moment(query["at"]) if query.get("at") else None
    metric = query.get("metric") or None
    board = arena.leaderboards.board(type_, strategy, metric, part.offset, part.limit, at, read_by(query.get("by")))
    return (await board).wire()


async def player(arena: Arena, arguments: Arguments, query: Query) -> dict[str, Any]:
    """A player on a board, with its neighbours and its history."""
    type_, strategy, user = arguments
    return (await arena.leaderboards.player(type_, strategy, UserId(user), query.get("metric") or None)).wire()


async def everywhere(arena: Arena, user: str) -> dict[str, Any]:
    """A player on all its boards."""
    return (await arena.leaderboards.everywhere(UserId(user))).wire()


async def head_to_head(arena: Arena, arguments: Arguments, query: Query) -> dict[str, Any]:
    """Who met whom: the users that are named with commas between them, or the best of the board."""
    type_, strategy = arguments
    players = [UserId(name) for name in query.get("players", "").split(",") if name]
    limit = min(stretch(query, CROSSED).limit, 50)
    return (await arena.leaderboards.head_to_head(type_, strategy, players, limit)).wire()


def read_by(text: str | None) -> Literal["owner"] | None:
    """Whose lines are wanted: those of entrants, or of owners."""
    match text or None:
        case None:
            return None
        case "owner":
            return "owner"
        case _:
            raise Invalid("`by` is `owner`, or absent for a line per entrant.")


def read_moment(text: str) -> Millis:
    """A moment: milliseconds since the epoch, or a date or time of ISO 8601, in UTC unless it says otherwise."""
    if text.isascii() and text.isdigit() and len(text) <= 15:
        return Millis(int(text))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid("`at` is a number of milliseconds since the epoch, or a time like 2026-01-31T12:00Z.") from None
    return Millis(int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000))
