"""Turn: what one input makes of a session. The lifecycle open → active → ended is in here, and nowhere else.

`apply` is the one place where an input meets an operator. It is pure: the same session and input give the same turn.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar, assert_never

import orjson
from pydantic import BaseModel

from arena import chat, effects
from arena.chat import Entry
from arena.errors import GameNotRunning, Internal, InviteAlreadyUsed, InviteNotFound, PlayerNotFound, Refused
from arena.models import (
    OPERATOR,
    Attribution,
    Category,
    Invite,
    Millis,
    Outcome,
    Score,
    Seat,
    Status,
    UserId,
    UserProfile,
)
from arena.operator import Job, JobFailed, Moment, Operator
from arena.session import Act, Expire, Finish, Header, Input, Join, Session, Spoken, Standing, WaitingJob, zeros

Value = TypeVar("Value")
AnyOperator = Operator[Any, Any]
Handler = Callable[[Any, Moment], list[effects.Effect]]


@dataclass
class Turn:
    """What one input makes of a session: the new standing and everything that has to be committed with it."""

    session: Session
    input: Input
    standing: Standing
    game: bytes
    entries: list[Entry] = field(default_factory=list)
    events: list["Event"] = field(default_factory=list)
    refusal: Refused | None = None
    fault: Exception | None = None  # of a handler that nobody waited for
    seat: Seat | None = None

    @cached_property
    def moment(self) -> Moment:
        """The world as this input finds it; one generator for all that happens in the turn."""
        header, number = self.session.header, self.session.version + 1
        return Moment(self.input.at, tuple(self.standing.players), lambda: header.rng(number))

    def speak(self, content: str, *, sender: str = OPERATOR, to: str | None = None, type: str | None = None) -> None:
        """Append a message to the operator channel."""
        channel = chat.operator_channel(self.session.id)
        made = chat.entry(channel, sender, content, self.input.at, to=to, type=type)
        self.entries.append(made)
        self.standing.messages += 1
        self.standing.bytes += len(made.body)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a session and concerns what lies outside of it; goes through the outbox."""

    kind: Literal["created", "started", "ended", "removed", "job"]
    job: Job | None = None


def open_session(header: Header, operator: AnyOperator) -> Session:
    """A new session: the private data is drawn here, and nobody sits yet."""
    moment = Moment(header.created_at, (), lambda: header.rng(0))
    game = _encode(operator.begin(moment))
    operator.state_type.model_validate_json(game)
    return Session(header=header, standing=Standing(), game=game)


def apply(operator: AnyOperator, session: Session, change: Input) -> Turn:
    """Play one input. A refused move leaves the player's own message; anything else that raises leaves nothing."""
    turn = Turn(session, change, session.standing.model_copy(), session.game)
    match change:
        case Join():
            _join(operator, turn, change)
        case Act():
            _act(operator, turn, change)
        case Expire():
            if turn.standing.deadlines.get(change.name) == change.at:
                turn.standing.deadlines = without(turn.standing.deadlines, change.name)
                _run_unattended(operator, turn, lambda state, now: operator.hook("expired", state, now, change.name))
        case Finish():
            _finish(operator, turn, change)
        case _:
            assert_never(change)
    return turn


def _join(operator: AnyOperator, turn: Turn, join: Join) -> None:
    standing = turn.standing
    if join.invite not in turn.session.header.invites:
        raise InviteNotFound(f"Challenge not found for invite: {join.invite}")
    if join.invite in standing.players:
        raise InviteAlreadyUsed("This invite has already been used.")
    turn.seat = seat = Seat(len(standing.players))
    standing.players = [*standing.players, join.invite]
    standing.spoken = [*standing.spoken, Spoken()]
    if join.user is not None:
        standing.player_identities = {**standing.player_identities, join.invite: join.user}
    _run(operator, turn, lambda state, now: operator.hook("joined", state, now, seat))
    if len(standing.players) == len(turn.session.header.invites) and standing.status is Status.OPEN:
        standing.status = Status.ACTIVE
        standing.started_at = join.at
        turn.events.append(Event("started"))
        _run(operator, turn, lambda state, now: operator.hook("start", state, now))


def _act(operator: AnyOperator, turn: Turn, act: Act) -> None:
    standing = turn.standing
    if standing.status is not Status.ACTIVE:
        raise GameNotRunning("The game is not running.")
    if act.seat >= len(standing.players):
        raise PlayerNotFound("You have no seat in this session.")
    turn.seat = act.seat
    content = f"({act.type}) {act.content}" if act.type else act.content
    turn.speak(content, sender=standing.players[act.seat], to=OPERATOR, type=act.type)
    said = standing.spoken[act.seat]
    more = Spoken(messages=said.messages + 1, bytes=said.bytes + len(turn.entries[-1].body))
    standing.spoken = [more if seat == act.seat else other for seat, other in enumerate(standing.spoken)]
    try:
        _run(operator, turn, lambda state, now: operator.act(act.type, state, act.seat, act.content, now))
    except Refused as refusal:
        turn.refusal = refusal


def _finish(operator: AnyOperator, turn: Turn, finish: Finish) -> None:
    waiting = turn.standing.jobs.get(finish.id)
    if waiting is None:
        return
    turn.standing.jobs = without(turn.standing.jobs, finish.id)
    job = Job(finish.id, waiting.kind, waiting.payload)
    result = finish.result if finish.failed is None else JobFailed(finish.failed)
    _run_unattended(operator, turn, lambda state, now: operator.hook("worked", state, now, job, result))


def _run_unattended(operator: AnyOperator, turn: Turn, handler: Handler) -> None:
    """Call a handler that nobody waits for. If it fails the input counts all the same, or it would come for ever."""
    before = turn.standing.model_copy()
    try:
        _run(operator, turn, handler)
    except Exception as error:  # whatever a challenge raises
        turn.standing, turn.game, turn.fault = before, turn.session.game, error
        turn.entries.clear()
        turn.events.clear()


def _run(operator: AnyOperator, turn: Turn, handler: Handler) -> None:
    """Call a handler on a copy of the state; when it has not raised, keep the copy and carry out its effects."""
    state = operator.state_type.model_validate_json(turn.game)
    made = handler(state, turn.moment)
    turn.game = _encode(state)
    operator.state_type.model_validate_json(turn.game)  # a state that cannot be read again must not be written
    for effect in made:
        if turn.standing.status is Status.ENDED:
            raise Internal("A handler yielded effects after the end of the game.")
        _carry_out(turn, effect)


def _carry_out(turn: Turn, effect: effects.Effect) -> None:
    standing, now = turn.standing, turn.input.at
    match effect:
        case effects.Tell(seat, content):
            turn.speak(content, to=_player(standing, seat))
        case effects.Say(content):
            turn.speak(content)
        case effects.Attribute(by, of, type_):
            made = Attribution.model_validate(
                {"from": _player(standing, by), "to": _player(standing, of), "type": type_}
            )
            standing.attributions = [*(standing.attributions or []), made]
        case effects.SetScore(seat, score):
            scores = list(standing.scores) or zeros(turn.session)
            scores[_taken(standing, seat)] = score
            standing.scores = scores
        case effects.SetDeadline(name, after):
            standing.deadlines = {**standing.deadlines, name: Millis(now + round(after * 1000))}
        case effects.CancelDeadline(name):
            standing.deadlines = without(standing.deadlines, name)
        case effects.StartJob(kind, payload):
            job = Job(f"{turn.session.id}:{turn.session.version + 1}:{len(turn.events)}", kind, payload)
            standing.jobs = {**standing.jobs, job.id: WaitingJob(kind=kind, payload=payload)}
            turn.events.append(Event("job", job))
        case effects.End(scores, outcomes):
            _end(turn, scores, outcomes)
        case _:
            assert_never(effect)


def _end(turn: Turn, scores: Iterable[Score] | None, outcomes: Iterable[Outcome] | None) -> None:
    standing, seats = turn.standing, len(turn.session.header.invites)
    if standing.status is not Status.ACTIVE:
        raise Internal("A handler ended a game that is not running.")
    standing.scores = list(scores) if scores is not None else standing.scores or zeros(turn.session)
    standing.outcomes = list(outcomes) if outcomes is not None else [Outcome.PLAYED] * seats
    if len(standing.scores) != seats or len(standing.outcomes) != seats:
        raise Internal("A game ends with one score and one outcome per seat.")
    standing.status = Status.ENDED
    standing.completed_at = turn.input.at
    standing.revealed = turn.session.header.pair is None
    standing.deadlines, standing.jobs = {}, {}
    lines = (f"- Player {n}: {orjson.dumps(s.wire()).decode()}" for n, s in enumerate(standing.scores, 1))
    turn.speak("Game ended.\n\nScores are:\n" + "\n".join(lines))
    turn.events.append(Event("ended"))


def categorise(turn: Turn, profiles: Mapping[UserId, UserProfile]) -> None:
    """Say what an ended game was for, by its players' profiles."""
    users = turn.standing.player_identities.values()
    others = sum(not (user in profiles and profiles[user].is_benchmark) for user in users)
    if users:
        turn.standing.category = {0: Category.BENCHMARK, 1: Category.TEST}.get(others, Category.TRAIN)


def after(turn: Turn, tag: str) -> Session:
    """The session that a committed turn leaves."""
    return Session(turn.session.header, turn.standing, turn.game, tag, turn.session.version + 1)


def _taken(standing: Standing, seat: int) -> Seat:
    if not 0 <= seat < len(standing.players):
        raise Internal(f"Nobody sits on seat {seat}.")
    return Seat(seat)


def _player(standing: Standing, seat: int) -> Invite:
    return standing.players[_taken(standing, seat)]


def _encode(state: BaseModel) -> bytes:
    return state.model_dump_json(by_alias=True, warnings="error").encode()


def without(items: Mapping[str, Value], name: str) -> dict[str, Value]:
    """A copy that lacks one item."""
    return {key: value for key, value in items.items() if key != name}
