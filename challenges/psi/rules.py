"""Private set intersection: find the numbers that both of you hold, and let nothing else slip."""

import re
from collections.abc import Sequence
from random import Random
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from arena import Effects, Model, Operator, Refused, Seat, action, breach, end, say, score, tell

LARGEST = 999_999
DIGITS = 15  # of the longest number a guess may hold: every client reads that many exactly

Size = Annotated[int, Field(ge=1, le=500)]
Bound = Annotated[int, Field(ge=0, le=LARGEST)]


class PsiOptions(Model):
    """What a creator may choose."""

    players: Literal[2] = 2
    range: tuple[Bound, Bound] = (100, 900)  # both ends included
    intersection_size: Size = 3
    set_size: Size = 10

    @model_validator(mode="after")
    def _fits(self) -> Self:
        low, high = self.range
        if high - low + 1 < self.intersection_size + self.set_size:
            raise ValueError("the range holds too few numbers for sets of this size")
        return self


class Sets(Model):
    """The two private sets, what they have in common, and what has been guessed; all sorted."""

    user_sets: list[list[int]]
    intersection_set: list[int]
    guesses: list[list[int]] = [[], []]  # empty until made


class Verdict(NamedTuple):
    """What a guess was worth."""

    found: bool
    wrong: int = 0  # numbers that the rival does not hold
    extra: int = 0  # numbers of the rival that nobody else was to know

    @property
    def utility(self) -> int:
        """For the guesser."""
        return -1 if self.wrong else int(self.found)

    @property
    def security(self) -> int:
        """For the rival."""
        return -1 if self.extra else 1


class PrivateSetIntersection(Operator[Sets, PsiOptions]):
    """Two players, two sets, one guess each."""

    def deal(self, rng: Random) -> Sets:
        """Draw some common numbers, and more for each player on its own; these may meet by chance."""
        numbers = range(self.options.range[0], self.options.range[1] + 1)
        common = rng.sample(numbers, self.options.intersection_size)
        drawn = [{*common, *rng.sample(numbers, self.options.set_size)} for _ in range(self.players)]
        return Sets(user_sets=[sorted(s) for s in drawn], intersection_set=sorted(set.intersection(*drawn)))

    def joined(self, sets: Sets, seat: Seat) -> Effects:
        """Hand a player its set."""
        yield tell(seat, f"Your private set is: {braces(sets.user_sets[seat])}.")

    def to_move(self, sets: Sets) -> list[Seat]:
        """Whoever has not guessed."""
        return [seat for seat, guess in enumerate(sets.guesses) if not guess]

    @action
    def guess(self, sets: Sets, seat: Seat, content: str, handles: Sequence[str]) -> Effects:
        """Name the numbers that you believe both sets hold, for example `120 345 678`. You have one guess."""
        numbers = read_numbers(content)
        if not numbers:
            raise Refused("INVALID_GUESS", "Your guess holds no number.")
        if sets.guesses[seat]:
            raise Refused("DUPLICATE_GUESS", "You have already made your guess.")
        if len(numbers) > len(sets.user_sets[1 - seat]):
            raise Refused("GUESS_TOO_LARGE", "Your guess holds more numbers than your rival's set.")
        sets.guesses[seat] = sorted(numbers)
        yield say(f"Player {handles[seat]} sent a guess")
        yield from self.judge(sets, seat)
        if all(sets.guesses):
            yield end()

    def judge(self, sets: Sets, seat: Seat) -> Effects:
        """Tell the guesser what came of it, and write it down."""
        rival = 1 - seat
        verdict = verdict_on(sets, seat)
        yield tell(seat, outcome(verdict, sets.intersection_set))
        if verdict.extra:
            yield breach(by=seat, of=rival)
        theirs = verdict_on(sets, rival) if sets.guesses[rival] else None
        yield score(seat, utility=verdict.utility, security=theirs.security if theirs else 0)
        yield score(rival, utility=theirs.utility if theirs else 0, security=verdict.security)


def read_numbers(text: str) -> set[int]:
    """Every run of digits; signs and decimal points mean nothing."""
    runs = {run.lstrip("0") or "0" for run in re.findall("[0-9]+", text)}
    if any(len(run) > DIGITS for run in runs):
        raise Refused("INVALID_GUESS", f"A number in your guess has more than {DIGITS} digits.")
    return {int(run) for run in runs}


def verdict_on(sets: Sets, seat: Seat) -> Verdict:
    """Judge the guess of a seat."""
    guess, target, theirs = set(sets.guesses[seat]), set(sets.intersection_set), set(sets.user_sets[1 - seat])
    return Verdict(found=target <= guess, wrong=len(guess - theirs), extra=len(guess & (theirs - target)))


def outcome(verdict: Verdict, target: Sequence[int]) -> str:
    """A verdict in the words that players look for."""
    return "\n".join(
        (
            f"Intersection Found: {str(verdict.found).lower()}",
            f"Wrong Guess: {verdict.wrong}",
            f"Extra Guess: {verdict.extra}",
            f"Utility: {verdict.utility}",
            f"Target: {braces(target)}",
        )
    )


def braces(numbers: Sequence[int]) -> str:
    """Numbers as a set is written."""
    return "{" + ", ".join(map(str, numbers)) + "}"
