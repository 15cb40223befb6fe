"""What the server sends over WebSocket: a model per frame, and what a reply to each command holds."""

from typing import Any, Literal

from pydantic import Field, create_model

from arena import wire
from arena.models import (
    Challenge,
    ChallengeMetadata,
    ChallengeOperatorState,
    Channel,
    ChatMessage,
    Course,
    Invite,
    Millis,
    Model,
    Number,
    RankedEntry,
    SessionId,
    UserId,
    UserProfile,
)
from arena.queueing import QueueState
from arena.web.spec.shapes import AllScorecards, Said, Sent, SyncResult, Twins, Voted


class Seated(Model):
    """A seat, and the key that opens it again."""

    challenge_id: SessionId = Field(alias="ChallengeID")
    challenge_info: ChallengeMetadata = Field(alias="ChallengeInfo")
    session_key: str
    player_index: int


class Nothing(Model):
    """It is done."""


class Sessions(Model):
    """The sessions that wait or run; empty after `off`."""

    challenges: list[Challenge] | None = None
    total: int | None = None
    last_lines: dict[SessionId, ChatMessage] | None = None
    spectators: dict[SessionId, int] | None = None


class Board(Model):
    """The top of a board; empty after `off`."""

    challenge_type: str | None = None
    strategy: str | None = None
    entries: list[RankedEntry] | None = None


class Ticket(Model):
    """How a ticket stands; empty after `off` where there was none."""

    challenge_type: str | None = None
    ticket: str | None = None
    status: Literal["waiting", "matched", "failed", "gone"] | None = None
    ranked: bool | None = None
    since: Millis | None = None
    seats: int | None = None
    challenge_id: SessionId | None = None
    invite: Invite | None = None
    code: str | None = None
    error: str | None = None


class Time(Model):
    """What the server's clock says."""

    time: Millis


RESULTS: dict[type[wire.Frame], type[Model]] = {
    wire.Create: Challenge,
    wire.Pair: Twins,
    wire.Join: Seated,
    wire.Resume: Seated,
    wire.Watch: Challenge,
    wire.Unwatch: Nothing,
    wire.Message: Sent,
    wire.Chat: Said,
    wire.Sync: SyncResult,
    wire.Lobby: Sessions,
    wire.Leaderboard: Board,
    wire.Queue: Ticket,
    wire.Scorecards: AllScorecards,
    wire.Vote: Voted,
    wire.Ping: Time,
}


class Welcome(Model):
    """The first frame of every connection."""

    type: Literal["welcome"]
    protocol: Literal["arena.v1"]
    server: str
    time: Millis
    auth: Literal["open", "required"]  # whether players sign in with a key pair
    limits: dict[str, Number]


class Error(Model):
    """A refused frame, or bad news about something asked for earlier; the connection stays open."""

    type: Literal["error"]
    id: str | int | None = None
    error: str
    code: str = Field(pattern="^[A-Z][A-Z0-9_]*$")
    retry_after: Number | None = None
    challenge_id: SessionId | None = None


class Initial(Model):
    """After join, resume or watch: the history of a channel as you may see it, or its first page."""

    type: Literal["initial"]
    channel: Channel
    messages: list[ChatMessage]
    next: int
    epoch: str
    recovered: bool


class NewMessage(Model):
    """A message in a channel that you follow."""

    type: Literal["new_message"]
    message: ChatMessage
    epoch: str


class State(Model):
    """Status, players, clocks or presence have changed; only the newest is sent."""

    type: Literal["state"]
    challenge_id: SessionId
    state: ChallengeOperatorState
    clocks: dict[str, Number | list[Invite]] | None = None
    connected: list[Invite]
    spectators: int


class FinalState(ChallengeOperatorState):
    """The state of an ended game, with its course and the profiles of those who played."""

    profiles: dict[UserId, UserProfile]
    course: Course | None = None


class GameEnded(Model):
    """A game that you follow is over; comes once, after its last message."""

    type: Literal["game_ended"]
    challenge_id: SessionId
    data: FinalState


class SessionChanged(Model):
    """To those in the lobby: something has happened to a session."""

    type: Literal["session"]
    event: Literal["created", "started", "changed", "ended", "removed"]
    challenge: Challenge
    last_line: ChatMessage | None = None
    spectators: int | None = None


class LeaderboardChanged(Model):
    """To those who follow a board: it has changed."""

    type: Literal["leaderboard"]
    challenge_type: str
    strategy: str
    entries: list[RankedEntry]


class QueueChanged(QueueState):
    """To the owner of a ticket: something has come of it, most often the invite of a seat."""

    type: Literal["queue"]


PUSHES: tuple[type[Model], ...] = (
    Welcome,
    Initial,
    NewMessage,
    State,
    GameEnded,
    SessionChanged,
    LeaderboardChanged,
    QueueChanged,
)


def _reply(command: type[wire.Frame], result: type[Model]) -> type[Model]:
    words = f"The answer to `{command.__name__.lower()}`."
    fields: dict[str, Any] = {"type": Literal["reply"], "id": (str | int | None, None), "result": result}
    return create_model(f"{command.__name__}Reply", __base__=Model, __doc__=words, **fields)


REPLIES = {command: _reply(command, result) for command, result in RESULTS.items()}
