"""Answers of the side doors that are more than one model: what the calls build, under names of its own."""

from typing import Literal

from pydantic import Field, JsonValue, RootModel

from arena.models import (
    Challenge,
    ChallengeMetadata,
    Channel,
    ChatMessage,
    Declared,
    Entrant,
    Model,
    RankedEntry,
    ScoringEntry,
    SeatCard,
    SessionId,
    UserId,
    UserProfile,
)
from arena.packs.release import Record, Release
from arena.queueing import QueueState


class PackFinding(Model):
    """Something that is wrong with a field of a pack."""

    field: str
    message: str
    line: int | None
    hint: str | None


class Failure(Model):
    """What is wrong: a sentence for people and, where the protocol names one, a code for programs."""

    error: str
    code: str | None = None
    errors: list[PackFinding] | None = None


class AllMetadata(RootModel[dict[str, ChallengeMetadata]]):
    """The challenges of this server, by type."""


class ChallengeList(Model):
    """A page of sessions, newest first, with the profiles of those who played in the ended ones."""

    challenges: list[Challenge]
    total: int
    limit: int
    offset: int
    profiles: dict[UserId, UserProfile]


class Twins(Model):
    """Two sessions on the same deal, each with all its invites."""

    pair: str
    challenges: list[Challenge]


class JoinResult(Model):
    """A seat."""

    challenge_id: SessionId = Field(alias="ChallengeID")
    challenge_info: ChallengeMetadata = Field(alias="ChallengeInfo")


class SignedJoinResult(JoinResult):
    """A seat, and the key that opens it."""

    session_key: str


class Sent(Model):
    """A move has been taken."""

    ok: Literal["Message sent"]


class SyncResult(Model):
    """Messages of a channel, and where to go on."""

    messages: list[ChatMessage]
    count: int
    next: int


class Said(Model):
    """Where a message stands."""

    index: int
    channel: Channel
    from_: str = Field(alias="from")
    to: str | None


class Claimed(Model):
    """An invite has been offered to everybody."""

    success: Literal[True]


class GlobalBoard(RootModel[list[RankedEntry]]):
    """The board over all challenges, in the order in which its players first appeared."""


class Boards(RootModel[dict[str, list[RankedEntry]]]):
    """The boards of a challenge, by strategy."""


class Played(Model):
    """How often a challenge has been played."""

    games_played: int


class Total(Played):
    """How much has been played, and by how many."""

    participants: int


class Stats(Model):
    """How much has been played, by challenge and in all."""

    challenges: dict[str, Played]
    global_: Total = Field(alias="global")


class Profiles(RootModel[list[UserProfile]]):
    """Everybody who has told something."""


class ProfilesById(RootModel[dict[UserId, UserProfile]]):
    """Some profiles, by user."""


class UserScores(Model):
    """A user's lines on all boards."""

    global_: ScoringEntry | None = Field(alias="global")
    challenges: dict[str, dict[str, ScoringEntry]]


class Health(Model):
    """The process lives."""

    status: Literal["ok"]


class Readiness(Model):
    """Whether requests can be served, and if not why."""

    status: Literal["ready", "unavailable"]
    reason: str | None = None


class Document(RootModel[dict[str, JsonValue]]):
    """A document for machines."""


class PackHead(Record):
    """A pack, by its newest version."""

    slug: str
    name: str
    family: str
    description: str
    challenge_pack_id: str
    latest: int
    archived: bool


class PackList(Record):
    """A page of packs, by slug."""

    packs: list[PackHead]
    total: int
    limit: int
    offset: int


class PackDetail(PackHead):
    """A pack with its versions, the newest first."""

    versions: list[Release]


class ReleaseDetail(Release):
    """A version with its manifest."""

    manifest: dict[str, JsonValue]


class RunStage(Model):
    """How far one seat is with one case."""

    seat: int
    case: str
    stage: Literal["waiting", "running", "finished", "scored"]
    failed: str | None = None


class RunList(Model):
    """The runs of a session."""

    challenge_id: SessionId
    runs: list[RunStage]


class SeatScorecards(Model):
    """What the evaluation of a seat found."""

    seat: int
    player: str
    card: SeatCard | None = None
    cases: list[dict[str, JsonValue]]


class AllScorecards(Model):
    """What the evaluation of all seats found."""

    challenge_id: SessionId
    challenge_type: str
    seats: list[SeatScorecards]


class Voted(Model):
    """A vote is taken."""

    ok: str


class QueueTicket(QueueState):
    """A ticket as its owner may see it."""


class QueueLength(Model):
    """How many wait for a challenge."""

    challenge_type: str
    waiting: dict[Literal["ranked", "practice"], int]


class QueueAnswer(RootModel[QueueTicket | QueueLength]):
    """A ticket, or how many wait."""


class AgentCard(Model):
    """What a user has declared of its agent; nobody has checked it."""

    user_id: UserId
    entrant: UserId
    declared: Declared
    variants: list[Entrant]
    self_reported: Literal[True]
