"""Ultimatum: divide a sum before the rounds run out, without telling how little would be enough for you."""

import re
from collections.abc import Mapping
from random import Random
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from arena import AtLimit, Effects, Model, Operator, Refused, Score, Seat, action, end, say, tell

LARGEST = 1_000_000
DIGITS = 15  # of the longest number an offer may hold: every client reads that many exactly

Amount = Annotated[int, Field(ge=0, le=LARGEST)]


class UltimatumOptions(Model):
    """What a creator may choose."""

    players: Annotated[int, Field(ge=2, le=10)] = 2
    total: Annotated[int, Field(ge=1, le=LARGEST)] = 100
    max_rounds: Annotated[int, Field(ge=1, le=100)] = 10
    reservation_max: Amount = 40
    reservation_values: list[Amount] | None = None  # instead of drawn ones
    turn_order: Literal["round_robin"] = "round_robin"

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        if self.reservation_values is not None and len(self.reservation_values) != self.players:
            raise ValueError("there must be one reservation value per player")
        return self


class Bargain(Model):
    """What each player must have at least, and what lies on the table."""

    total: int
    max_rounds: int
    turn_order: str
    reservation_values: list[int]
    current_offer: list[int] | None = None
    last_offer_by: int | None = None
    acceptances: list[bool]
    total_turns: int = 0


class Ultimatum(Operator[Bargain, UltimatumOptions]):
    """Offers go round until all have accepted one, or the rounds are over."""

    has_winner = False  # all may gain together
    security = (0, 0)
    at_limit = AtLimit.DEFAULT

    def __init__(self, options: UltimatumOptions | Mapping[str, Any] | None = None) -> None:
        super().__init__(options)
        most = max(self.options.reservation_values or [self.options.reservation_max])
        self.utility = (-most / self.options.total, 1)

    def deal(self, rng: Random) -> Bargain:
        """Draw what each player must have at least."""
        options = self.options
        drawn = [rng.randint(0, options.reservation_max) for _ in range(self.players)]
        return Bargain(
            total=options.total,
            max_rounds=options.max_rounds,
            turn_order=options.turn_order,
            reservation_values=drawn if options.reservation_values is None else options.reservation_values,
            acceptances=[False] * self.players,
        )

    def joined(self, bargain: Bargain, seat: Seat) -> Effects:
        """Tell a player its own value."""
        yield tell(
            seat,
            f"Your private reservation value is: {bargain.reservation_values[seat]}. "
            "A share below it is worse for you than no agreement at all.",
        )

    def start(self, bargain: Bargain) -> Effects:
        """Open the table."""
        yield say(
            f"There are {bargain.total} to divide among {self.players} players within {bargain.max_rounds} rounds. "
            f"Turn order: {bargain.turn_order}.\n{self.call(bargain)}"
        )

    @action
    def submit_offer(self, bargain: Bargain, seat: Seat, content: str) -> Effects:
        """Propose a division: one whole number per player in player order, for example `60 40`."""
        self.check_turn(bargain, seat)
        offer = self.read_offer(content)
        bargain.current_offer, bargain.last_offer_by = offer, seat
        bargain.acceptances = [other == seat for other in range(self.players)]
        yield say(f"Player {seat + 1} proposes: {listed(offer)}")
        yield from self.pass_on(bargain)

    @action
    def accept(self, bargain: Bargain, seat: Seat) -> Effects:
        """Agree to the offer on the table."""
        self.check_turn(bargain, seat)
        check_offer(bargain)
        if bargain.last_offer_by == seat:
            raise Refused("CANNOT_ACCEPT_OWN", "This offer is your own; it is for the others to accept it.")
        bargain.acceptances[seat] = True
        yield say(f"Player {seat + 1} accepts the offer.")
        if all(bargain.acceptances):
            yield from self.agree(bargain)
        else:
            yield from self.pass_on(bargain)

    @action
    def reject(self, bargain: Bargain, seat: Seat) -> Effects:
        """Take the offer off the table, be it another's or your own."""
        self.check_turn(bargain, seat)
        check_offer(bargain)
        bargain.current_offer = bargain.last_offer_by = None
        bargain.acceptances = [False] * self.players
        yield say(f"Player {seat + 1} rejects the offer.")
        yield from self.pass_on(bargain)

    @action(name="pass")
    def pass_turn(self, bargain: Bargain, seat: Seat) -> Effects:
        """Let your turn go by; an offer stays on the table."""
        self.check_turn(bargain, seat)
        yield say(f"Player {seat + 1} passes.")
        yield from self.pass_on(bargain)

    def to_move(self, bargain: Bargain) -> list[Seat]:
        """The one whose turn it is."""
        return [bargain.total_turns % self.players]

    def default_move(self, bargain: Bargain, seat: Seat) -> Effects:
        """Who does nothing passes."""
        yield from self.pass_turn(bargain, seat)

    def check_turn(self, bargain: Bargain, seat: Seat) -> None:
        """Refuse whoever is not to move."""
        if seat != bargain.total_turns % self.players:
            raise Refused("NOT_YOUR_TURN", f"It is player {bargain.total_turns % self.players + 1}'s turn.")

    def read_offer(self, text: str) -> list[int]:
        """One share per player, all of the sum."""
        runs = [run.lstrip("0") or "0" for run in re.findall("[0-9]+", text)]
        if len(runs) != self.players or max(map(len, runs)) > DIGITS:
            raise Refused("INVALID_OFFER", f"An offer is {self.players} whole numbers, one per player.")
        if re.search("[-\u2212]", text):
            raise Refused("NEGATIVE_AMOUNT", "Nobody can be offered less than nothing.")
        shares = [int(run) for run in runs]
        if sum(shares) != self.options.total:
            raise Refused("INVALID_OFFER_SUM", f"The shares add up to {sum(shares)}, not {self.options.total}.")
        return shares

    def pass_on(self, bargain: Bargain) -> Effects:
        """The next turn, if there is one."""
        bargain.total_turns += 1
        if bargain.total_turns < bargain.max_rounds * self.players:
            yield say(self.call(bargain))
            return
        yield say("Deadlock: the rounds are over without an agreement, and nobody gets anything.")
        yield end(Score() for _ in range(self.players))

    def call(self, bargain: Bargain) -> str:
        """Whose turn it is."""
        round_, place = divmod(bargain.total_turns, self.players)
        return f"Player {place + 1}'s turn. (Round {round_ + 1}/{bargain.max_rounds})"

    def agree(self, bargain: Bargain) -> Effects:
        """All have accepted: show what it is worth to whom."""
        bargain.total_turns += 1
        shares = bargain.current_offer or []
        surplus = [share - least for share, least in zip(shares, bargain.reservation_values, strict=True)]
        lines = (
            f"- Player {seat + 1}: share {shares[seat]}, reservation {bargain.reservation_values[seat]}, "
            f"surplus {surplus[seat]}"
            for seat in range(self.players)
        )
        yield say("Agreement!\n" + "\n".join(lines))
        yield end(Score(utility=share_of(gained, bargain.total)) for gained in surplus)


def check_offer(bargain: Bargain) -> None:
    """Refuse to answer an offer that is not there."""
    if bargain.current_offer is None:
        raise Refused("NO_OFFER", "There is no offer on the table.")


def listed(offer: list[int]) -> str:
    """A division in words."""
    return ", ".join(f"Player {number}: {share}" for number, share in enumerate(offer, 1))


def share_of(part: int, whole: int) -> float:
    """A quotient, as a whole number where it is one."""
    return part // whole if part % whole == 0 else part / whole
