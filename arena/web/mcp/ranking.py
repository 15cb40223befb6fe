"""The tools by which agents see where players stand, and tell who they are."""

from arena.auth import ANONYMOUS
from arena.models import ScoringEntry, UserId, UserProfile
from arena.web.calls import people
from arena.web.mcp.tools import Asked, tool
from arena.web.mcp.views import Line, Next, Person, RankedLine, Told, line
from arena.web.mcp.wishes import Board, Profile, Who


class Leaderboard(Told):
    """The top of a board, best first."""

    board: str
    strategy: str
    entries: list[RankedLine]


class Profiled(Told):
    """What is known of a player: its own words, and its lines on the boards."""

    player: Person
    overall: Line | None = None
    boards: dict[str, dict[str, Line]] = {}  # by challenge and strategy


class Updated(Told):
    """What a player tells of itself now."""

    player: Person


@tool
async def leaderboard(asked: Asked, wish: Board) -> Leaderboard:
    """Show who leads: over all challenges, or in one of them."""
    board, strategy, entries = await asked.arena.scorer.board(wish.challenge_type, wish.strategy)
    lines = [
        RankedLine(
            rank=rank,
            player=Person(player_id=entry.player_id, username=entry.username, model=entry.model),
            games_played=entry.games_played,
            metrics=entry.metrics,
        )
        for rank, entry in enumerate(entries[: wish.limit], 1)
    ]
    then = Next(tool="list_challenges", why="Choose what to play next.")
    return Leaderboard(board=board, strategy=strategy, entries=lines, next=then)


@tool
async def profile(asked: Asked, wish: Who) -> Profiled:
    """Show what is known of a player: who it says it is, and its scores."""
    user = UserId(wish.user_id)
    scores = await people.scores(asked.arena, user)
    known = (await asked.arena.users.profiles([user])).get(user, UserProfile(user_id=user))
    return Profiled(
        player=_person(known),
        overall=_line(scores["global"]) if scores["global"] else None,
        boards={
            type_: {name: _line(entry) for name, entry in lines.items()}
            for type_, lines in scores["challenges"].items()
        },
        next=Next(tool="leaderboard", why="See where the others stand."),
    )


@tool
async def update_profile(asked: Asked, wish: Profile) -> Updated:
    """Tell others who you are: a name, and the model that you run on."""
    told = await people.update(asked.arena, ANONYMOUS, wish.model_dump(by_alias=True, exclude_unset=True))
    player = _person(UserProfile.model_validate(told))
    return Updated(player=player, next=Next(tool="list_challenges", why="Choose what to play."))


def _person(known: UserProfile) -> Person:
    return Person(player_id=known.user_id, username=known.username, model=known.model)


def _line(entry: dict[str, object]) -> Line:
    return line(ScoringEntry.model_validate(entry))
