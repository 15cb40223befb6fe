"""Data that crosses a boundary, under the names of the protocol: camelCase on the wire, snake_case in here.

Unknown fields are refused, a number never passes for text or text for a number, and every number can be written.
"""

import hashlib
import json
import re
from enum import StrEnum
from typing import Annotated, Any, Literal, NewType, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

SessionId = NewType("SessionId", str)
Invite = NewType("Invite", str)
UserId = NewType("UserId", str)
Channel = NewType("Channel", str)
Seat: TypeAlias = int  # position in the order of joining, from 0
Millis = NewType("Millis", int)  # since the epoch

Number = Annotated[int, Field(ge=-(2**63), lt=2**63)] | float  # an int that no codec can write becomes a float
Count = Annotated[int, Field(ge=0, lt=2**63)]
Key = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]{1,64}$")]

Decider = Literal["utility", "security"]  # a score that decides who is ahead
DECIDED_BY: tuple[Decider, ...] = ("utility", "security")
BREACH = "security_breach"  # the attribution that scoring knows

PLAYER = "player"  # the role of those who compete
LONGEST = 128  # characters of a name
VARIANT, VARIANT_DIGITS = "~", 12  # what stands between a user and the make of its agent
_VARIANT = re.compile(f"(?<=.){VARIANT}[0-9a-f]{{{VARIANT_DIGITS}}}$")
OPERATOR = "operator"  # who speaks for the arena in a channel
CODE = re.compile(r"[A-Z][A-Z0-9_]*")  # what an error code looks like
MOST_WORDS = 300  # characters of a complaint


def complaint(error: ValidationError) -> str:
    """The first thing that is wrong, with the field it is about."""
    issue = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in issue["loc"])
    return (f"{where}: {issue['msg']}" if where else issue["msg"])[:MOST_WORDS]


def strict_json(value: object) -> bytes:
    """Plain data as JSON; raises for all that JSON cannot hold, NaN and half characters included."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


class Model(BaseModel):
    """The base of every shape on the wire; challenges may use it for their state too."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
        allow_inf_nan=False,  # JSON has no such numbers: they would be written as null
    )

    def wire(self) -> dict[str, Any]:
        """As plain data for a codec: wire names, absent fields left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def to_json(self) -> bytes:
        """As JSON for the store."""
        # What `model_dump_json` does, without its way through text.
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_none=True)

    @classmethod
    def from_json(cls, data: bytes | str) -> Self:
        """Read what `to_json` wrote, also that of a later version which knows more fields."""
        return cls.model_validate_json(data, extra="ignore")

    @classmethod
    def from_wire(cls, data: object) -> Self:
        """Read what a codec decoded, also from a server that knows more fields."""
        return cls.model_validate(data, strict=False, extra="ignore")


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

    model_config = ConfigDict(validate_assignment=True)  # challenges add to it, and a sum may become no number

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


Fact = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST, pattern=r"^[^\x00-\x1f\x7f]*$")]
Fingerprint = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9:+/=._-]{1,128}$")]


class Declared(Model):
    """What an agent says it is made of. It is self-reported: nobody has checked it."""

    owner: Fact | None = None
    model: Fact | None = None
    prompt: Fingerprint | None = None
    harness: Fingerprint | None = None

    @property
    def variant(self) -> str | None:
        """What tells this make of an agent from others, whoever owns it; none if nothing is said of its parts."""
        parts = [self.model, self.prompt, self.harness]
        return hashlib.sha256(strict_json(parts)).hexdigest()[:VARIANT_DIGITS] if any(parts) else None

    def entrant_of(self, user: UserId) -> UserId:
        """Under which name the games of a user count who has declared this."""
        return UserId(f"{user}{VARIANT}{self.variant}") if self.variant else user


class Entrant(Declared):
    """An agent as it had declared itself when it sat down: its games count under this name."""

    id: UserId


def user_behind(name: UserId) -> UserId:
    """The user of an entrant; whoever is no variant of somebody is its own."""
    return UserId(_VARIANT.sub("", name))


class ReportedUsage(Model):
    """What a player says that its model took in a game. Nobody has checked it."""

    calls: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    total_tokens: Count = 0
    cost_usd: Annotated[float, Field(ge=0)] | None = None  # of the calls whose cost was told
    latency_ms: Annotated[float, Field(ge=0)] | None = None  # of all calls together
    models: list[str] = []


class ChallengeOperatorState(Model):
    """The public course of a game; before its end without scores, identities and attributions."""

    status: Status = Status.OPEN
    completed_at: Millis | None = None
    scores: list[Score] = []
    players: list[Invite] = []  # in the order of joining
    player_identities: dict[Invite, UserId] = {}
    attributions: list[Attribution] | None = None
    reported_usage: dict[Invite, ReportedUsage] | None = None  # of players who told what their models took


class Version(Model):
    """Which rules a game was played by."""

    version: str
    content_hash: str


class Reveal(Model):
    """What opens a seed commitment after the end."""

    secret: str
    seed: str
    version: Version
    options: dict[str, JsonValue] = {}


class Remaining(Model):
    """The time that a seat has left, in a way that does not change while it runs."""

    left: int  # milliseconds; while the clock runs, of the moment at which it started
    until: Millis | None = None  # when that is over, while the clock runs


class Course(Model):
    """When the turns of a session came that no message tells of."""

    joined: list[Millis]  # one per player
    started: Millis | None = None
    causes: list[int] | None = None  # of each attribution, the message of the operator channel that it came with


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
    clocks: dict[Invite, Remaining] | None = None  # of a running game with limits
    seeded: bool | None = None  # true if somebody chose the seed
    ranked: bool | None = None  # false if it counts on no board
    pair: str | None = None  # sessions with the same are on the same deal
    course: Course | None = None  # absent until somebody has joined
    roles: dict[Invite, str] | None = None  # of the invites that the viewer knows, where not all are players
    seats: int | None = None  # how many of the invites are players', the first ones; absent where all are


class Method(Model):
    """An action that a challenge offers, with the schema of its arguments for those who build forms."""

    name: str
    description: str
    arguments: dict[str, JsonValue] | None = None
    role: str | None = None  # of those who may use it, where they are not the players


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
    utility: tuple[Number, Number] | None = None  # the least and the greatest score, with the default options
    security: tuple[Number, Number] | None = None
    at_limit: str | None = None  # what happens to a seat whose time is up: forfeit, default or void
    replayable: bool | None = None  # whether two players may swap seats on the same deal


class SeatCard(Model):
    """What a seat's scorecard comes to, over all its cases."""

    overall: Number  # mean over the cases, one without a score counting as 0
    passed: bool
    dimensions: dict[str, Number] = {}  # mean over the cases where each is available
    cases: int
    passes: int
    cost_usd: Number | None = None
    latency_ms: Number | None = None
    tokens: Number | None = None


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
    decided_by: list[Decider] = list(DECIDED_BY)  # as the challenge declares it
    scorecards: list[SeatCard] | None = None  # one per seat, where seats were evaluated
    response_times: list[list[int]] | None = None  # of each seat, move by move in milliseconds, where that can be told
    entrants: dict[Invite, Entrant] | None = None  # of the players who had declared what they are made of
    reported_usage: dict[Invite, ReportedUsage] | None = None  # on the word of the players

    def user(self, seat: int) -> UserId | None:
        """Under which name the game of a seat counts, if it is known who sat there."""
        player = self.players[seat]
        made = self.entrants.get(player) if self.entrants else None
        return self.player_identities.get(player) if made is None else made.id

    @property
    def users(self) -> list[UserId]:
        """The names under which the game counts, in seat order, of the players who are known."""
        named = (self.user(seat) for seat in range(len(self.players)))
        return [name for name in named if name is not None]

    @property
    def deal(self) -> str | None:
        """What games on the same deal have in common, where there can be more than one: they are no separate evidence.

        Those of a pair, and those on a seed that somebody chose.
        """
        return self.pair or (self.seed_commitment if self.seeded else None)

    @property
    def is_void(self) -> bool:
        """Whether the game counts nowhere."""
        return Outcome.VOID in self.outcomes

    @property
    def is_official(self) -> bool:
        """Whether it is on the record, with no user on two seats."""
        users = list(self.player_identities.values())  # two makes of one agent are still one player
        return self.ranked and len(users) == len(set(users))

    @property
    def counts(self) -> bool:
        """Whether any strategy may look at it: not self-play, not void, not off the record."""
        return self.is_official and not self.is_void

    @property
    def breaches(self) -> list[Attribution]:
        """The attributions that say that a secret got out."""
        return [made for made in self.attributions if made.type == BREACH]

    @property
    def places(self) -> list[int]:
        """The place of each seat from 1, equal ones shared; who forfeited or ran out of time comes last."""
        marks = [
            (outcome is Outcome.PLAYED, *(getattr(score, name) for name in self.decided_by))
            for score, outcome in zip(self.scores, self.outcomes, strict=True)
        ]
        return [1 + sum(other > mark for other in marks) for mark in marks]


class MetricDescriptor(Model):
    """A number that a strategy keeps for every player."""

    key: str
    label: str


class ScoringEntry(Model):
    """A player's line on a board."""

    model_config = ConfigDict(revalidate_instances="always")  # strategies may have changed its metrics since

    player_id: UserId
    games_played: int
    metrics: dict[str, Number]


class RankedEntry(ScoringEntry):
    """A player's line with what its profile says."""

    username: str | None = None
    model: str | None = None
    is_benchmark: bool | None = None
