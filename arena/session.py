"""Session, the aggregate: what is stored of a game, and what each viewer may see of it.

Nothing else ever turns a session into something that leaves the server.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Annotated, Literal

import orjson
from pydantic import Field, JsonValue, TypeAdapter

from arena.errors import Internal
from arena.models import (
    Category,
    Challenge,
    ChallengeOperatorState,
    GameResult,
    Invite,
    Millis,
    Model,
    Outcome,
    Reveal,
    Score,
    Seat,
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
    options: dict[str, JsonValue] = {}
    private: bool = False
    secret: str  # hex; with the seed it decides every draw
    seed: str
    seeded: bool = False  # the seed was chosen by the caller
    ranked: bool = True
    commitment: str
    pair: str | None = None  # sessions that share a secret and a seed
    version: Version
    arena: str  # the version of the server that created it
    origin: str | None = None  # digest of the creator's address, for its limits

    @cached_property
    def options_key(self) -> str:
        """The options as text, to tell them from others."""
        return json.dumps(self.options, sort_keys=True)

    @property
    def root(self) -> bytes:
        """Where all randomness of this game comes from."""
        return hmac.digest(bytes.fromhex(self.secret), self.seed.encode(), "sha256")

    def rng(self, input_number: int) -> Random:
        """The generator of one input; 0 is the deal."""
        return Random(hmac.digest(self.root, str(input_number).encode(), "sha256"))  # noqa: S311


def commit_to(secret: str, seed: str, type: str, version: Version, options: Mapping[str, JsonValue]) -> str:
    """The public promise about a deal: nobody can change secret, seed, rules or options after it is given."""
    promised = [secret, seed, type, version.wire(), dict(options)]
    canonical = json.dumps(promised, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


class WaitingJob(Model):
    """A job whose result this session waits for."""

    kind: str
    payload: JsonValue = None


class Spoken(Model):
    """How much of a channel is one seat's."""

    messages: int = 0
    bytes: int = 0


class Standing(ChallengeOperatorState):
    """How a game stands: its public state and what only the engine sees.

    Its lists and dicts are replaced, never changed in place, so that a shallow copy is a copy.
    """

    started_at: Millis | None = None
    category: Category = Category.TRAIN
    outcomes: list[Outcome] = []
    revealed: bool = False  # the operator channel lies open to everybody
    deadlines: dict[str, Millis] = {}
    jobs: dict[str, WaitingJob] = {}
    messages: int = 0  # length of the operator channel
    bytes: int = 0
    spoken: list[Spoken] = []  # what each seat has of that


class Join(Model):
    """A player takes a seat."""

    kind: Literal["join"] = "join"
    invite: Invite
    user: UserId | None = None
    at: Millis


class Act(Model):
    """A seated player's move."""

    kind: Literal["act"] = "act"
    seat: Seat
    type: str = ""
    content: str
    at: Millis


class Expire(Model):
    """A deadline passed; its time is the deadline, not the moment somebody noticed."""

    kind: Literal["deadline"] = "deadline"
    name: str
    at: Millis


class Finish(Model):
    """A job is done, or has failed for good."""

    kind: Literal["job"] = "job"
    id: str
    result: JsonValue = None
    failed: str | None = None
    at: Millis


Input = Annotated[Join | Act | Expire | Finish, Field(discriminator="kind")]
INPUT: TypeAdapter[Input] = TypeAdapter(Input)  # one line of the input log


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

    def seat_of(self, invite: str | None) -> Seat | None:
        """Where the holder of an invite sits."""
        players: list[str] = list(self.standing.players)
        return Seat(players.index(invite)) if invite in players else None

    @property
    def due(self) -> tuple[str, Millis] | None:
        """The next deadline of a running game."""
        if self.standing.status is not Status.ACTIVE or not self.standing.deadlines:
            return None
        return min(self.standing.deadlines.items(), key=lambda item: (item[1], item[0]))


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
        player_identities=standing.player_identities,
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
    )


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
    )


def challenge_view(session: Session, presented: Invite | None = None) -> Challenge:
    """A session as everybody may see it, with the one free invite that the viewer itself presented."""
    header, standing = session.header, session.standing
    ended = standing.status is Status.ENDED
    known = header.invites if ended else [*standing.players, presented]
    return Challenge(
        id=header.id,
        name=header.name,
        created_at=header.created_at,
        challenge_type=header.type,
        invites=[invite if invite in known else "" for invite in header.invites],
        state=state_view(session),
        game_state=orjson.loads(session.game) if ended and standing.revealed else {},
        game_category=standing.category,
        seed_commitment=header.commitment,
        reveal=Reveal(secret=header.secret, seed=header.seed) if standing.revealed else None,
    )


def creator_view(session: Session) -> Challenge:
    """What the one who created a session gets to see, once: every invite, and a score of zero per seat."""
    challenge = challenge_view(session)
    state = challenge.state.model_copy(update={"scores": zeros(session)})
    return challenge.model_copy(update={"invites": list(session.header.invites), "state": state})


def zeros(session: Session) -> list[Score]:
    """The scores of a game in which nothing has happened."""
    return [Score() for _ in session.header.invites]
