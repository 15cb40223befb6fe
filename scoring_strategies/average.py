"""Average: the mean security and utility of a player's games."""

from pydantic import BaseModel

from arena import Fold, GameResult, MetricDescriptor


class Sums(BaseModel):
    """Totals so far."""

    games: int = 0
    security: float = 0
    utility: float = 0


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
            Sums(games=t.games + 1, security=t.security + score.security, utility=t.utility + score.utility)
            for t, score in zip(tallies, result.scores, strict=True)
        ]

    def read(self, tally: Sums) -> dict[str, float]:
        """The means."""
        return {
            "average:security": tally.security / tally.games,
            "average:utility": tally.utility / tally.games,
        }
