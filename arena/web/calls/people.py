"""People: who they say they are, and what the boards say of them."""

import asyncio
from collections.abc import Iterable
from typing import Any

from arena import auth
from arena.auth import WINDOW, Signed, Viewer
from arena.errors import Invalid, NotFound, UnknownChallengeType
from arena.models import Millis, ScoringEntry, UserId
from arena.runtime import Arena
from arena.scorer import ranked
from arena.scoring import GlobalStrategy
from arena.store.boards import GLOBAL
from arena.web.calls.bodies import Profile, SignedProfile, Words, read, read_truthy

MOST_IDS = 1_000  # users that are looked up at once


async def update(arena: Arena, viewer: Viewer, body: Any) -> dict[str, Any]:
    """Change what is told of a user: of oneself by a signature, or in open mode of anybody."""
    now = arena.clock.now()
    if not arena.ring.required:
        wish = read(Profile, body)
        user = wish.user_id or viewer.name
        if not user:
            raise Invalid("userId is required")
        return (await arena.users.update(UserId(user), _told(wish), now)).wire()
    proof = read_truthy(SignedProfile, body)
    signed = Signed(proof.public_key, proof.signature, proof.timestamp)
    signer = auth.sign_in(signed, "user-update", now)
    told = _told(read(Words, body))
    return (await arena.users.update_signed(signer, told, now, Millis(int(signed.timestamp)), WINDOW)).wire()


def _told(wish: Words) -> dict[str, str]:
    return {name: getattr(wish, name) for name in ("username", "model") if name in wish.model_fields_set}


async def users(arena: Arena) -> list[dict[str, Any]]:
    """Everybody who has told something."""
    return [profile.wire() for profile in await arena.users.all()]


async def user(arena: Arena, id_: str) -> dict[str, Any]:
    """What one user has told."""
    found = await arena.users.profiles([UserId(id_)])
    if not found:
        raise NotFound("User not found")
    return found[UserId(id_)].wire()


async def batch(arena: Arena, ids: str | None) -> dict[str, Any]:
    """What some users have told, by id; commas part the ids."""
    if not ids:
        raise Invalid("ids query parameter is required")
    asked = [UserId(id_) for id_ in ids.split(",") if id_]
    if len(asked) > MOST_IDS:
        raise Invalid(f"At most {MOST_IDS} users can be looked up at once.")
    return {user: profile.wire() for user, profile in (await arena.users.profiles(asked)).items()}


async def scores(arena: Arena, id_: str) -> dict[str, Any]:
    """A user's lines on all boards."""
    overall, player, types = _overall(arena), [UserId(id_)], list(arena.catalog.challenges)
    by_type = await asyncio.gather(*(_lines(arena, type_, player) for type_ in types))
    found = await arena.boards.entries(GLOBAL, overall.name, player)
    return {
        "global": found[0].wire() if found else None,
        "challenges": {
            type_: {name: entries[0].wire() for name, entries in lines.items()}
            for type_, lines in zip(types, by_type, strict=True)
            if lines
        },
    }


async def board(arena: Arena) -> list[dict[str, Any]]:
    """The global board, in the order in which its players first appeared."""
    return await _with_profiles(arena, await arena.boards.entries(GLOBAL, _overall(arena).name))


async def boards(arena: Arena, type: str) -> dict[str, Any]:
    """The boards of a challenge that have a line, by strategy."""
    if await arena.catalog.look_for(type) is None:
        raise UnknownChallengeType("Unknown challenge type")
    lines = await _lines(arena, type, None)
    return {name: await _with_profiles(arena, entries) for name, entries in lines.items()}


async def stats(arena: Arena) -> dict[str, Any]:
    """How much has been played."""
    types = list(arena.catalog.challenges)
    games = dict(zip(types, await asyncio.gather(*map(arena.boards.games, types)), strict=True))
    overall = arena.scorer.overall
    participants = await arena.boards.players(GLOBAL, overall.name) if overall else 0
    return {
        "challenges": {type_: {"gamesPlayed": played} for type_, played in games.items()},
        "global": {"participants": participants, "gamesPlayed": sum(games.values())},
    }


def _overall(arena: Arena) -> GlobalStrategy:
    if arena.scorer.overall is None:
        raise NotFound("Scoring not configured")
    return arena.scorer.overall


async def _lines(arena: Arena, type: str, players: list[UserId] | None) -> dict[str, list[ScoringEntry]]:
    names = [strategy.name for strategy in arena.scorer.strategies(type)]
    found = await asyncio.gather(*(arena.boards.entries(type, name, players) for name in names))
    return {name: entries for name, entries in zip(names, found, strict=True) if entries}


async def _with_profiles(arena: Arena, entries: Iterable[ScoringEntry]) -> list[dict[str, Any]]:
    entries = list(entries)
    profiles = await arena.users.profiles(entry.player_id for entry in entries)
    return [ranked(entry, profiles.get(entry.player_id)).wire() for entry in entries]
