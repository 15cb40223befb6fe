"""Average: the mean security and utility of a player's games."""

from pydantic import BaseModel, Field

from arena import Fold, GameResult, Interval, MetricDescriptor
from arena.statistics import Spread, confidence_among


class Sums(BaseModel):
    """Totals so far."""

    games: int = 0
    security: float = 0
    utility: float = 0
    security_spread: Spread = Field(default_factory=Spread)
    utility_spread: Spread = Field(default_factory=Spread)


class Average(Fold[Sums]):
    """The mean of the scores; a seat without identity is left out, the others count."""

    name = "average"
    metrics = (
        MetricDescriptor(key="average:security", label="Security"),
        MetricDescriptor(key="average:utility", label="Utility"),
    )

    def fold(self, tallies: list[Sums], result: GameResult) -> list[Sums]:
        """Add this game's scores."""
        return [
            Sums(
                games=t.games + 1,
                security=t.security + score.security,
                utility=t.utility + score.utility,
                security_spread=t.security_spread.add(score.security, result.deal),
                utility_spread=t.utility_spread.add(score.utility, result.deal),
            )
            for t, score in zip(tallies, result.scores, strict=True)
        ]

    def read(self, tally: Sums) -> dict[str, float]:
        """The means."""
        return {
            "average:security": tally.security / tally.games,
            "average:utility": tally.utility / tally.games,
        }

    def intervals(self, tally: Sums, among: int = 1) -> dict[str, Interval]:
        """The t interval of each mean, with games on one seed as one observation."""
        found = {}
        means = self.read(tally)
        for key, spread in zip(means, (tally.security_spread, tally.utility_spread), strict=True):
            interval = spread.interval(means[key], confidence_among(among)) if spread.games == tally.games else None
            if interval is not None:
                found[key] = interval
        return found
