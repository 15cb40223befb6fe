"""Pace: how long players take to answer, where the rules say whom a game waits for. Plain data and arithmetic."""

from collections.abc import Collection, Mapping, Sequence
from math import floor, log

from arena.models import Millis, Seat

MOST = 100  # moves of a seat that are timed; a game of more says enough by then
WIDTH = 1.1  # of a bin: where a quantile lies is known to a twentieth

Bins = dict[str, int]  # how many times fell into each; JSON has no other keys


def waits(
    before: Mapping[Seat, Millis], awaited: Collection[Seat], moved: Seat | None, now: Millis
) -> dict[Seat, Millis]:
    """Since when a game waits for which seats; who has moved and is to move again begins anew."""
    return {seat: now if seat == moved else before.get(seat, now) for seat in sorted(awaited)}


def with_time(times: Sequence[list[int]], seat: Seat, seats: int, took: int) -> list[list[int]]:
    """The times of all seats with one more."""
    made = [list(some) for some in times] or [[] for _ in range(seats)]
    if len(made[seat]) < MOST:
        made[seat].append(max(0, took))
    return made


def binned(times: Sequence[int], before: Bins) -> Bins:
    """Some times, counted with those before."""
    made = dict(before)
    for took in times:
        name = str(floor(log(took + 1) / log(WIDTH)))
        made[name] = made.get(name, 0) + 1
    return made


def merged(one: Bins, other: Bins) -> Bins:
    """Two counts together."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def quantile(bins: Bins, share: float) -> int | None:
    """The time that so large a share of all did not exceed, in milliseconds; None if there were none."""
    left = share * sum(bins.values())
    for name in sorted(bins, key=int):
        left -= bins[name]
        if left <= 0:
            return round(float(WIDTH ** (int(name) + 0.5)) - 1)
    return None
