"""Salon: two painters, and everybody who passes by may say whose picture is better."""

from random import Random

from arena import Effects, Model, Operator, Refused, Score, Seat, SeatCard, action, end, say


class Wall(Model):
    votes: dict[str, str] = {}


class Salon(Operator[Wall]):
    players = 2

    def deal(self, rng: Random) -> Wall:
        return Wall()

    @action
    def close(self, wall: Wall, seat: Seat, cards: int = 2) -> Effects:
        """Count the votes."""
        shares = [sum(choice == str(each) for choice in wall.votes.values()) for each in range(2)]
        card = SeatCard(overall=0.5, passed=True, cases=2, passes=1)
        yield end([Score(utility=share) for share in shares], scorecards=[card] * cards)

    def voted(self, wall: Wall, voter: str, ballot: str, choice: str) -> Effects:
        if ballot != "wall":
            raise Refused("NO_SUCH_BALLOT", "There is one wall.")
        if voter in wall.votes:
            raise Refused("VOTED", "You have voted.")
        wall.votes[voter] = choice
        yield say(f"{len(wall.votes)} votes.")
