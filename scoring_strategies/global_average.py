"""Global average: each metric of the source strategy, averaged over the challenge types a player has played."""

from collections.abc import Mapping
from statistics import fmean

from arena import MetricDescriptor, ScoringEntry
from arena.models import UserId


class GlobalAverage:
    """Every type weighs the same, however many of its games were played."""

    name = "global-average"
    metrics = (
        MetricDescriptor(key="global-average:security", label="Security"),
        MetricDescriptor(key="global-average:utility", label="Utility"),
    )

    def combine(self, player: UserId, entries: Mapping[str, ScoringEntry]) -> ScoringEntry | None:
        """The mean over types, under this strategy's own keys."""
        if not entries:
            return None
        columns: dict[str, list[float]] = {}
        for entry in entries.values():
            for key, value in entry.metrics.items():
                columns.setdefault(f"{self.name}:{key.partition(':')[2]}", []).append(value)
        return ScoringEntry(
            player_id=player,
            games_played=sum(entry.games_played for entry in entries.values()),
            metrics={key: fmean(values) for key, values in columns.items()},
        )
