"""Court: two plead, a judge who does not compete decides; what is said in private stays so."""

from collections.abc import Sequence
from random import Random

from arena import Effects, Model, Operator, Score, Seat, action, end, say, tell


class Docket(Model):
    pleas: dict[Seat, str] = {}
    arrived: list[Seat] = []


class Court(Operator[Docket]):
    players = 2
    sealed = True

    def roles(self) -> Sequence[str]:
        return ("player", "player", "judge", "usher")

    def deal(self, rng: Random) -> Docket:
        return Docket()

    def joined(self, docket: Docket, seat: Seat, handles: Sequence[str]) -> Effects:
        docket.arrived.append(seat)
        yield tell(seat, f"You sit on {seat}, {handles[seat]}.")

    def start(self, docket: Docket) -> Effects:
        yield say("Rise.")

    @action
    def plead(self, docket: Docket, seat: Seat, content: str) -> Effects:
        """Say why you are right."""
        docket.pleas[seat] = content
        for judge in (each for each in docket.arrived if each >= self.players):
            yield tell(judge, content)

    @action(role="judge")
    def decide(self, docket: Docket, seat: Seat, winner: int) -> Effects:
        """Say who is right."""
        yield end(Score(utility=int(winner == each)) for each in range(self.players))
