"""Previews: what a link to a page says of it to those who have not opened it, from what everybody may know."""

from collections.abc import Awaitable, Callable, Mapping
from html import escape
from typing import NamedTuple

from arena.errors import ArenaError
from arena.models import SessionId, Status, UserId, UserProfile
from arena.runtime import Arena
from arena.session import challenge_view
from arena.store.boards import GLOBAL
from arena.tournament.standings import standings

SITE = "Arena"
LEADERS = 3
LONGEST = 200  # characters of a title or a sentence; names can be long


class Preview(NamedTuple):
    """A title, and a sentence or two."""

    title: str
    words: str


ABOUT = Preview(SITE, "Watch AI agents play games of secrets, live.")


async def preview(arena: Arena, view: str, named: Mapping[str, str]) -> Preview:
    """What to say of a page; of one that is not there, or cannot be read now, what is true of all."""
    if view not in VIEWS:
        return ABOUT
    try:
        return await VIEWS[view](arena, *named.values())
    except ArenaError:
        return ABOUT


async def _session(arena: Arena, id_: str) -> Preview:
    shown = challenge_view(await arena.engine.get(SessionId(id_)))
    state, seats = shown.state, shown.seats or len(shown.invites)
    match state.status:
        case Status.OPEN:
            return Preview(
                f"{shown.name} · {SITE}", f"Waiting for players: {len(state.players)} of {seats} seats taken."
            )
        case Status.ACTIVE:
            return Preview(f"{shown.name} · live · {SITE}", f"{seats} agents play right now. Watch what they say.")
    profiles = await arena.users.profiles(state.player_identities.values())
    names = [state.player_identities.get(player) for player in state.players]
    told = [
        f"{_name(name, profiles) if name else f'Player {seat + 1}'}: "
        f"security {score.security:g}, utility {score.utility:g}"
        for seat, (name, score) in enumerate(zip(names, state.scores, strict=False))
    ]
    return Preview(f"{shown.name} · {SITE}", "; ".join(["Replay of a finished game", *told]) + ".")


async def _invitation(arena: Arena, id_: str) -> Preview:
    shown = challenge_view(await arena.engine.get(SessionId(id_)))
    words = arena.catalog.challenge(shown.challenge_type).metadata.description
    return Preview(f"Take a seat: {shown.name} · {SITE}", words)


async def _board(arena: Arena, type_: str) -> Preview:
    strategies = [counting.name for known, counting in arena.leaderboards.known() if known == type_]
    if not strategies:
        return ABOUT
    board = await arena.leaderboards.board(type_, strategies[0], limit=LEADERS)
    leaders = [f"{row.rank}. {row.username or row.player_id}" for row in board.rows]
    name = "All challenges" if type_ == GLOBAL else arena.catalog.challenge(type_).metadata.name
    counted = f"{board.players} players, {board.games} games."
    return Preview(f"{name} · Leaderboard · {SITE}", " ".join([counted, *leaders]))


async def _player(arena: Arena, id_: str) -> Preview:
    user = UserId(id_)
    profiles = await arena.users.profiles([user])
    lines = (await arena.leaderboards.everywhere(user)).boards
    profile = profiles.get(user)
    model = [f"Plays with {profile.model}."] if profile and profile.model else []
    places = [
        f"Rank {line.row.rank} of {line.players} in {line.challenge_type}, {line.strategy}." for line in lines[:3]
    ]
    return Preview(f"{_name(user, profiles)} · {SITE}", " ".join([*model, *places]) or "A player of this arena.")


async def _challenge(arena: Arena, type_: str) -> Preview:
    words = arena.catalog.challenge(type_).metadata
    return Preview(f"{words.name} · {SITE}", words.description)


async def _tournaments(arena: Arena) -> Preview:
    return Preview(f"Tournaments · {SITE}", "Who played whom, how it stands, and what came of it.")


async def _tournament(arena: Arena, id_: str) -> Preview:
    entry = await arena.tournaments.load(id_)
    rows = standings(entry.setup, entry.head.rules, entry.done)
    leaders = [f"{row.rank}. {row.agent}" for row in rows[:LEADERS]]
    played = f"{len(entry.done)} games of {len(rows)} agents, {entry.standing.phase}."
    return Preview(f"{entry.setup.challenge}, {entry.setup.format} · {SITE}", " ".join([played, *leaders]))


async def _scorecards(arena: Arena, id_: str) -> Preview:
    said = await _session(arena, id_)
    cards = (await arena.engine.get(SessionId(id_))).standing.scorecards
    if not cards:
        return said
    told = [
        f"Player {seat + 1}: {card.overall:.2f}, {card.passes} of {card.cases} cases passed"
        for seat, card in enumerate(cards)
    ]
    return Preview(f"Scorecards · {said.title}", "; ".join(told) + ".")


async def _packs(arena: Arena) -> Preview:
    await arena.library.refresh()
    count = len(arena.library.all())
    packs = "1 challenge pack" if count == 1 else f"{count} challenge packs"
    return Preview(f"Packs · {SITE}", f"{packs} to play: cases, and how their answers are scored.")


async def _pack(arena: Arena, slug: str) -> Preview:
    await arena.library.refresh()
    newest = arena.library.releases(slug)[0]
    return Preview(f"{newest.name} · Pack · {SITE}", newest.description or newest.name)


async def _sit(arena: Arena) -> Preview:
    return Preview(f"Your seat · {SITE}", "Somebody asks you to judge, or to speak for a person, while agents play.")


VIEWS: dict[str, Callable[..., Awaitable[Preview]]] = {
    "/session/{id}": _session,
    "/session/{id}/scorecards": _scorecards,
    "/packs": _packs,
    "/packs/{slug}": _pack,
    "/sit": _sit,
    "/play/{id}": _invitation,
    "/boards/{type}": _board,
    "/players/{id:path}": _player,
    "/challenges/{type}": _challenge,
    "/tournaments": _tournaments,
    "/tournaments/{id}": _tournament,
}


def _name(user: UserId, profiles: Mapping[UserId, UserProfile]) -> str:
    profile = profiles.get(user)
    return (profile.username if profile else None) or user


def tags(said: Preview, address: str) -> str:
    """The head of the document, in which everything is text whoever wrote it."""
    title, words, url = (escape(_clip(text)) for text in (said.title, said.words, address))
    return "\n    ".join(
        (
            f'<meta name="description" content="{words}">',
            f'<meta property="og:title" content="{title}">',
            f'<meta property="og:description" content="{words}">',
            f'<meta property="og:site_name" content="{SITE}">',
            '<meta property="og:type" content="website">',
            f'<meta property="og:url" content="{url}">',
            '<meta name="twitter:card" content="summary">',
            f"<title>{title}</title>",
        )
    )


def _clip(text: str) -> str:
    clean = "".join(sign for sign in text if sign.isprintable())
    return clean if len(clean) <= LONGEST else clean[: LONGEST - 1] + "…"
