"""House bots for the ultimatum game. Both read the table from what the operator says; one bargains, one gives in."""

import re
from collections.abc import Sequence
from random import Random

from arena.bots import Bot, Move, Moves, Talk
from arena.models import OPERATOR, ChatMessage


class SofterBot(Bot):
    """Offers equal shares, and takes whatever is not a loss."""

    greeting = "Hello! Equal shares would be fine with me."

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.seat: int | None = None  # once everybody sits
        self.players = self.total = 0
        self.reservation = 0
        self.offer: list[int] | None = None
        self.offered_by = -1
        self.turn = (-1, 0, 1)  # whose it is, in which round of how many
        self.moved_at: tuple[int, int, int] | None = None  # one move per turn, whatever is heard

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        """Say hello; the turn may have been called already."""
        self.seat, self.players = list(players).index(me), len(players)
        yield Talk(self.greeting)
        yield from self.proceed()

    def hear(self, message: ChatMessage) -> Moves:
        """Follow the operator; talk is cheap."""
        if message.from_ == OPERATOR:
            self.note(message.content)
            yield from self.proceed()

    def note(self, text: str) -> None:
        """Read what the operator says."""
        if found := re.match(r"Your private reservation value is: (\d+)", text):
            self.reservation = int(found[1])
        if found := re.match(r"There are (\d+) to divide", text):
            self.total = int(found[1])
        if found := re.match(r"Player (\d+) proposes: (.*)", text):
            self.offered_by = int(found[1]) - 1
            self.offer = [int(share) for share in re.findall(r": (\d+)", found[2])]
        if re.match(r"Player \d+ rejects", text):
            self.offer = None
        if found := re.search(r"Player (\d+)'s turn. \(Round (\d+)/(\d+)\)", text):
            self.turn = (int(found[1]) - 1, int(found[2]), int(found[3]))

    def proceed(self) -> Moves:
        """Move if it is my turn and I have not moved in it."""
        if self.seat is not None and self.turn[0] == self.seat and self.turn != self.moved_at:
            self.moved_at = self.turn
            yield self.choose()

    def choose(self) -> Move:
        """Answer the offer on the table, or make one."""
        if self.offer is None:
            return self.propose()
        if self.offered_by == self.seat:
            return Move("pass", "")
        assert self.seat is not None
        return Move("accept", "") if self.suffices(self.offer[self.seat]) else self.propose()

    def suffices(self, share: int) -> bool:
        """Whether I take so much."""
        return share > self.reservation

    def propose(self) -> Move:
        """Claim my part and spread the rest evenly."""
        mine = min(max(self.claim(), 0), self.total)
        rest, more = divmod(self.total - mine, self.players - 1)
        others = [rest + (number < more) for number in range(self.players - 1)]
        assert self.seat is not None
        shares = [*others[: self.seat], mine, *others[self.seat :]]
        return Move("submit_offer", " ".join(map(str, shares)))

    def claim(self) -> int:
        """What I ask for myself."""
        return max(self.total // self.players, self.reservation + 1)


class BargainerBot(SofterBot):
    """Asks for much at first and gives way round by round, never below its reservation value."""

    greeting = "Good day. I need rather a lot to agree, I am afraid."

    def aspiration(self) -> float:
        """What I hope for now: from nearly everything down to half of what is above my value."""
        _, round_, rounds = self.turn
        patience = 1 - (round_ - 1) / max(rounds - 1, 1)
        surplus = self.total - self.reservation
        return self.reservation + surplus * (0.5 + 0.4 * patience) / (self.players / 2)

    def claim(self) -> int:
        """As much as I hope for."""
        return max(round(self.aspiration()), self.reservation + 1)

    def suffices(self, share: int) -> bool:
        """As much as I hope for, or at the end anything that is worth it."""
        _, round_, rounds = self.turn
        return share >= self.aspiration() or (round_ >= rounds - 1 and share > self.reservation)


BOTS = {"softer": SofterBot, "bargainer": BargainerBot}
