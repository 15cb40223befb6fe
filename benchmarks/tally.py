"""Tally: count your moves. As little of a game as can be, so that what is measured is the arena."""

from random import Random

from arena import Effects, Model, Operator, Seat, action, say


class Counts(Model):
    """The moves so far."""

    total: int = 0
    seats: list[int] = [0, 0]


class Tally(Operator[Counts]):
    """Two players, and no end."""

    players = 2

    def deal(self, rng: Random) -> Counts:
        """Nothing is secret."""
        return Counts()

    @action
    def add(self, counts: Counts, seat: Seat, content: str) -> Effects:
        """Count one more."""
        counts.total += 1
        counts.seats[seat] += 1
        yield say(f"{counts.total} {content}")
