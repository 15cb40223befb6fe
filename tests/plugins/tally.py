"""Tally: players add to a sum until one says stop. Some moves are refused, fall over, ring later or take long."""

import asyncio
from random import Random
from typing import Annotated

from pydantic import Field, JsonValue

from arena import (
    Effects,
    Job,
    JobFailed,
    Model,
    Operator,
    Refused,
    Score,
    Seat,
    action,
    cancel,
    deadline,
    end,
    job,
    say,
)


class TallyOptions(Model):
    players: Annotated[int, Field(ge=1, le=8)] = 2


class Sum(Model):
    total: int = 0
    rung: list[str] = []


class Tally(Operator[Sum, TallyOptions]):
    def deal(self, rng: Random) -> Sum:
        return Sum()

    @action
    def add(self, tally: Sum, seat: Seat, amount: int) -> Effects:
        """Add to the sum."""
        tally.total += amount
        yield say(f"The total is {tally.total}.")

    @action
    def grumble(self, tally: Sum, seat: Seat) -> Effects:
        """Be refused, after all."""
        tally.total += 1000
        yield say("This is never heard.")
        raise Refused("NOT_NOW", "Not now.")

    @action
    def stumble(self, tally: Sum, seat: Seat, content: str) -> Effects:
        """Fall over, with everything one was told on the lips."""
        tally.total += 1000
        yield say("This is never heard.")
        raise RuntimeError(content)

    @action
    def stop(self, tally: Sum, seat: Seat) -> Effects:
        """End the game; everybody scores the total."""
        yield end(Score(utility=tally.total) for _ in range(self.players))

    @action
    def wind(self, tally: Sum, seat: Seat, name: str, after: float) -> Effects:
        """Have a bell ring later."""
        yield deadline(name, after=after)

    @action
    def unwind(self, tally: Sum, seat: Seat, name: str) -> Effects:
        """Have it not ring."""
        yield cancel(name)

    def expired(self, tally: Sum, name: str) -> Effects:
        tally.rung.append(name)
        tally.total *= 2
        yield say(f"{name} rings; the total is {tally.total}.")
        if name == "curfew":
            yield end(Score(utility=tally.total) for _ in range(self.players))

    @action
    def order(self, tally: Sum, seat: Seat, kind: str, payload: int) -> Effects:
        """Have something worked out elsewhere."""
        yield job(kind, payload)

    async def work(self, kind: str, payload: JsonValue) -> JsonValue:
        match kind, payload:
            case "double", int(number):
                return 2 * number
            case "nap", int(millis):
                await asyncio.sleep(millis / 1000)
                return 1
            case "break", _:
                raise RuntimeError("a secret of the workshop")
            case _:
                raise JobFailed("There is no such work.")

    def worked(self, tally: Sum, job: Job, result: JsonValue | JobFailed) -> Effects:
        if isinstance(result, JobFailed):
            yield say(f"{job.kind} {job.payload} failed: {result}")
        elif isinstance(result, int):
            tally.total += result
            yield say(f"{job.kind} {job.payload} is {result}; the total is {tally.total}.")
