"""Clocks: how long seats may think. Plain data and arithmetic; what becomes of a late seat is in `adjudication`.

A seat's clock runs while the game waits for it. Its limits become deadlines of the session, under reserved names.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from arena.models import Invite, Millis, Model, Remaining, Seat

OPTION = "clock"  # the option of every challenge that holds the limits
PREFIX = "clock:"  # of the deadlines that are ours
GAME = f"{PREFIX}game"
SEAT = f"{PREFIX}seat:"

Seconds = Annotated[float, Field(ge=0.1, le=30 * 86_400, strict=False)]


class Limits(Model):
    """How long players may take, in seconds; what is absent is not limited."""

    move: Seconds | None = None  # each single move
    bank: Seconds | None = None  # all moves of a seat together
    game: Seconds | None = None  # the whole game

    @property
    def is_per_seat(self) -> bool:
        """Whether it must be known who is to move."""
        return self.move is not None or self.bank is not None


class Clock(Model):
    """What a seat has used up, and since when it is on the move."""

    spent: int = 0  # milliseconds, without what runs
    since: Millis | None = None


def wind(clocks: Sequence[Clock], waiting: Collection[Seat], acted: Seat | None, now: Millis) -> list[Clock]:
    """Stop the clocks of those who moved or need not, and start those of all who are waited for."""
    made = []
    for seat, clock in enumerate(clocks):
        stopped, start = clock, clock.since
        if start is not None and (seat == acted or seat not in waiting):
            stopped, start = Clock(spent=clock.spent + max(0, now - start)), None
        made.append(Clock(spent=stopped.spent, since=now) if start is None and seat in waiting else stopped)
    return made


def deadlines(limits: Limits, clocks: Sequence[Clock], started: Millis) -> dict[str, Millis]:
    """The moments at which somebody's time is up."""
    found = {
        f"{SEAT}{seat}": Millis(clock.since + allowed)
        for seat, clock in enumerate(clocks)
        if clock.since is not None and (allowed := _allowance(limits, clock)) is not None
    }
    if limits.game is not None:
        found[GAME] = Millis(started + round(limits.game * 1000))
    return found


def _allowance(limits: Limits, clock: Clock) -> int | None:
    """How long a seat may think about its next move; a millisecond at least, so that time goes on."""
    per_move = [] if limits.move is None else [round(limits.move * 1000)]
    of_bank = [] if limits.bank is None else [round(limits.bank * 1000) - clock.spent]
    return max(1, min(per_move + of_bank)) if per_move or of_bank else None


def with_deadlines(others: Mapping[str, Millis], ours: Mapping[str, Millis]) -> dict[str, Millis]:
    """The deadlines of a session with ours put right."""
    return {**{name: at for name, at in others.items() if not is_ours(name)}, **ours}


def is_ours(name: str) -> bool:
    """Whether a deadline is a clock's and not a challenge's own."""
    return name.startswith(PREFIX)


def seat_of(name: str) -> Seat | None:
    """Whose time is up; None if it is the whole game's."""
    return int(name.removeprefix(SEAT)) if name.startswith(SEAT) else None


def remaining(
    limits: Limits, clocks: Sequence[Clock], players: Sequence[Invite], started: Millis
) -> dict[Invite, Remaining]:
    """What every seat has left, for everybody to see."""
    ends = None if limits.game is None else Millis(started + round(limits.game * 1000))
    found = {}
    for player, clock in zip(players, clocks, strict=False):
        allowed = _allowance(limits, clock)
        if clock.since is None:
            left = [allowed] if allowed is not None else [ends - started] if ends else []
            until = None
        else:
            moments = [clock.since + allowed] if allowed is not None else []
            until = Millis(min([*moments, *([ends] if ends else [])]))
            left = [until - clock.since]
        found[player] = Remaining(left=max(0, left[0]), until=until)
    return found


def as_frame(times: Mapping[Invite, Remaining], now: Millis) -> dict[str, Any]:
    """Milliseconds left by player as of now, and whose clocks run."""
    shown: dict[str, Any] = {player: _now(time, now) for player, time in times.items()}
    if running := [player for player, time in times.items() if time.until is not None]:
        shown["running"] = running
    return shown


def _now(time: Remaining, now: Millis) -> int:
    return time.left if time.until is None else max(0, time.until - now)
