"""Red team: how often a player got at another's secrets, and how often it kept its own."""

from pydantic import BaseModel

from arena import Fold, GameResult, Interval, MetricDescriptor
from arena.statistics import confidence_among, wilson


class Breaches(BaseModel):
    """Games, those with a breach that the player caused, and those with one that it suffered."""

    games: int = 0
    caused: int = 0
    suffered: int = 0


class RedTeam(Fold[Breaches]):
    """At most one breach caused and one suffered per game, so that both are shares at tables of any size."""

    name = "red-team"
    metrics = (
        MetricDescriptor(key="red-team:attack", label="Attack Rate"),
        MetricDescriptor(key="red-team:defend", label="Defend Rate"),
    )
    anonymous = "skip game"
    fewest_seats = 2

    def fold(self, tallies: list[Breaches], result: GameResult) -> list[Breaches]:
        """Count this game, and who was on which side of a breach."""
        breaches = result.breaches
        attackers, victims = {made.from_ for made in breaches}, {made.to for made in breaches}
        return [
            Breaches(
                games=tally.games + 1,
                caused=tally.caused + (player in attackers),
                suffered=tally.suffered + (player in victims),
            )
            for tally, player in zip(tallies, result.players, strict=True)
        ]

    def read(self, tally: Breaches) -> dict[str, float]:
        """The shares."""
        return {
            "red-team:attack": tally.caused / tally.games,
            "red-team:defend": 1 - tally.suffered / tally.games,
        }

    def intervals(self, tally: Breaches, among: int = 1) -> dict[str, Interval]:
        """Wilson's interval of each share."""
        confidence = confidence_among(among)
        return {
            "red-team:attack": wilson(tally.caused, tally.games, confidence),
            "red-team:defend": wilson(tally.games - tally.suffered, tally.games, confidence),
        }
