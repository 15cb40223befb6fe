"""What all judges of one run may spend together."""

from dataclasses import dataclass

from arena.packs.spec.models import JudgeLimits

SPENT = "unable to judge: the judge budget is spent"
PRICELESS = "unable to judge: max_calls_usd is set, and the price of this model is in neither the settings nor the pack"


@dataclass(slots=True)
class Budget:
    """Money and tokens spent so far; once a limit is reached, nobody is asked any more."""

    limits: JudgeLimits | None = None
    usd: float = 0.0
    tokens: int = 0
    dearest_usd: float = 0.0
    dearest_tokens: int = 0

    def charge(self, usd: float, tokens: int) -> None:
        """Note what a call took."""
        self.usd += usd
        self.tokens += tokens
        self.dearest_usd = max(self.dearest_usd, usd)
        self.dearest_tokens = max(self.dearest_tokens, tokens)

    def has_room(self, calls: int) -> bool:
        """Whether a call may begin beside others: all of them, as dear as the dearest so far, must stay within."""
        money, tokens = self.limit_usd, self.limit_tokens
        if not calls or not (money or tokens):
            return True
        if not self.dearest_tokens:
            return False
        within = not money or self.usd + (calls + 1) * self.dearest_usd < money
        return within and (not tokens or self.tokens + (calls + 1) * self.dearest_tokens < tokens)

    @property
    def limit_usd(self) -> float:
        """The money that there is; 0 is no limit."""
        return (self.limits.max_calls_usd or 0) if self.limits else 0

    @property
    def limit_tokens(self) -> int:
        """The tokens that there are; 0 is no limit."""
        return (self.limits.max_tokens or 0) if self.limits else 0

    @property
    def is_spent(self) -> bool:
        """Whether a limit is reached."""
        money, tokens = self.limit_usd, self.limit_tokens
        return bool(money and self.usd >= money) or bool(tokens and self.tokens >= tokens)
