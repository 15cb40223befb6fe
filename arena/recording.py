"""Recording: one session with everything that was said in it, as everybody may see it."""

from arena import chat
from arena.archived import Begin, GameLine, Line, ProfileLine, ResultLine, game_line
from arena.chat import operator_channel, player_channel
from arena.history import is_revealed
from arena.runtime import Arena
from arena.session import Session, challenge_view

WHOLE = 10**9  # messages, more than any channel holds


async def game_of(arena: Arena, session: Session) -> GameLine:
    """A session for an archive."""
    messages = []
    for channel in (operator_channel(session.id), player_channel(session.id)):
        page = await arena.sessions.tail(channel, WHOLE)
        messages += chat.read(page.entries, page.first, None, revealed=is_revealed(session, channel))
    return game_line(session, challenge_view(session), messages, await arena.sessions.inputs(session.id))


async def record(arena: Arena, session: Session) -> list[Line]:
    """An archive of one session: who played, how it ended if it has, and the game itself."""
    game = await game_of(arena, session)
    profiles = await arena.users.profiles(sorted(set(game.challenge.state.player_identities.values())))
    return [
        Begin(server=arena.settings.server, exported_at=arena.clock.now()),
        *(ProfileLine(profile=profile) for profile in profiles.values()),
        *([ResultLine(result=game.result)] if game.result else []),
        game,
    ]
