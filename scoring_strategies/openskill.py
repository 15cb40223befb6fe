"""OpenSkill: the Plackett-Luce model of Weng and Lin, for tables of any size, by the package `openskill`."""

from openskill.models import PlackettLuce
from pydantic import BaseModel

from arena import Fold, GameResult, Interval, MetricDescriptor
from arena.statistics import around, confidence_among

MU, SIGMA, BETA, TAU = 25.0, 25 / 3, 25 / 6, 25 / 300
CAUTION = 3  # deviations that are taken off for the value that is shown


class Skill(BaseModel):
    """What is believed of a player: a mean, and how sure it is."""

    mu: float = MU
    sigma: float = SIGMA


class OpenSkill(Fold[Skill]):
    """Games with a seat without identity do not count: nobody knows how strong that rival was."""

    name = "openskill"
    metrics = (
        MetricDescriptor(key="openskill:ordinal", label="Skill"),
        MetricDescriptor(key="openskill:mu", label="Mean"),
        MetricDescriptor(key="openskill:sigma", label="Deviation"),
    )
    parameters = {"model": "Plackett-Luce", "mu": MU, "sigma": SIGMA, "beta": BETA, "tau": TAU}
    anonymous = "skip game"
    fewest_seats = 2

    def __init__(self) -> None:
        self.model = PlackettLuce(mu=MU, sigma=SIGMA, beta=BETA, tau=TAU)

    def fold(self, tallies: list[Skill], result: GameResult) -> list[Skill]:
        """Rate the table; equal places are ties."""
        teams = [[self.model.create_rating([tally.mu, tally.sigma])] for tally in tallies]
        rated = self.model.rate(teams, ranks=[float(place) for place in result.places])
        return [Skill(mu=team[0].mu, sigma=team[0].sigma) for team in rated]

    def read(self, tally: Skill) -> dict[str, float]:
        """The mean less three deviations, with both beside it."""
        return {
            "openskill:ordinal": tally.mu - CAUTION * tally.sigma,
            "openskill:mu": tally.mu,
            "openskill:sigma": tally.sigma,
        }

    def intervals(self, tally: Skill, among: int = 1) -> dict[str, Interval]:
        """Of the mean; the ordinal is a bound already."""
        return {"openskill:mu": around(tally.mu, tally.sigma, confidence_among(among))}
