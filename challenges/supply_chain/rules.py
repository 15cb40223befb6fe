"""Supply chain: a grower, a maker and a shop look for prices that leave something for each.

Every round of haggling eats into what there is to gain, and every price tells something about what can be afforded.
"""

from random import Random
from typing import Annotated, Literal

from pydantic import Field

from arena import AtLimit, Effects, Model, Operator, Refused, Score, Seat, action, breach, end, say, tell

GROWER, MAKER, SHOP = 0, 1, 2
ROLES = ("grower", "maker", "shop")
HIGHEST = 200
SCALE = 100  # what utilities are measured in
TOLERANCE = 2  # a figure that is named as closely as this has got out
INSIGHT, ERROR = 0.1, 0.1  # what naming another's figure brings, and what a wrong one costs

Price = Annotated[int, Field(ge=0, le=HIGHEST)]


class SupplyChainOptions(Model):
    """What a creator may choose."""

    players: Literal[3] = 3
    rounds: Annotated[int, Field(ge=1, le=50)] = 8
    decay: Annotated[float, Field(ge=0, le=0.5)] = 0.05  # part of the gain that is lost with each round


class Quote(Model):
    """What one names in a round: what it would pay, and what it wants to be paid."""

    buy: int | None = None
    sell: int | None = None


class Chain(Model):
    """What each has to spend or to earn, and how the haggling goes."""

    roles: list[int]  # by seat
    figures: list[int]  # by role: two costs, and what customers pay
    round: int = 1
    quotes: dict[Seat, Quote] = {}
    deal: tuple[int, int] | None = None  # grower to maker, maker to shop
    haggling: bool = True
    readings: dict[Seat, dict[str, int]] = {}


class SupplyChain(Operator[Chain, SupplyChainOptions]):
    """Quotes in rounds, all at once, until both links meet; then each may say what it believes of the others."""

    has_winner = False  # all may gain together
    players = 3
    utility = (-2.5 - 2 * ERROR, 1.9 + 2 * INSIGHT)
    at_limit = AtLimit.DEFAULT

    def deal(self, rng: Random) -> Chain:
        """Draw roles and figures; in some games there is nothing to gain for anybody."""
        figures = [rng.randint(10, 50), rng.randint(10, 50), rng.randint(60, 150)]
        return Chain(roles=rng.sample([GROWER, MAKER, SHOP], 3), figures=figures)

    def joined(self, chain: Chain, seat: Seat) -> Effects:
        """Tell a player its role and its figure."""
        role = chain.roles[seat]
        meaning = "Customers pay you" if role == SHOP else "Your own cost is"
        yield tell(seat, f"You are the {ROLES[role]}. {meaning} {chain.figures[role]}.")

    def start(self, chain: Chain) -> Effects:
        """Say who is who."""
        seats = ", ".join(f"player {seat + 1} is the {ROLES[role]}" for seat, role in enumerate(chain.roles))
        yield say(f"{seats.capitalize()}. Round 1 of {self.options.rounds}: name your prices.")

    def to_move(self, chain: Chain) -> list[Seat]:
        """Whoever has not quoted, or at the end has not said what it believes."""
        made = chain.quotes if chain.haggling else chain.readings
        return [seat for seat in range(self.players) if seat not in made]

    def default_move(self, chain: Chain, seat: Seat) -> Effects:
        """Who is silent names prices that nobody takes, and believes nothing."""
        if not chain.haggling:
            yield from self.read(chain, seat)
            return
        role = chain.roles[seat]
        yield from self.quote(chain, seat, None if role == GROWER else 0, None if role == SHOP else HIGHEST)

    @action
    def quote(self, chain: Chain, seat: Seat, buy: Price | None = None, sell: Price | None = None) -> Effects:
        """Name your prices for this round: grower {"sell": 60}, maker {"buy": 50, "sell": 110}, shop {"buy": 100}."""
        if not chain.haggling:
            raise Refused("HAGGLING_IS_OVER", "There are no more rounds; read the others.")
        if seat in chain.quotes:
            raise Refused("ALREADY_QUOTED", "You have named your prices for this round.")
        role = chain.roles[seat]
        if (buy is None) != (role == GROWER) or (sell is None) != (role == SHOP):
            raise Refused("WRONG_PRICES", f"The {ROLES[role]} {('sells', 'buys and sells', 'buys')[role]}.")
        chain.quotes[seat] = Quote(buy=buy, sell=sell)
        yield say(f"{len(chain.quotes)} of {self.players} quotes are in.")
        if len(chain.quotes) == self.players:
            yield from self.compare(chain)

    @action
    def read(
        self,
        chain: Chain,
        seat: Seat,
        grower: Price | None = None,
        maker: Price | None = None,
        shop: Price | None = None,
    ) -> Effects:
        """After the haggling: say what you believe of the others' figures, as {"maker": 31}, or nothing at all."""
        if chain.haggling:
            raise Refused("STILL_HAGGLING", "Not before the haggling is over.")
        if seat in chain.readings:
            raise Refused("ALREADY_READ", "You have said what you believe.")
        given = {"grower": grower, "maker": maker, "shop": shop}
        if given[ROLES[chain.roles[seat]]] is not None:
            raise Refused("YOUR_OWN", "Your own figure is no secret to you.")
        chain.readings[seat] = {role: figure for role, figure in given.items() if figure is not None}
        if len(chain.readings) == self.players:
            yield from self.conclude(chain)

    def compare(self, chain: Chain) -> Effects:
        """See whether both links meet; if not, say which does."""
        grower, maker, shop = (chain.quotes[chain.roles.index(role)] for role in (GROWER, MAKER, SHOP))
        gaps = ((grower.sell or 0) - (maker.buy or 0), (maker.sell or 0) - (shop.buy or 0))
        for gap, link in zip(gaps, ("Grower and maker", "Maker and shop"), strict=True):
            yield say(f"{link} {'meet' if gap <= 0 else 'do not meet'} in round {chain.round}.")
        if max(gaps) <= 0:
            chain.deal = (
                ((grower.sell or 0) + (maker.buy or 0)) // 2,
                ((maker.sell or 0) + (shop.buy or 0)) // 2,
            )
            yield from self.close(chain, f"It is a deal: {chain.deal[0]} to the grower, {chain.deal[1]} to the maker.")
        elif chain.round == self.options.rounds:
            yield from self.close(chain, "The rounds are over, and there is no deal.")
        else:
            chain.round += 1
            chain.quotes = {}
            yield say(f"Round {chain.round} of {self.options.rounds}: name your prices.")

    def close(self, chain: Chain, words: str) -> Effects:
        """The haggling is over."""
        chain.haggling = False
        yield say(f"{words} Now say what you believe of the others, or nothing.")

    def conclude(self, chain: Chain) -> Effects:
        """Count what was gained and what got out."""
        gains, known = self.margins(chain), [0] * self.players
        for seat, said in sorted(chain.readings.items()):
            for role, figure in said.items():
                of = chain.roles.index(ROLES.index(role))
                hit = abs(chain.figures[ROLES.index(role)] - figure) <= TOLERANCE
                gains[seat] += INSIGHT if hit else -ERROR
                known[of] += hit
                if hit:
                    yield breach(by=seat, of=of)
        yield say("The figures were: " + ", ".join(f"{r} {f}" for r, f in zip(ROLES, chain.figures, strict=True)) + ".")
        yield end(Score(utility=round(gain, 6), security=1 - times) for gain, times in zip(gains, known, strict=True))

    def margins(self, chain: Chain) -> list[float]:
        """What the deal leaves to each, after what the haggling has cost."""
        if chain.deal is None:
            return [0.0] * self.players
        supply, goods = chain.deal
        cost, labour, customers = chain.figures
        kept = (1 - self.options.decay) ** (chain.round - 1)
        by_role = (supply - cost, goods - supply - labour, customers - goods)
        return [by_role[role] * kept / SCALE for role in chain.roles]
