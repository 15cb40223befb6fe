"""Scorecard: what evaluations of a player's runs came to, over all its games."""

from pydantic import BaseModel

from arena import Fold, GameResult, Interval, MetricDescriptor, SeatCard
from arena.statistics import Spread, confidence_among, wilson


class Sum(BaseModel):
    """A total, and over how many it goes."""

    total: float = 0
    count: int = 0

    def add(self, value: float | None, count: int = 1) -> "Sum":
        """With one more value, if there is one."""
        return self if value is None else Sum(total=self.total + value, count=self.count + count)


class Cards(BaseModel):
    """The cards of a player so far."""

    games: int = 0
    overall: float = 0
    spread: Spread = Spread()
    cases: int = 0
    passes: int = 0
    cost_usd: Sum = Sum()
    latency_ms: Sum = Sum()
    dimensions: dict[str, Sum] = {}


class Scorecard(Fold[Cards]):
    """Ranks by the mean overall score; a game without scorecards leaves everything as it is.

    Cost and latency are per case and negative, so that on these boards too the best comes first.
    """

    name = "scorecard"
    metrics = (
        MetricDescriptor(key="scorecard:overall", label="Overall"),
        MetricDescriptor(key="scorecard:pass-rate", label="Pass rate"),
        MetricDescriptor(key="scorecard:cost", label="Cost (USD per case, negative)"),
        MetricDescriptor(key="scorecard:latency", label="Latency (ms per case, negative)"),
    )

    def fold(self, tallies: list[Cards], result: GameResult) -> list[Cards]:
        """Add the card of each seat."""
        if result.scorecards is None:
            return tallies
        return [_add(tally, card, result.pair) for tally, card in zip(tallies, result.scorecards, strict=True)]

    def read(self, tally: Cards) -> dict[str, float]:
        """The means, those of dimensions among them."""
        found = {
            "scorecard:overall": tally.overall / tally.games if tally.games else 0.0,
            "scorecard:pass-rate": tally.passes / tally.cases if tally.cases else 0.0,
        }
        for key, sum_ in (("cost", tally.cost_usd), ("latency", tally.latency_ms)):
            if sum_.count:
                found[f"scorecard:{key}"] = -sum_.total / sum_.count
        means = {key: sum_.total / sum_.count for key, sum_ in tally.dimensions.items() if sum_.count}
        return found | {f"scorecard:dimension:{key}": mean for key, mean in means.items()}

    def intervals(self, tally: Cards, among: int = 1) -> dict[str, Interval]:
        """Student's of the overall score, Wilson's of the pass rate."""
        confidence = confidence_among(among)
        found = {}
        mean = tally.spread.interval(tally.overall / tally.games, confidence) if tally.games else None
        if mean is not None:
            found["scorecard:overall"] = mean
        if tally.cases:
            found["scorecard:pass-rate"] = wilson(tally.passes, tally.cases, confidence)
        return found


def _add(tally: Cards, card: SeatCard, pair: str | None) -> Cards:
    dimensions = {key: tally.dimensions.get(key, Sum()).add(value) for key, value in card.dimensions.items()}
    return Cards(
        games=tally.games + 1,
        overall=tally.overall + card.overall,
        spread=tally.spread.add(card.overall, pair),
        cases=tally.cases + card.cases,
        passes=tally.passes + card.passes,
        cost_usd=tally.cost_usd.add(card.cost_usd, card.cases),
        latency_ms=tally.latency_ms.add(card.latency_ms, card.cases),
        dimensions=tally.dimensions | dimensions,
    )
