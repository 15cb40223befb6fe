"""Turn: what one input makes of a session. The lifecycle open → active → ended is in here, and nowhere else.

`apply` is the one place where an input meets an operator. It is pure: the same session and input give the same turn.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, assert_never

import orjson
from pydantic import BaseModel
from pydantic_core import to_json

from arena import adjudication, chat, clocks, effects, pace, reports
from arena.chat import Entry
from arena.errors import GameNotRunning, Internal, InviteAlreadyUsed, InviteNotFound, PlayerNotFound, Refused
from arena.models import (
    OPERATOR,
    PLAYER,
    Attribution,
    Category,
    Invite,
    Millis,
    Outcome,
    Seat,
    Status,
    UserId,
    UserProfile,
)
from arena.operator import AtLimit, Job, JobFailed, Moment, Operator
from arena.session import (
    Act,
    Expire,
    Finish,
    Header,
    Input,
    Join,
    Knock,
    Session,
    Spoken,
    Standing,
    Unveil,
    Vote,
    WaitingJob,
    handles,
    identities,
    zeros,
)

Value = TypeVar("Value")
AnyOperator = Operator[Any, Any]
BLANK = Standing()  # nobody sits yet
Handler = Callable[[Any, Moment], list[effects.Effect]]


@dataclass(slots=True)
class Turn:
    """What one input makes of a session: the new standing and everything that has to be committed with it."""

    session: Session
    input: Input
    standing: Standing
    game: bytes
    entries: list[Entry] = field(default_factory=list)
    events: list["Event"] = field(default_factory=list)
    notes: list[bytes] = field(default_factory=list)  # lines for the run log
    refusal: Refused | None = None
    fault: Exception | None = None  # of a handler that nobody waited for
    seat: Seat | None = None
    sealed: bool = False  # nothing is revealed at the end

    @property
    def handles(self) -> list[Invite]:
        """Who sits where, now."""
        return handles(self.session.header, self.standing)

    def speak(self, content: str, *, sender: str = OPERATOR, to: str | None = None, type: str | None = None) -> None:
        """Append a message to the operator channel, and note how long that has become."""
        channel, standing = chat.operator_channel(self.session.header.id), self.standing
        entry = chat.entry(channel, sender, content, self.input.at, to=to, type=type)
        self.entries.append(entry)
        standing.messages += 1
        standing.bytes += len(entry.body)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a session and concerns what lies outside of it; goes through the outbox."""

    kind: Literal["created", "started", "ended", "removed", "job"]
    job: Job | None = None


def open_session(header: Header, operator: AnyOperator) -> Session:
    """A new session: the private data is drawn here, and nobody sits yet."""
    moment = Moment(header.created_at, (), lambda: header.rng(0))
    game = _encode(operator, operator.begin(moment))
    return Session(header=header, standing=BLANK.clone(), game=game)


def apply(operator: AnyOperator, session: Session, change: Input) -> Turn:
    """Play one input. A refused move leaves the player's own message; anything else that raises leaves nothing."""
    turn = Turn(session, change, session.standing.clone(), session.game, sealed=operator.sealed)
    match change:
        case Join():
            _join(operator, turn, change)
        case Act():
            _act(operator, turn, change)
        case Knock():
            _knock(turn, change)
        case Expire():
            if turn.standing.deadlines.get(change.name) == change.at:
                turn.standing.deadlines = without(turn.standing.deadlines, change.name)
                _expire(operator, turn, change.name)
        case Finish():
            _finish(operator, turn, change)
        case Vote():
            _vote(operator, turn, change)
        case Unveil():
            turn.standing.revealed |= turn.standing.status is Status.ENDED and not turn.sealed
        case _:
            assert_never(change)
    return turn


def _join(operator: AnyOperator, turn: Turn, join: Join) -> None:
    standing, header = turn.standing, turn.session.header
    if join.invite not in header.invites:
        raise InviteNotFound(f"Challenge not found for invite: {join.invite}")
    if join.invite in turn.handles:
        raise InviteAlreadyUsed("This invite has already been used.")
    if standing.status is Status.ENDED:
        raise GameNotRunning("The game is over.")
    if join.user != header.held.get(join.invite, join.user):
        raise Refused("NOT_YOUR_SEAT", "This seat is kept for somebody else.")
    if header.role_of(join.invite) == PLAYER:
        standing.players = [*standing.players, join.invite]
        standing.joined_at = [*standing.joined_at, join.at]
        if join.entrant is not None:
            standing.entrants = {**standing.entrants, join.invite: join.entrant}
    else:
        standing.attendants = [*standing.attendants, join.invite]
    turn.seat = seat = Seat(turn.handles.index(join.invite))
    standing.spoken = [*standing.spoken, *(Spoken() for _ in range(len(turn.handles) - len(standing.spoken)))]
    if join.user is not None:
        standing.player_identities = {**standing.player_identities, join.invite: join.user}
    state, now = _open(operator, turn)
    _follow(operator, turn, state, now, operator.hook("joined", state, now, seat))
    if len(standing.players) == header.seats and standing.status is Status.OPEN:
        standing.status = Status.ACTIVE
        standing.started_at = join.at
        turn.events.append(Event("started"))
        _follow(operator, turn, state, now, operator.hook("start", state, now))
    turn.game = _encode(operator, state)


def _act(operator: AnyOperator, turn: Turn, act: Act) -> None:
    standing = turn.standing
    if standing.status is not Status.ACTIVE:
        raise GameNotRunning("The game is not running.")
    if act.seat >= len(turn.handles):
        raise PlayerNotFound("You have no seat in this session.")
    if act.type == reports.REPORT and act.type not in operator.actions and act.seat < len(standing.players):
        _hear_report(turn, act)
        return
    _hear_move(turn, act)
    state, now = _open(operator, turn)
    try:
        _follow(operator, turn, state, now, _move(operator, turn, act, state, now))
        turn.game = _encode(operator, state)
    except Refused as refusal:
        turn.refusal = refusal


def _hear_report(turn: Turn, act: Act) -> None:
    """Keep what a player says that its model took; the game goes on as if nothing had been."""
    told, player = turn.standing.reported_usage or {}, _handle(turn, act.seat)
    turn.standing.reported_usage = {**told, player: reports.plus(told.get(player), reports.read(act.content))}


def _vote(operator: AnyOperator, turn: Turn, vote: Vote) -> None:
    if turn.standing.status is not Status.ACTIVE:
        raise GameNotRunning("The game is not running.")
    state, now = _open(operator, turn)
    _follow(operator, turn, state, now, operator.hook("voted", state, now, vote.voter, vote.ballot, vote.choice))
    turn.game = _encode(operator, state)


def _move(operator: AnyOperator, turn: Turn, act: Act, state: Any, now: Moment) -> list[effects.Effect]:
    """What a move leads to: one of the challenge's own, or the one that all players have."""
    standing, header = turn.standing, turn.session.header
    if standing.marks:
        adjudication.check_in(standing, act.seat)
    role = header.role_of(turn.handles[act.seat])
    if act.type in operator.actions and operator.actions[act.type].role != role:
        raise Refused("WRONG_ROLE", f"This is for a {operator.actions[act.type].role}, and you are here as {role}.")
    if act.type == adjudication.RESIGN and act.type not in operator.actions and role == PLAYER:
        return adjudication.resign(operator, standing, state, now, act.seat)
    return operator.act(act.type, state, act.seat, act.content, now)


def _knock(turn: Turn, knock: Knock) -> None:
    """Answer a move that comes too early or too late where the player will look for it."""
    _hear_move(turn, knock)
    turn.speak("ERR_GAME_NOT_RUNNING: The game is not running.", to=_handle(turn, knock.seat))


def _hear_move(turn: Turn, move: Act | Knock) -> None:
    """Keep a player's own message, whatever will come of it."""
    turn.seat, standing = move.seat, turn.standing
    content = f"({move.type}) {move.content}" if move.type else move.content
    turn.speak(content, sender=_handle(turn, move.seat), to=OPERATOR, type=move.type)
    standing.spoken = said = list(standing.spoken)
    own = said[move.seat]
    said[move.seat] = Spoken(own.messages + 1, own.bytes + len(turn.entries[-1].body))


def _expire(operator: AnyOperator, turn: Turn, name: str) -> None:
    if not clocks.is_ours(name):
        _run_unattended(operator, turn, lambda state, now: operator.hook("expired", state, now, name))
        return
    turn.seat = seat = clocks.seat_of(name)
    standing = turn.standing
    _run_unattended(operator, turn, lambda state, now: adjudication.time_up(operator, standing, state, now, seat))
    if turn.fault is not None:  # nobody would look at this game again
        _carry_out(turn, adjudication.void(operator))


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
    before = turn.standing.clone()
    try:
        state, now = _open(operator, turn)
        _follow(operator, turn, state, now, handler(state, now))
        turn.game = _encode(operator, state)
    except Exception as error:  # whatever a challenge raises
        turn.standing, turn.game, turn.fault = before, turn.session.game, error
        turn.entries.clear()
        turn.events.clear()
        turn.notes.clear()


def _open(operator: AnyOperator, turn: Turn) -> tuple[Any, Moment]:
    """A copy of the state for the handlers of this turn, and the world as they find it."""
    header, number = turn.session.header, turn.session.version + 1
    moment = Moment(turn.input.at, tuple(turn.handles), lambda: header.rng(number), header.role_of)
    return _decode(operator, turn.game), moment


def _follow(operator: AnyOperator, turn: Turn, state: Any, now: Moment, made: list[effects.Effect]) -> None:
    """Carry out what a handler asked for when it changed this state."""
    standing = turn.standing
    if standing.marks and operator.at_limit is AtLimit.DEFAULT and not adjudication.is_over(made):
        made += adjudication.stand_in(operator, state, now, adjudication.resigned(standing))
    for effect in made:
        if standing.status is Status.ENDED:
            raise Internal("A handler yielded effects after the end of the game.")
        _carry_out(turn, effect)
    if standing.started_at is not None:
        _note_time(operator, turn, state)
    if operator.limits is not None and standing.status is Status.ACTIVE:
        adjudication.wind(operator, standing, state, now, turn.seat)


def _note_time(operator: AnyOperator, turn: Turn, state: Any) -> None:
    """Note how long a move has taken, and whom the game waits for now."""
    standing, change = turn.standing, turn.input
    moved = change.seat if isinstance(change, Act) and change.type != adjudication.RESIGN else None
    if moved is not None and (since := standing.awaited.get(moved)) is not None:
        standing.times = pace.with_time(standing.times, moved, turn.session.header.seats, change.at - since)
    awaited = operator.to_move(state) if standing.status is Status.ACTIVE else None
    if awaited or standing.awaited:
        standing.awaited = pace.waits(standing.awaited, awaited or (), moved, change.at)


def _carry_out(turn: Turn, effect: effects.Effect) -> None:
    standing, now = turn.standing, turn.input.at
    match effect:
        case effects.Tell(seat, content):
            turn.speak(content, to=_handle(turn, seat))
        case effects.Say(content):
            turn.speak(content)
        case effects.Attribute(by, of, type_):
            made = Attribution.model_validate(
                {"from": _player(standing, by), "to": _player(standing, of), "type": type_}
            )
            standing.attributions = [*(standing.attributions or []), made]
            first = turn.session.standing.messages + 1  # message of this turn: the move itself
            standing.causes = [*standing.causes, first]
        case effects.SetScore(seat, score):
            scores = list(standing.scores) or zeros(turn.session)
            scores[_taken(standing, seat)] = score
            standing.scores = scores
        case effects.Note(seat, line):
            _handle(turn, seat)
            turn.notes.append(line)
        case effects.SetDeadline(name, after):
            standing.deadlines = {**standing.deadlines, name: Millis(now + round(after * 1000))}
        case effects.CancelDeadline(name):
            standing.deadlines = without(standing.deadlines, name)
        case effects.StartJob(kind, payload):
            job = Job(f"{turn.session.id}:{turn.session.version + 1}:{len(turn.events)}", kind, payload)
            waiting = WaitingJob(kind=kind, payload=payload)
            waiting.to_json()  # raises for what cannot be written: found at the commit, it would come for ever
            standing.jobs = {**standing.jobs, job.id: waiting}
            turn.events.append(Event("job", job))
        case effects.Mark(seat, outcome):
            standing.marks = {seat: outcome, **standing.marks}  # the first one stays
        case effects.End():
            _end(turn, effect)
        case _:
            assert_never(effect)


def _end(turn: Turn, end: effects.End) -> None:
    standing, seats = turn.standing, turn.session.header.seats
    if standing.status is not Status.ACTIVE:
        raise Internal("A handler ended a game that is not running.")
    standing.scores = list(end.scores) if end.scores is not None else standing.scores or zeros(turn.session)
    given = [Outcome.PLAYED] * seats if end.outcomes is None else list(end.outcomes)
    standing.outcomes = [standing.marks.get(n, o) if o is Outcome.PLAYED else o for n, o in enumerate(given)]
    if len(standing.scores) != seats or len(standing.outcomes) != seats:
        raise Internal("A game ends with one score and one outcome per seat.")
    standing.scorecards = None if end.scorecards is None else list(end.scorecards)
    if standing.scorecards is not None and len(standing.scorecards) != seats:
        raise Internal("A game ends with one scorecard per seat, or with none.")
    standing.status = Status.ENDED
    standing.completed_at = turn.input.at
    standing.revealed = turn.session.header.pair is None and not turn.sealed
    standing.deadlines, standing.jobs, standing.clocks = {}, {}, []
    lines = (f"- Player {n}: {orjson.dumps(s.wire()).decode()}" for n, s in enumerate(standing.scores, 1))
    turn.speak("Game ended.\n\nScores are:\n" + "\n".join(lines))
    turn.events.append(Event("ended"))


def categorise(turn: Turn, profiles: Mapping[UserId, UserProfile]) -> None:
    """Say what an ended game was for, by its players' profiles."""
    users = identities(turn.standing).values()
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


def _handle(turn: Turn, seat: int) -> Invite:
    """Who sits on a seat, player or not."""
    taken = turn.handles
    if not 0 <= seat < len(taken) or not taken[seat]:
        raise Internal(f"Nobody sits on seat {seat}.")
    return taken[seat]


def _player(standing: Standing, seat: int) -> Invite:
    return standing.players[_taken(standing, seat)]


def _decode(operator: AnyOperator, game: bytes) -> Any:
    return operator.state_type.__pydantic_validator__.validate_json(game)


def _encode(operator: AnyOperator, state: BaseModel) -> bytes:
    """A state as JSON; one that could not be read again is not written."""
    game = state.__pydantic_serializer__.to_json(state, by_alias=True, warnings="error")
    nulls = game.count(b"null")
    if nulls and nulls > to_json(state.model_dump(by_alias=True), fallback=str).count(b"null"):
        raise ValueError("The state holds a number that JSON cannot write.")  # NaN was written as if it were None
    _decode(operator, game)
    return game


def without(items: Mapping[str, Value], name: str) -> dict[str, Value]:
    """A copy that lacks one item."""
    return {key: value for key, value in items.items() if key != name}
