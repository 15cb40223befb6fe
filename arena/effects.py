"""What a referee may ask for: effects are data, collected by the engine and committed all at once or not at all."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from arena.models import Outcome, Score, SeatCard, strict_json

BREACH = "security_breach"


@dataclass(frozen=True, slots=True)
class Tell:
    """A direct message of the operator to one seat."""

    seat: int
    content: str


@dataclass(frozen=True, slots=True)
class Say:
    """A message of the operator to everybody."""

    content: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """A record that one seat did something to another."""

    by: int
    of: int
    type: str


@dataclass(frozen=True, slots=True)
class SetScore:
    """An interim or final score of one seat."""

    seat: int
    score: Score


@dataclass(frozen=True, slots=True)
class Note:
    """A line of the session's private run log, which jobs read; it is no part of the state."""

    seat: int
    line: bytes


@dataclass(frozen=True, slots=True)
class SetDeadline:
    """A moment at which `expired` is called; a name has one moment, the newest."""

    name: str
    after: float


@dataclass(frozen=True, slots=True)
class CancelDeadline:
    """Forget a deadline."""

    name: str


@dataclass(frozen=True, slots=True)
class StartJob:
    """Slow work for any worker; its result comes back as an input."""

    kind: str
    payload: JsonValue


@dataclass(frozen=True, slots=True)
class End:
    """The end of the game, with one score per seat; none leaves the scores as they stand."""

    scores: tuple[Score, ...] | None
    outcomes: tuple[Outcome, ...] | None
    scorecards: tuple[SeatCard, ...] | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """What a seat's outcome will be unless the end says something else; made by the arena, not by challenges."""

    seat: int
    outcome: Outcome


Effect: TypeAlias = Tell | Say | Attribute | SetScore | Note | SetDeadline | CancelDeadline | StartJob | Mark | End
Effects: TypeAlias = Iterator[Effect]


def tell(seat: int, content: str) -> Tell:
    """Say something to one seat alone."""
    return Tell(seat, _text(content))


def say(content: str) -> Say:
    """Say something to everybody."""
    return Say(_text(content))


def attribute(by: int, of: int, type: str) -> Attribute:
    """Record who did what to whom."""
    return Attribute(by, of, _text(type))


def breach(by: int, of: int) -> Attribute:
    """Record that one seat got a secret out of another."""
    return Attribute(by, of, BREACH)


def score(seat: int, *, security: float = 0, utility: float = 0) -> SetScore:
    """Set what a seat has kept and achieved so far; nobody sees it before the end."""
    return SetScore(seat, Score(security=security, utility=utility))


def note(seat: int, entry: Mapping[str, JsonValue]) -> Note:
    """Write a line about a seat into the run log: for what is too much to be kept in the state."""
    return Note(seat, strict_json({"seat": seat, **entry}))


def deadline(name: str, *, after: float) -> SetDeadline:
    """Have `expired(name)` called so many seconds after this input, unless it is set again or cancelled."""
    if not after >= 0.001:
        raise ValueError("A deadline lies at least a millisecond ahead.")
    if name.startswith("clock:"):
        raise ValueError("Deadlines whose names begin with clock: are the arena's own.")
    return SetDeadline(_text(name), after)


def cancel(name: str) -> CancelDeadline:
    """Forget a deadline."""
    return CancelDeadline(name)


def job(kind: str, payload: JsonValue = None) -> StartJob:
    """Have the operator's `work` run on some worker, and `worked` called with what it returns."""
    return StartJob(_text(kind), payload)


def end(
    scores: Iterable[Score] | None = None,
    outcomes: Iterable[Outcome] | None = None,
    scorecards: Iterable[SeatCard] | None = None,
) -> End:
    """End the game; what a handler yields after it is a fault."""
    return End(
        None if scores is None else tuple(Score.model_validate(score) for score in scores),
        None if outcomes is None else tuple(Outcome(outcome) for outcome in outcomes),
        None if scorecards is None else tuple(SeatCard.model_validate(card) for card in scorecards),
    )


def _text(value: str) -> str:
    """What goes into a message or a name is text; anything else is a mistake to be told of at once."""
    if not isinstance(value, str):
        raise TypeError(f"text is needed here, not {type(value).__name__}")
    value.encode()  # raises for half of a character, which cannot be written
    return value
