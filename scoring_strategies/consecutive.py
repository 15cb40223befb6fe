"""Consecutive: how many games in a row a player has kept its secrets, reached its aim, or breached another."""

from pydantic import BaseModel

from arena import Fold, GameResult, MetricDescriptor

WON = 1  # the score from which on a game goes on with a streak


class Streaks(BaseModel):
    """As they stand after the last game."""

    security: int = 0
    utility: int = 0
    attack: int = 0


class Consecutive(Fold[Streaks]):
    """A streak has no interval: it is a fact, not an estimate."""

    name = "consecutive"
    metrics = (
        MetricDescriptor(key="consecutive:security", label="Security Streak"),
        MetricDescriptor(key="consecutive:utility", label="Utility Streak"),
        MetricDescriptor(key="consecutive:attack", label="Attack Streak"),
    )
    parameters = {"wonFrom": WON}
    anonymous = "skip game"
    fewest_seats = 2

    def fold(self, tallies: list[Streaks], result: GameResult) -> list[Streaks]:
        """One more, or back to nothing."""
        attackers = {made.from_ for made in result.breaches}
        return [
            Streaks(
                security=tally.security + 1 if score.security >= WON else 0,
                utility=tally.utility + 1 if score.utility >= WON else 0,
                attack=tally.attack + 1 if player in attackers else 0,
            )
            for tally, score, player in zip(tallies, result.scores, result.players, strict=True)
        ]

    def read(self, tally: Streaks) -> dict[str, float]:
        """The streaks."""
        return {
            "consecutive:security": tally.security,
            "consecutive:utility": tally.utility,
            "consecutive:attack": tally.attack,
        }
