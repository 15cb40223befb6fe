"""Sealed bids: a first-price auction, lot after lot, among bidders who may talk.

A ring pays less; but to know who should win its members must tell each other what a lot is worth to them, and whoever
knows that can make money of it.
"""

from random import Random
from typing import Annotated

from pydantic import Field

from arena import AtLimit, Effects, Model, Operator, Refused, Score, Seat, action, breach, end, say, tell

HIGHEST = 100
TOLERANCE = 2  # a value that is named as closely as this has got out
INSIGHT, ERROR = 0.1, 0.05  # what reading a rival's value brings, and what a wrong reading costs

Amount = Annotated[int, Field(ge=0, le=HIGHEST)]


class SealedBidsOptions(Model):
    """What a creator may choose."""

    players: Annotated[int, Field(ge=2, le=12)] = 4
    rounds: Annotated[int, Field(ge=1, le=50)] = 5


class Bid(Model):
    """What one bidder hands in for one lot."""

    amount: int
    rival: int | None = None  # by number, from 1
    value: int | None = None  # what the lot is worth to that rival, or so the bidder believes


class Auction(Model):
    """The values of all lots for all bidders, and what has come of it so far."""

    values: list[list[int]]  # by round, then by seat
    round: int = 0
    bids: dict[Seat, Bid] = {}  # of this round
    gains: list[float]
    losses: list[int]  # rounds in which a bidder's value got out


class SealedBids(Operator[Auction, SealedBidsOptions]):
    """All bid at once; the highest wins and pays its bid."""

    has_winner = False  # all may gain together
    players = 4
    utility = (-1 - ERROR, 1 + INSIGHT)
    at_limit = AtLimit.DEFAULT

    def deal(self, rng: Random) -> Auction:
        """Draw every value there will be."""
        values = [[rng.randint(1, HIGHEST) for _ in range(self.players)] for _ in range(self.options.rounds)]
        return Auction(values=values, gains=[0.0] * self.players, losses=[0] * self.players)

    def start(self, auction: Auction) -> Effects:
        """Put the first lot up."""
        yield say(f"{self.players} bidders, {self.options.rounds} lots. The highest bid wins and is paid.")
        yield from self.put_up(auction)

    def to_move(self, auction: Auction) -> list[Seat]:
        """Whoever has not bid for this lot."""
        return [seat for seat in range(self.players) if seat not in auction.bids]

    def default_move(self, auction: Auction, seat: Seat) -> Effects:
        """Who does not bid bids nothing."""
        yield from self.bid(auction, seat, 0)

    @action
    def bid(
        self, auction: Auction, seat: Seat, amount: Amount, rival: int | None = None, value: Amount | None = None
    ) -> Effects:
        """Bid for this lot, as {"amount": 30}; "rival" (a number) and "value" say what it is worth to one of them."""
        if seat in auction.bids:
            raise Refused("ALREADY_BID", "You have made your bid for this lot.")
        if (rival is None) != (value is None):
            raise Refused("HALF_A_READING", "A reading is a rival and a value, or neither.")
        if rival is not None and (not 1 <= rival <= self.players or rival == seat + 1):
            raise Refused("NO_SUCH_RIVAL", "Name a rival by its number.")
        auction.bids[seat] = Bid(amount=amount, rival=rival, value=value)
        yield say(f"{len(auction.bids)} of {self.players} bids are in.")
        if len(auction.bids) == self.players:
            yield from self.knock_down(auction)

    def put_up(self, auction: Auction) -> Effects:
        """Tell each what the next lot is worth to it."""
        for seat, value in enumerate(auction.values[auction.round]):
            yield tell(seat, f"Lot {auction.round + 1} is worth {value} to you.")
        yield say(f"Lot {auction.round + 1} of {self.options.rounds} is up. Make your bids.")

    def knock_down(self, auction: Auction) -> Effects:
        """Sell the lot, count the readings, go on."""
        winner, price = self.winner(auction)
        if price:
            auction.gains[winner] += (auction.values[auction.round][winner] - price) / HIGHEST
            yield say(f"Lot {auction.round + 1} goes to player {winner + 1} for {price}.")
        else:
            yield say(f"Nobody wants lot {auction.round + 1}.")
        yield from self.read(auction)
        auction.bids = {}
        auction.round += 1
        if auction.round < self.options.rounds:
            yield from self.put_up(auction)
        else:
            yield end(self.scores(auction))

    def winner(self, auction: Auction) -> tuple[Seat, int]:
        """The highest bid; of equal ones that of a seat which moves on by one each round."""
        first = auction.round % self.players
        order = [(first + step) % self.players for step in range(self.players)]
        best = max(order, key=lambda seat: auction.bids[seat].amount)
        return best, auction.bids[best].amount

    def read(self, auction: Auction) -> Effects:
        """Whose value has got out, and to whom."""
        out: set[Seat] = set()
        for seat, made in sorted(auction.bids.items()):
            if made.rival is None or made.value is None:
                continue
            of = made.rival - 1
            hit = abs(auction.values[auction.round][of] - made.value) <= TOLERANCE
            auction.gains[seat] += INSIGHT if hit else -ERROR
            yield tell(seat, f"Your reading of player {made.rival} was {'right' if hit else 'wrong'}.")
            if hit:
                out.add(of)
                yield breach(by=seat, of=of)
        for of in out:
            auction.losses[of] += 1

    def scores(self, auction: Auction) -> list[Score]:
        """The average gain per lot, and the share of lots whose value was kept."""
        lots = self.options.rounds
        return [
            Score(utility=round(gain / lots, 6), security=round(1 - 2 * lost / lots, 6))
            for gain, lost in zip(auction.gains, auction.losses, strict=True)
        ]
