"""Purse: what one game may cost. A call that could go beyond a limit is not made."""

from dataclasses import dataclass, field

from arena.llm.routes import Price
from arena.llm.talk import Tokens
from arena.models import Model

LEAST = 64  # tokens of an answer that are worth a call


@dataclass(frozen=True)
class Limits:
    """The most that all calls together may take; none is no limit."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None


class Spent(Exception):
    """Why there is no other call."""


class Usage(Model):
    """What a model took."""

    calls: int = 0  # that were answered
    failures: int = 0  # that were not
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None  # none if nobody knows the price
    assumed_tokens: int = 0  # the most that calls without a bill may have taken; counts against the limits
    assumed_usd: float | None = None
    latency_ms: int = 0  # of all answers together


@dataclass
class Purse:
    """The limits, and what has been spent of them."""

    limits: Limits
    price: Price | None = None
    usage: Usage = field(default_factory=Usage)

    def __post_init__(self) -> None:
        if self.price is not None:
            self.usage.cost_usd = self.usage.assumed_usd = 0.0

    @property
    def made(self) -> int:
        """How many calls there were."""
        return self.usage.calls + self.usage.failures

    @property
    def tokens(self) -> int:
        """How many tokens were or may have been taken."""
        return self.usage.input_tokens + self.usage.output_tokens + self.usage.assumed_tokens

    @property
    def usd(self) -> float:
        """How much money was or may have been spent."""
        return (self.usage.cost_usd or 0.0) + (self.usage.assumed_usd or 0.0)

    @property
    def share(self) -> float:
        """How much of the limits is spent, of the one that is spent most: 1 is all."""
        limits = self.limits
        spent = ((self.made, limits.calls), (self.tokens, limits.tokens), (self.usd, limits.usd))
        return max((there / limit if limit else 1.0 for there, limit in spent if limit is not None), default=0.0)

    def room(self, asked: int, wanted: int) -> int:
        """How long an answer may be to a question of at most so many tokens; raises `Spent` if it is not worth it."""
        limits, most = self.limits, wanted
        if limits.calls is not None and self.made >= limits.calls:
            raise Spent(f"{self.made} calls were made, and there are no more")
        if limits.tokens is not None:
            most = min(most, limits.tokens - self.tokens - asked)
            if most < min(LEAST, wanted):
                raise Spent(f"{self.tokens} of {limits.tokens} tokens are spent, and the next call may take the rest")
        if limits.usd is not None and self.price is not None:
            most = self._affordable(limits.usd - self.usd, asked, most)
            if most < min(LEAST, wanted):
                raise Spent(f"{self.usd:.4f} of {limits.usd:g} USD are spent, and the next call may take the rest")
        return most

    def _affordable(self, left: float, asked: int, wanted: int) -> int:
        assert self.price is not None
        rest = left - self.price.of(Tokens(input=asked))
        if rest < 0:
            return 0
        each = self.price.of(Tokens(output=1))
        return wanted if each * wanted <= rest else int(rest / each)

    def charge(self, tokens: Tokens, usd: float | None, milliseconds: int) -> None:
        """Note an answer and its bill."""
        usage = self.usage
        usage.calls += 1
        usage.input_tokens += tokens.input
        usage.output_tokens += tokens.output
        usage.latency_ms += milliseconds
        if usd is not None:
            usage.cost_usd = (usage.cost_usd or 0.0) + usd

    def assume(self, tokens: Tokens) -> None:
        """Note the most that a call without a bill may have taken."""
        self.usage.assumed_tokens += tokens.total
        if self.price is not None:
            self.usage.assumed_usd = (self.usage.assumed_usd or 0.0) + self.price.of(tokens)

    def fail(self) -> None:
        """Note a call that was not answered."""
        self.usage.failures += 1
