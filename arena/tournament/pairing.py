"""Pairing: who meets whom. Pure functions on names and counts; the same input gives the same pairing."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TypeVar

Pair = tuple[str, str]
Group = tuple[str, ...]
Item = TypeVar("Item")

TRIES = 20_000  # pairs that a search for a round without rematches may look at


def circle(names: Sequence[str]) -> list[list[Pair]]:
    """The rounds of a round-robin in which all meet once, by the circle method; seats are balanced to one game.

    With an odd number somebody rests in every round.
    """
    ring: list[str | None] = [*names, *([None] if len(names) % 2 else [])]
    rounds = []
    for number in range(len(ring) - 1):
        half = len(ring) // 2
        rows = list(zip(ring[:half], reversed(ring[half:]), strict=True))
        turned = [(b, a) if (number if at == 0 else at) % 2 else (a, b) for at, (a, b) in enumerate(rows)]
        rounds.append([(a, b) for a, b in turned if a is not None and b is not None])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return rounds


def all_groups(names: Sequence[str], seats: int) -> list[Group]:
    """Every group of so many agents, each turned so that nobody sits on one seat much oftener than on another."""
    sat: Counter[tuple[str, int]] = Counter()
    return [balanced(group, sat) for group in combinations(names, seats)]


def balanced(group: Sequence[str], sat: Counter[tuple[str, int]]) -> Group:
    """A group turned to the seats where its members have sat least; counts them."""
    turns = [turned(tuple(group), by) for by in range(len(group))]
    best = min(
        turns, key=lambda order: sum(sat[name, seat] ** 2 * 2 + sat[name, seat] for seat, name in enumerate(order))
    )
    sat.update((name, seat) for seat, name in enumerate(best))
    return best


def turned(order: tuple[Item, ...], by: int) -> tuple[Item, ...]:
    """Everybody moves on by so many seats."""
    by %= len(order)
    return order[by:] + order[:by]


def swiss_pairs(order: Sequence[str], met: Callable[[str, str], int]) -> list[Pair]:
    """Neighbours in the order meet, nobody for a second time as long as that can be had; the order has even length."""
    budget = iter(range(TRIES))

    def search(left: Sequence[str]) -> list[Pair] | None:
        if not left:
            return []
        first, rest = left[0], left[1:]
        for at, rival in enumerate(rest):
            if met(first, rival) or next(budget, None) is None:
                continue
            found = search([*rest[:at], *rest[at + 1 :]])
            if found is not None:
                return [(first, rival), *found]
        return None

    found = search(list(order))
    return found if found is not None else list(_least_met(order, met))


def _least_met(order: Sequence[str], met: Callable[[str, str], int]) -> Iterator[Pair]:
    """Who must meet again does so with those whom it has met least."""
    left = list(order)
    while left:
        first = left.pop(0)
        rival = min(left, key=lambda name: (met(first, name), left.index(name)))
        left.remove(rival)
        yield first, rival


def swiss_groups(order: Sequence[str], seats: int, met: Callable[[str, str], int]) -> list[Group]:
    """The same for more seats: the first takes those whom the table has met least, nearest in the order."""
    left, groups = list(order), []
    while len(left) >= seats:
        table = [left.pop(0)]
        while len(table) < seats:
            chosen = min(left, key=lambda name: (sum(met(name, other) for other in table), left.index(name)))
            left.remove(chosen)
            table.append(chosen)
        groups.append(tuple(table))
    return groups


def bracket(size: int, seats: int) -> list[int]:
    """The seeds of a knockout from top to bottom, counted from 0: the best can meet only at the end."""
    order = [0]
    while len(order) < size:
        grown = len(order) * seats
        order = [each for seed in order for each in _table_of(seed, len(order), grown)]
    return order


def _table_of(seed: int, tables: int, agents: int) -> list[int]:
    """Who sits at the table of a seed, if the seeds are dealt in a snake."""
    rows = range(agents // tables)
    return [row * tables + (seed if row % 2 == 0 else tables - 1 - seed) for row in rows]
