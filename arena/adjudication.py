"""Adjudication: what becomes of seats that run out of time or resign. Pure: a verdict is a list of effects.

What happens is declared by the challenge, in `at_limit`; who it happened to is marked in the outcomes of the game.
"""

from collections.abc import Collection, Iterable
from typing import Any

from arena import clocks
from arena.effects import Effect, End, Mark, Say
from arena.errors import Internal, Refused
from arena.models import Outcome, Score, Seat
from arena.operator import AtLimit, Moment, Operator
from arena.session import Standing

AnyOperator = Operator[Any, Any]

RESIGN = "resign"  # a move that every challenge understands
MOST = 5_000  # default moves in a row after which a challenge counts as broken


def resign(operator: AnyOperator, standing: Standing, state: Any, moment: Moment, seat: Seat) -> list[Effect]:
    """A player gives up."""
    check_in(standing, seat)
    made: list[Effect] = [Say(f"Player {seat + 1} has resigned."), Mark(seat, Outcome.FORFEIT)]
    if operator.at_limit is not AtLimit.DEFAULT:
        return [*made, lost(operator, standing, [seat])]
    gone = {seat, *resigned(standing)}
    made += stand_in(operator, state, moment, gone)
    everybody = len(gone) == operator.players and not operator.lingers
    return [*made, End(None, None)] if everybody and not is_over(made) else made


def time_up(operator: AnyOperator, standing: Standing, state: Any, moment: Moment, seat: Seat | None) -> list[Effect]:
    """A seat has run out of time, or without one the whole game has."""
    waited = operator.to_move(state)
    late = [seat] if seat is not None else sorted(range(operator.players) if waited is None else waited)
    words = "The time of this game is up." if seat is None else f"Player {seat + 1} has run out of time."
    made: list[Effect] = [Say(words), *(Mark(each, Outcome.TIMEOUT) for each in late)]
    match operator.at_limit:
        case AtLimit.VOID:
            return [*made, void(operator)]
        case AtLimit.FORFEIT:
            return [*made, lost(operator, standing, late if waited is not None else [])]
        case AtLimit.DEFAULT if seat is not None:
            made += operator.hook("default_move", state, moment, seat)
            return made if is_over(made) else made + stand_in(operator, state, moment, resigned(standing))
        case AtLimit.DEFAULT:
            made += stand_in(operator, state, moment, range(operator.players))
            return made if is_over(made) or operator.lingers else [*made, End(None, None)]


def stand_in(operator: AnyOperator, state: Any, moment: Moment, seats: Collection[Seat]) -> list[Effect]:
    """Make the default moves of these seats, for as long as the game waits for one of them."""
    made: list[Effect] = []
    for _ in range(MOST):
        idle = [seat for seat in operator.to_move(state) or () if seat in seats]
        if not idle:
            return made
        newest = operator.hook("default_move", state, moment, idle[0])
        made += newest
        if is_over(newest):
            return made
    raise Internal("The default moves of this challenge never come to an end.")


def lost(operator: AnyOperator, standing: Standing, seats: Iterable[Seat]) -> End:
    """The scores as they stand, but those who lost have achieved as little as there can be."""
    scores = list(standing.scores) or [Score() for _ in range(operator.players)]
    for seat in seats:
        scores[seat] = Score(security=scores[seat].security, utility=operator.utility[0])
    return End(tuple(scores), None)


def void(operator: AnyOperator) -> End:
    """A game that counts nowhere."""
    return End(tuple(Score() for _ in range(operator.players)), (Outcome.VOID,) * operator.players)


def resigned(standing: Standing) -> set[Seat]:
    """Those who have given up."""
    return {seat for seat, mark in standing.marks.items() if mark is Outcome.FORFEIT}


def check_in(standing: Standing, seat: Seat) -> None:
    """Refuse moves of a player who has given up."""
    if seat in resigned(standing):
        raise Refused("RESIGNED", "You have resigned.")


def is_over(made: Iterable[Effect]) -> bool:
    """Whether the game ends with these effects."""
    return any(isinstance(effect, End) for effect in made)


def wind(operator: AnyOperator, standing: Standing, state: Any, moment: Moment, acted: Seat | None) -> None:
    """Set the clocks of a running game after something has happened."""
    if operator.limits is None or standing.started_at is None:
        return
    before = standing.clocks or [clocks.Clock() for _ in range(operator.players)]
    waiting = operator.to_move(state) or ()
    standing.clocks = clocks.wind(before, waiting, acted, moment.now)
    ours = clocks.deadlines(operator.limits, standing.clocks, standing.started_at)
    if operator.lingers and not waiting:  # nobody is left whom the limit of the game could hurry
        ours.pop(clocks.GAME, None)
    standing.deadlines = clocks.with_deadlines(standing.deadlines, ours)
