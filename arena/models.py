"""Data that crosses a boundary, under the names of the protocol: camelCase on the wire, snake_case in here.

Unknown fields are refused, and a number never passes for text or text for a number.
"""

import re
from enum import StrEnum
from typing import Annotated, Any, NewType, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

SessionId = NewType("SessionId", str)
Invite = NewType("Invite", str)
UserId = NewType("UserId", str)
Channel = NewType("Channel", str)
Seat: TypeAlias = int  # position in the order of joining, from 0
Millis = NewType("Millis", int)  # since the epoch

Number = Annotated[int | float, Field(allow_inf_nan=False)]
Key = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]{1,64}$")]

OPERATOR = "operator"  # who speaks for the arena in a channel
CODE = re.compile(r"[A-Z][A-Z0-9_]*")  # what an error code looks like
MOST_WORDS = 300  # characters of a complaint


def complaint(error: ValidationError) -> str:
    """The first thing that is wrong, with the field it is about."""
    issue = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in issue["loc"])
    return (f"{where}: {issue['msg']}" if where else issue["msg"])[:MOST_WORDS]


class Model(BaseModel):
    """The base of every shape on the wire; challenges may use it for their state too."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
    )

    def wire(self) -> dict[str, Any]:
        """As plain data for a codec: wire names, absent fields left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def to_json(self) -> bytes:
        """As JSON for the store."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()

    @classmethod
    def from_json(cls, data: bytes | str) -> Self:
        """Read what `to_json` wrote, also that of a later version which knows more fields."""
        return cls.model_validate_json(data, extra="ignore")


class Status(StrEnum):
    """Where a session is in its life."""

    OPEN = "open"
    ACTIVE = "active"
    ENDED = "ended"


class Category(StrEnum):
    """What a game was for, told by how many of its players are benchmark agents."""

    TRAIN = "train"
    TEST = "test"
    BENCHMARK = "benchmark"


class Outcome(StrEnum):
    """How a seat's game came to its end."""

    PLAYED = "played"
    FORFEIT = "forfeit"
    TIMEOUT = "timeout"
    VOID = "void"


class ChatMessage(Model):
    """One entry of a channel, as one viewer may see it."""

    channel: Channel
    from_: str = Field(alias="from")
    to: str | None = None
    content: str
    timestamp: Millis
    index: int
    type: str | None = None  # the action's name, on messages that were moves
    redacted: bool | None = None  # true or absent


class Score(Model):
    """What a player kept and what it achieved."""

    security: Number = 0
    utility: Number = 0


class Attribution(Model):
    """Who did what to whom; both are invite codes."""

    from_: Invite = Field(alias="from")
    to: Invite
    type: str


class UserProfile(Model):
    """What a player told about itself."""

    user_id: UserId
    username: str | None = None
    model: str | None = None
    is_benchmark: bool | None = None


class ChallengeOperatorState(Model):
    """The public course of a game; before its end without scores, identities and attributions."""

    status: Status = Status.OPEN
    completed_at: Millis | None = None
    scores: list[Score] = []
    players: list[Invite] = []  # in the order of joining
    player_identities: dict[Invite, UserId] = {}
    attributions: list[Attribution] | None = None


class Reveal(Model):
    """What opens a seed commitment after the end."""

    secret: str
    seed: str


class Challenge(Model):
    """A session as one viewer may see it."""

    id: SessionId
    name: str
    created_at: Millis
    challenge_type: str
    invites: list[str]  # "" stands for a code that the viewer may not know
    state: ChallengeOperatorState
    game_state: dict[str, Any] = {}
    game_category: Category = Category.TRAIN
    seed_commitment: str | None = None
    reveal: Reveal | None = None


class Method(Model):
    """An action that a challenge offers, with the schema of its arguments for those who build forms."""

    name: str
    description: str
    arguments: dict[str, JsonValue] | None = None


class ChallengeMetadata(Model):
    """The words a player reads first."""

    name: str
    description: str
    players: int
    prompt: str
    methods: list[Method] = []
    authors: list[dict[str, str]] | None = None
    tags: list[str] | None = None
    url: str | None = None
    icon: str | None = None
    color: str | None = None
    options: dict[str, JsonValue] | None = None  # the schema of what a creator may choose


class Version(Model):
    """Which rules a game was played by."""

    version: str
    content_hash: str


class GameResult(Model):
    """What scoring strategies get to see of an ended game."""

    game_id: SessionId
    challenge_type: str
    created_at: Millis
    started_at: Millis
    completed_at: Millis
    players: list[Invite]
    player_identities: dict[Invite, UserId]
    scores: list[Score]
    attributions: list[Attribution] = []
    outcomes: list[Outcome]  # one per seat
    options: dict[str, JsonValue] = {}
    seed_commitment: str
    challenge_version: Version
    game_category: Category = Category.TRAIN
    pair: str | None = None
    seeded: bool = False  # the seed was chosen by the caller
    ranked: bool = True

    def user(self, seat: int) -> UserId | None:
        """Who sat there, if that is known."""
        return self.player_identities.get(self.players[seat])

    @property
    def users(self) -> list[UserId]:
        """The known players, in seat order."""
        return [user for seat in range(len(self.players)) if (user := self.user(seat)) is not None]

    @property
    def counts(self) -> bool:
        """Whether any strategy may look at it: not self-play, not void, not off the record."""
        users = self.users
        return self.ranked and len(users) == len(set(users)) and Outcome.VOID not in self.outcomes


class MetricDescriptor(Model):
    """A number that a strategy keeps for every player."""

    key: str
    label: str


class ScoringEntry(Model):
    """A player's line on a board."""

    player_id: UserId
    games_played: int
    metrics: dict[str, Number]


class RankedEntry(ScoringEntry):
    """A player's line with what its profile says."""

    username: str | None = None
    model: str | None = None
    is_benchmark: bool | None = None
