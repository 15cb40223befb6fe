"""Clumsy: a challenge with a mistake in every move but one, each of a kind that authors do make."""

from math import nan
from random import Random
from typing import Any

from pydantic import JsonValue

from arena import Effects, Job, JobFailed, Model, Operator, Score, Seat, action, deadline, end, job, say, tell


class Count(Model):
    n: int = 0
    share: float = 0
    best: float | None = None


class Clumsy(Operator[Count]):
    def deal(self, rng: Random) -> Count:
        return Count()

    @action
    def add(self, count: Count, seat: Seat, much: int) -> Effects:
        """The one move that works."""
        count.n += much
        yield say(f"n is {count.n}, the share {count.share:g}.")

    # Each of the following changes the state and speaks before it goes wrong, or after.

    @action
    def mumble(self, count: Count, seat: Seat) -> Effects:
        """Say a number."""
        yield from _wrong(count)
        yield say(5)  # type: ignore[arg-type]

    @action
    def whisper(self, count: Count, seat: Seat) -> Effects:
        """Tell nothing."""
        yield from _wrong(count)
        yield tell(0, None)  # type: ignore[arg-type]

    @action
    def garble(self, count: Count, seat: Seat) -> Effects:
        """Say half of a character."""
        yield from _wrong(count)
        yield say("\ud83d")

    @action
    def mistype(self, count: Count, seat: Seat) -> Effects:
        """Put text where a number belongs."""
        yield from _wrong(count)
        count.n = "oops"  # type: ignore[assignment]

    @action
    def diverge(self, count: Count, seat: Seat, content: str) -> Effects:
        """Put a number there that JSON cannot write."""
        yield from _wrong(count)
        count.share = float(content)

    @action
    def outdo(self, count: Count, seat: Seat, content: str) -> Effects:
        """Put such a number where there may be none."""
        yield from _wrong(count)
        count.best = float(content)

    @action
    def blurt(self, count: Count, seat: Seat) -> Effects:
        """Yield the text instead of an effect."""
        yield from _wrong(count)
        yield "hello"  # type: ignore[misc]

    @action
    def hand(self, count: Count, seat: Seat) -> Effects:
        """Order work on something that is not JSON."""
        yield from _wrong(count)
        yield job("add", {1, 2})  # type: ignore[arg-type]

    # What nobody waits for

    @action
    def wind(self, count: Count, seat: Seat, content: str) -> Effects:
        """Have a deadline of that name pass at once."""
        yield deadline(content, after=0.001)

    def expired(self, count: Count, name: str) -> Effects:
        scores = [Score(utility=count.n) for _ in range(self.players)]
        outcomes: Any = {"words": ["played", "timeout"], "nonsense": ["played", "lost"]}
        if name == "bell":
            yield say("The bell rings.")
        elif name == "half a job":
            yield job("seven", "\ud83d")
        else:
            yield from _wrong(count)
            yield end(scores, outcomes[name])

    @action
    def order(self, count: Count, seat: Seat, content: str) -> Effects:
        """Have something worked out elsewhere."""
        yield job(content)

    async def work(self, kind: str, payload: JsonValue) -> JsonValue:
        made: Any = {"set": {1, 2}, "object": object(), "nan": [nan], "half": "\ud83d", "seven": 7}
        if kind == "sigh":
            raise JobFailed("\ud83d")
        result: JsonValue = made[kind]
        return result

    def worked(self, count: Count, job: Job, result: JsonValue | JobFailed) -> Effects:
        yield say(f"{job.kind} failed." if isinstance(result, JobFailed) else f"{job.kind} is {result}.")


def _wrong(count: Count) -> Effects:
    count.n += 1000
    yield say("This is never heard, unless the game ends with it.")
