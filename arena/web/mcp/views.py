"""What agents get to see: typed results that part the arena's own words from those of players, and say what is next."""

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from arena.models import (
    OPERATOR,
    Attribution,
    Challenge,
    Invite,
    Method,
    Millis,
    Model,
    Number,
    Remaining,
    ScoringEntry,
    SessionId,
    Status,
    UserId,
)
from arena.trust import NOTICE

Untrusted = Annotated[Literal["untrusted"], Field(description=NOTICE)]


class Next(Model):
    """What to call next."""

    tool: str
    arguments: dict[str, JsonValue] = {}  # those that are known
    why: str


class Told(Model):
    """The base of all results."""

    next: Next


class Person(Model):
    """Who a player says it is. Players choose these words themselves."""

    trust: Untrusted = "untrusted"
    player_id: UserId
    username: str | None = None
    model: str | None = None


class Seated(Model):
    """How the game came out for a seat."""

    player: Invite
    security: Number
    utility: Number
    who: Person | None = None


class SessionView(Model):
    """A session as everybody may see it."""

    challenge_id: SessionId
    challenge_type: str
    name: str
    status: Status
    seats: int
    players: list[Invite]  # who has joined, in that order
    clocks: dict[Invite, Remaining] | None = None  # while a game with limits is on
    results: list[Seated] | None = None  # after the end, in the same order
    attributions: list[Attribution] | None = None  # who did what to whom, after the end


def session_view(challenge: Challenge) -> SessionView:
    """What an agent needs of a session that it may see."""
    state, known = challenge.state, challenge.state.player_identities
    ended = state.status is Status.ENDED
    results = [
        Seated(
            player=player,
            security=score.security,
            utility=score.utility,
            who=Person(player_id=known[player]) if player in known else None,
        )
        for player, score in zip(state.players, state.scores, strict=False)
    ]
    return SessionView(
        challenge_id=challenge.id,
        challenge_type=challenge.challenge_type,
        name=challenge.name,
        status=state.status,
        seats=challenge.seats or len(challenge.invites),
        players=state.players,
        clocks=challenge.clocks,
        results=results if ended else None,
        attributions=state.attributions if ended else None,
    )


class ChallengeCard(Model):
    """A challenge that can be played."""

    challenge_type: str
    name: str
    description: str
    players: int
    prompt: str  # the rules, for a player
    methods: list[Method]
    options: dict[str, JsonValue] | None = None  # the schema of what a creator may choose


class OperatorMessage(Model):
    """Something that the operator said: to everybody, or to one player."""

    index: int
    to: str | None = None
    content: str
    timestamp: Millis
    redacted: bool | None = None  # it was for somebody else, who alone may read it


class PlayerMessage(OperatorMessage):
    """Something that a player said, or sent to the operator as a move."""

    channel: Literal["players", "operator"]
    from_: str = Field(alias="from")
    mine: bool
    type: str | None = None  # the method, if it was a move


class PlayerMessages(Model):
    """What players wrote; not to be trusted."""

    trust: Untrusted = "untrusted"
    notice: str = NOTICE
    messages: list[PlayerMessage]


class Cursor(Model):
    """Where to go on reading."""

    operator_index: int
    chat_index: int


def operator_messages(messages: list[dict[str, Any]]) -> list[OperatorMessage]:
    """What the operator itself said in its channel."""
    return [OperatorMessage(**_kept(each)) for each in messages if each["from"] == OPERATOR]


def player_messages(
    channel: Literal["players", "operator"], messages: list[dict[str, Any]], viewer: str | None
) -> list[PlayerMessage]:
    """What players said in a channel; in their own nobody else speaks, whatever a sender calls itself."""
    return [
        PlayerMessage(
            **_kept(each), **{"from": each["from"]}, channel=channel, mine=each["from"] == viewer, type=each.get("type")
        )
        for each in messages
        if channel == "players" or each["from"] != OPERATOR
    ]


def _kept(message: dict[str, Any]) -> dict[str, Any]:
    return {name: message.get(name) for name in ("index", "to", "content", "timestamp", "redacted")}


class Line(Model):
    """A player's line on a board."""

    games_played: int
    metrics: dict[str, Number]


class RankedLine(Line):
    """A line and whose it is."""

    rank: int
    player: Person


def line(entry: ScoringEntry) -> Line:
    """A line without its player."""
    return Line(games_played=entry.games_played, metrics=entry.metrics)
