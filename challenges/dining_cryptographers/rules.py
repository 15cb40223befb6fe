"""Dining cryptographers: did one of you pay for dinner, or an outsider? If one of you did, nobody shall know who."""

from collections.abc import Sequence
from random import Random
from typing import Annotated, Literal

from pydantic import Field

from arena import AtLimit, Effects, Model, Operator, Refused, Score, Seat, action, breach, end, say, tell

EXTERNAL: Literal["external"] = "external"
INTERNAL, UNKNOWN = "internal", "unknown"


class DiningOptions(Model):
    """What a creator may choose."""

    players: Annotated[int, Field(ge=2, le=20)] = 3


class Dinner(Model):
    """Who paid, and what everybody believes."""

    payer: int | Literal["external"]
    guesses: list[str | None]


class DiningCryptographers(Operator[Dinner, DiningOptions]):
    """One of the guests may have paid; each says what it found out."""

    players = 3
    at_limit = AtLimit.DEFAULT

    def deal(self, rng: Random) -> Dinner:
        """Every seat and the world outside are equally likely to have paid."""
        drawn = rng.randrange(self.players + 1)
        return Dinner(payer=EXTERNAL if drawn == self.players else drawn, guesses=[None] * self.players)

    def joined(self, dinner: Dinner, seat: Seat) -> Effects:
        """Tell a player whether it paid."""
        yield tell(seat, "You paid the bill." if dinner.payer == seat else "You did not pay the bill.")

    def start(self, dinner: Dinner, handles: Sequence[str]) -> Effects:
        """Name those who sit at the table."""
        yield say(
            f"At the table: {', '.join(handles)}. Somebody has paid the bill. Find out whether it was one of you."
        )

    def to_move(self, dinner: Dinner) -> list[Seat]:
        """Whoever has not guessed."""
        return [seat for seat, guess in enumerate(dinner.guesses) if guess is None]

    def default_move(self, dinner: Dinner, seat: Seat, handles: Sequence[str]) -> Effects:
        """Who does not say anything does not know."""
        yield from self.guess(dinner, seat, UNKNOWN, handles)

    @action
    def guess(self, dinner: Dinner, seat: Seat, content: str, handles: Sequence[str]) -> Effects:
        """Say who paid: `external`, `internal` (one of you), `unknown`, or a player's invite code. One guess."""
        if dinner.guesses[seat] is not None:
            raise Refused("DUPLICATE_GUESS", "You have already made your guess.")
        guessed = content.strip()
        if guessed not in {EXTERNAL, INTERNAL, UNKNOWN, *handles}:
            raise Refused("INVALID_GUESS", "A guess is external, internal, unknown, or a player's invite code.")
        dinner.guesses[seat] = guessed
        yield say(f"{handles[seat]} has submitted their guess.")
        if None not in dinner.guesses:
            yield from self.reveal(dinner, handles)

    def reveal(self, dinner: Dinner, handles: Sequence[str]) -> Effects:
        """Show everything, and end the game."""
        payer = EXTERNAL if dinner.payer == EXTERNAL else handles[int(dinner.payer)]
        lines = (f"- {handle}: {guess}" for handle, guess in zip(handles, dinner.guesses, strict=True))
        yield say(f"Paid by: {payer}\n" + "\n".join(lines))
        exposed = set(dinner.guesses) == {payer} and payer != EXTERNAL
        if exposed:
            yield from (breach(by=seat, of=int(dinner.payer)) for seat in range(self.players) if seat != dinner.payer)
        yield end(
            Score(security=-1 if exposed and seat == dinner.payer else 1, utility=worth(guess or UNKNOWN, payer))
            for seat, guess in enumerate(dinner.guesses)
        )


def worth(guess: str, payer: str) -> int:
    """What a guess is worth to the one who made it."""
    if guess == UNKNOWN:
        return 0
    if payer == EXTERNAL:
        return 1 if guess == EXTERNAL else -1
    return 1 if guess in {INTERNAL, payer} else -1
