"""Nim: a challenge without secrets, so that players may swap seats."""

from random import Random

from arena import Effects, Model, Operator, Score, Seat, action, end


class Heap(Model):
    left: int


class Nim(Operator[Heap]):
    replayable = True

    def deal(self, rng: Random) -> Heap:
        return Heap(left=rng.randint(3, 9))

    def to_move(self, heap: Heap) -> list[Seat]:
        return [0, 1]

    @action
    def take(self, heap: Heap, seat: Seat) -> Effects:
        """Take one."""
        heap.left -= 1
        if not heap.left:
            yield end(Score(utility=int(other == seat)) for other in (0, 1))
