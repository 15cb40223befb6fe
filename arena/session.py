"""Session, the aggregate: what is stored of a game, and what each viewer may see of it.

Nothing else ever turns a session into something that leaves the server.
"""

import hashlib
import hmac
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field, JsonValue, TypeAdapter

from arena.clocks import OPTION, Clock, Limits, remaining
from arena.errors import Internal, Unreadable
from arena.models import (
    PLAYER,
    Category,
    Challenge,
    ChallengeOperatorState,
    Course,
    Entrant,
    GameResult,
    Invite,
    Millis,
    Model,
    Outcome,
    Remaining,
    Reveal,
    Score,
    Seat,
    SeatCard,
    SessionId,
    Status,
    UserId,
    Version,
)


class Header(Model):
    """What never changes about a session."""

    id: SessionId
    type: str
    name: str  # for people
    created_at: Millis
    invites: list[Invite]
    roles: list[str] = []  # parallel to the invites, players first; none if all are players
    options: dict[str, JsonValue] = {}
    private: bool = False
    secret: str  # hex; with the seed it decides every draw
    seed: str
    seeded: bool = False  # the seed was chosen by the caller
    ranked: bool = True
    commitment: str
    pair: str | None = None  # sessions that share a secret and a seed
    twins: list[SessionId] = []  # the others of the pair
    swap: bool = False  # whether a player may sit elsewhere in a twin
    version: Version
    arena: str  # the version of the server that created it
    origin: str | None = None  # digest of the creator's address, for its limits
    held: dict[Invite, UserId] = {}  # seats that are kept for somebody
    fill_by: Millis | None = None  # when it is removed if seats are free, where that is not the usual time

    @cached_property
    def options_key(self) -> str:
        """The options as text, to tell them from others."""
        return json.dumps(self.options, sort_keys=True)

    @cached_property
    def seats(self) -> int:
        """How many players there are; their seats come before all others."""
        return self.roles.count(PLAYER) if self.roles else len(self.invites)

    def role_of(self, invite: str) -> str:
        """What somebody with this invite is here for."""
        return self.roles[self.invites.index(Invite(invite))] if self.roles else PLAYER

    def rng(self, input_number: int) -> Random:
        """The generator of one input; 0 is the deal."""
        return rng_of(self.secret, self.seed, input_number)


def rng_of(secret: str, seed: str, input_number: int) -> Random:
    """Where all randomness of a game comes from."""
    root = hmac.digest(bytes.fromhex(secret), seed.encode(), "sha256")
    return Random(hmac.digest(root, str(input_number).encode(), "sha256"))  # noqa: S311


def commit_to(secret: str, seed: str, type: str, version: Version, options: Mapping[str, JsonValue]) -> str:
    """The public promise about a deal: nobody can change secret, seed, rules or options after it is given."""
    promised = [secret, seed, type, version.wire(), dict(options)]
    canonical = json.dumps(promised, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


class WaitingJob(Model):
    """A job whose result this session waits for."""

    kind: str
    payload: JsonValue = None


@dataclass(slots=True)
class Spoken:
    """How much of a channel is one seat's."""

    messages: int = 0
    bytes: int = 0


class Standing(ChallengeOperatorState):
    """How a game stands: its public state and what only the engine sees.

    Its lists and dicts are replaced, never changed in place, so that a shallow copy is a copy.
    """

    # The engine's own values, several per move: nothing to check or to note. C's way is taken for both or for neither.
    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__

    joined_at: list[Millis] = []  # one per player
    started_at: Millis | None = None
    causes: list[int] = []  # of each attribution, the message that it came with
    category: Category = Category.TRAIN
    outcomes: list[Outcome] = []
    scorecards: list[SeatCard] | None = None
    entrants: dict[Invite, Entrant] = {}  # of the players who had declared what they are made of
    attendants: list[Invite] = []  # those who sit and do not compete, in the order of joining
    revealed: bool = False  # the operator channel lies open to everybody
    deadlines: dict[str, Millis] = {}
    jobs: dict[str, WaitingJob] = {}
    clocks: list[Clock] = []  # one per seat, if there are limits
    awaited: dict[Seat, Millis] = {}  # since when the game waits for whom, where its rules tell
    times: list[list[int]] = []  # milliseconds that each seat took for its moves
    marks: dict[Seat, Outcome] = {}  # of seats that resigned or ran out of time
    messages: int = 0  # length of the operator channel
    bytes: int = 0
    spoken: list[Spoken] = []  # what each seat has of that

    def clone(self) -> "Standing":
        """A shallow copy: `model_copy` without what it does for other kinds of models."""
        made = Standing.__new__(Standing)
        made.__dict__ = self.__dict__.copy()
        made.__pydantic_fields_set__ = self.__pydantic_fields_set__
        made.__pydantic_extra__ = made.__pydantic_private__ = None
        return made


@dataclass(slots=True, kw_only=True)
class Join:
    """A player takes a seat."""

    kind: Literal["join"] = "join"
    invite: Invite
    user: UserId | None = None
    entrant: Entrant | None = None  # what the user had declared
    at: Millis


@dataclass(slots=True, kw_only=True)
class Act:
    """A seated player's move."""

    kind: Literal["act"] = "act"
    seat: Seat
    type: str = ""
    content: str
    at: Millis


@dataclass(slots=True, kw_only=True)
class Knock:
    """A seated player's move while no game is on, by a door that has the operator answer it."""

    kind: Literal["knock"] = "knock"
    seat: Seat
    type: str = ""
    content: str
    at: Millis


@dataclass(slots=True, kw_only=True)
class Expire:
    """A deadline passed; its time is the deadline, not the moment somebody noticed."""

    kind: Literal["deadline"] = "deadline"
    name: str
    at: Millis


@dataclass(slots=True, kw_only=True)
class Finish:
    """A job is done, or has failed for good."""

    kind: Literal["job"] = "job"
    id: str
    result: JsonValue = None
    failed: str | None = None
    at: Millis


@dataclass(slots=True, kw_only=True)
class Vote:
    """Somebody without a seat says what it likes better."""

    kind: Literal["vote"] = "vote"
    voter: str  # the same for the same person, whatever it is called
    ballot: str
    choice: str
    at: Millis


@dataclass(slots=True, kw_only=True)
class Unveil:
    """The last session of a pair has ended: what was told in private may be seen."""

    kind: Literal["unveil"] = "unveil"
    at: Millis


Input = Annotated[Join | Act | Knock | Expire | Finish | Vote | Unveil, Field(discriminator="kind")]
INPUT: TypeAdapter[Input] = TypeAdapter(Input, config=Model.model_config)  # one line of the input log


def line_of(change: Input) -> bytes:
    """An input as the log keeps it."""
    return INPUT.serializer.to_json(change, exclude_none=True)


@dataclass(frozen=True, slots=True)
class Session:
    """One game instance as it stands in the store."""

    header: Header
    standing: Standing
    game: bytes  # the operator's state as JSON, decoded anew for each input so that a failed one leaves no trace
    tag: str = ""
    version: int = 0  # number of inputs so far

    @property
    def id(self) -> SessionId:
        """Its name everywhere."""
        return self.header.id

    @property
    def handles(self) -> list[Invite]:
        """The invites of those who sit, by seat; empty for a seat that waits for its player."""
        return handles(self.header, self.standing)

    def seat_of(self, invite: str | None) -> Seat | None:
        """Where the holder of an invite sits."""
        taken: list[Any] = self.handles
        return Seat(taken.index(invite)) if invite and invite in taken else None

    @property
    def due(self) -> tuple[str, Millis] | None:
        """The next deadline of a running game."""
        if self.standing.status is not Status.ACTIVE or not self.standing.deadlines:
            return None
        return min(self.standing.deadlines.items(), key=lambda item: (item[1], item[0]))


def handles(header: Header, standing: Standing) -> list[Invite]:
    """Who sits where: players in the order of joining, and after all their seats the others."""
    if not standing.attendants:
        return standing.players
    free = [Invite("")] * (header.seats - len(standing.players))
    return [*standing.players, *free, *standing.attendants]


def result_of(session: Session) -> GameResult:
    """What scoring gets to see of an ended game."""
    header, standing = session.header, session.standing
    if standing.status is not Status.ENDED or standing.started_at is None or standing.completed_at is None:
        raise Internal("Only an ended game has a result.")
    return GameResult(
        game_id=header.id,
        challenge_type=header.type,
        created_at=header.created_at,
        started_at=standing.started_at,
        completed_at=standing.completed_at,
        players=standing.players,
        player_identities=identities(standing),
        scores=standing.scores,
        attributions=standing.attributions or [],
        outcomes=standing.outcomes,
        options=header.options,
        seed_commitment=header.commitment,
        challenge_version=header.version,
        game_category=standing.category,
        pair=header.pair,
        seeded=header.seeded,
        ranked=header.ranked,
        scorecards=standing.scorecards,
        response_times=standing.times or None,
        entrants=standing.entrants or None,
        reported_usage=standing.reported_usage,
    )


def identities(standing: Standing) -> dict[Invite, UserId]:
    """The users among the players."""
    known = standing.player_identities
    return {invite: known[invite] for invite in standing.players if invite in known} if standing.attendants else known


def state_view(session: Session) -> ChallengeOperatorState:
    """The course of a game as everybody may see it."""
    standing = session.standing
    if standing.status is not Status.ENDED:
        return ChallengeOperatorState(status=standing.status, players=standing.players)
    return ChallengeOperatorState(
        status=standing.status,
        completed_at=standing.completed_at,
        scores=standing.scores,
        players=standing.players,
        player_identities=standing.player_identities,
        attributions=standing.attributions,
        reported_usage=standing.reported_usage,
    )


def times(session: Session) -> dict[Invite, Remaining] | None:
    """What each player has left, if there are limits and the game is on."""
    header, standing = session.header, session.standing
    if not standing.clocks or standing.started_at is None:
        return None
    limits = Limits.model_validate(header.options[OPTION])
    return remaining(limits, standing.clocks, standing.players, standing.started_at)


def challenge_view(session: Session, presented: Invite | None = None) -> Challenge:
    """A session as everybody may see it, with the one free invite that the viewer itself presented."""
    header, standing = session.header, session.standing
    ended = standing.status is Status.ENDED
    known = header.invites if ended else [*standing.players, *standing.attendants, presented]
    return Challenge(
        id=header.id,
        name=header.name,
        created_at=header.created_at,
        challenge_type=header.type,
        invites=[invite if invite in known else "" for invite in header.invites],
        state=state_view(session),
        game_state=_game_state(session) if ended and standing.revealed else {},
        game_category=standing.category,
        seed_commitment=header.commitment,
        reveal=reveal_of(header) if standing.revealed else None,
        clocks=times(session),
        seeded=header.seeded or None,
        ranked=None if header.ranked else False,
        pair=header.pair,
        course=course_of(standing),
        roles=roles(header, known),
        seats=header.seats if header.roles else None,
    )


def roles(header: Header, known: Collection[Invite | None]) -> dict[Invite, str] | None:
    """What those are here for whose invites are known."""
    if not header.roles:
        return None
    return {invite: role for invite, role in zip(header.invites, header.roles, strict=True) if invite in known}


def course_of(standing: Standing) -> Course | None:
    """When what came; attributions and all about them are shown at the end."""
    if not standing.joined_at:
        return None
    causes = standing.causes if standing.status is Status.ENDED else None
    return Course(joined=standing.joined_at, started=standing.started_at, causes=causes)


def reveal_of(header: Header) -> Reveal:
    """All that is needed to check a deal."""
    return Reveal(secret=header.secret, seed=header.seed, version=header.version, options=header.options)


def _game_state(session: Session) -> dict[str, Any]:
    try:
        found = orjson.loads(session.game)
    except ValueError:
        raise Unreadable from None
    if not isinstance(found, dict):
        raise Unreadable
    return found


def creator_view(session: Session) -> Challenge:
    """What the one who created a session gets to see, once: every invite, and a score of zero per seat."""
    challenge = challenge_view(session)
    state = challenge.state.model_copy(update={"scores": zeros(session)})
    header = session.header
    told = {"invites": list(header.invites), "state": state, "roles": roles(header, header.invites)}
    return challenge.model_copy(update=told)


def zeros(session: Session) -> list[Score]:
    """The scores of a game in which nothing has happened."""
    return [Score() for _ in range(session.header.seats)]
