"""Parley: a game of nothing but talk, notes and bells, so small that a test can foresee every word of it."""

from random import Random
from typing import Annotated

from pydantic import Field

from arena import Effects, Model, Operator, Refused, Seat, action, attribute, cancel, deadline, end, say, score, tell


class ParleyOptions(Model):
    players: Annotated[int, Field(ge=1, le=4)] = 2


class Table(Model):
    cards: list[str]
    total: int = 0


class Parley(Operator[Table, ParleyOptions]):
    def deal(self, rng: Random) -> Table:
        return Table(cards=[f"card-{rng.getrandbits(64):016x}" for _ in range(self.players)])

    def joined(self, table: Table, seat: Seat) -> Effects:
        yield tell(seat, table.cards[seat])

    def start(self, table: Table) -> Effects:
        yield say("Begin.")

    @action
    def add(self, table: Table, seat: Seat, amount: int) -> Effects:
        """Add to the total."""
        table.total += amount
        yield score(seat, utility=table.total)
        yield attribute(seat, 0, f"added-{table.cards[seat]}")
        yield say(f"The total is {table.total}.")

    @action
    def note(self, table: Table, seat: Seat, content: str) -> Effects:
        """Pass a note to the next player, by way of the operator."""
        yield tell((seat + 1) % self.players, f"A note: {content}")

    @action
    def grumble(self, table: Table, seat: Seat, content: str) -> Effects:
        """Be refused."""
        table.total += 1000
        yield say("This is never heard.")
        raise Refused("NOT_NOW", f"Not now: {content}")

    @action
    def stumble(self, table: Table, seat: Seat, content: str) -> Effects:
        """Fall over."""
        table.total += 1000
        yield say("This is never heard.")
        raise RuntimeError(content)

    @action
    def wind(self, table: Table, seat: Seat, name: str, after: float) -> Effects:
        """Have a bell ring later."""
        yield deadline(name, after=after)

    @action
    def unwind(self, table: Table, seat: Seat, content: str) -> Effects:
        """Have it not ring."""
        yield cancel(content)

    def expired(self, table: Table, name: str) -> Effects:
        table.total += 1
        yield say(f"{name} rings.")
        if name == "crash":
            raise RuntimeError(table.cards)
        if name == "curfew":
            yield end()

    @action
    def stop(self, table: Table, seat: Seat) -> Effects:
        """End the game."""
        yield end()
