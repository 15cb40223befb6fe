"""What a referee may ask for: effects are data, collected by the engine and committed all at once or not at all."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from arena.models import Outcome, Score

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


Effect: TypeAlias = Tell | Say | Attribute | SetScore | SetDeadline | CancelDeadline | StartJob | End
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


def deadline(name: str, *, after: float) -> SetDeadline:
    """Have `expired(name)` called so many seconds after this input, unless it is set again or cancelled."""
    if not after >= 0.001:
        raise ValueError("A deadline lies at least a millisecond ahead.")
    return SetDeadline(_text(name), after)


def cancel(name: str) -> CancelDeadline:
    """Forget a deadline."""
    return CancelDeadline(name)


def job(kind: str, payload: JsonValue = None) -> StartJob:
    """Have the operator's `work` run on some worker, and `worked` called with what it returns."""
    return StartJob(_text(kind), payload)


def end(scores: Iterable[Score] | None = None, outcomes: Iterable[Outcome] | None = None) -> End:
    """End the game; what a handler yields after it is a fault."""
    return End(
        None if scores is None else tuple(Score.model_validate(score) for score in scores),
        None if outcomes is None else tuple(Outcome(outcome) for outcome in outcomes),
    )


def _text(value: str) -> str:
    """What goes into a message or a name is text; anything else is a mistake to be told of at once."""
    if not isinstance(value, str):
        raise TypeError(f"text is needed here, not {type(value).__name__}")
    return value
