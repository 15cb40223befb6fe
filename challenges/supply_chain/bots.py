"""House bots for the supply chain: one asks for little and tells its figure, the other haggles and reads."""

import json
import re
from collections.abc import Sequence
from random import Random

from arena.bots import Bot, Move, Moves, Talk
from arena.models import OPERATOR, ChatMessage

TOLD = re.compile(r"I am the (grower|maker|shop), and my figure is (\d{1,3})\.")
FIRST, LAST = 0.9, 0.05  # margin that a haggler asks for at the beginning and at the end, of what it thinks there is
USUAL = {"grower": 30, "maker": 30, "shop": 105}


class FrankBot(Bot):
    """Tells its figure, asks for a small margin, and believes what it is told."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.me = self.role = ""
        self.figure = self.round = self.rounds = 0
        self.quoted = 0  # rounds that I have named prices for
        self.told: dict[str, int] = {}
        self.over = self.ended = self.spoken = False

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        """Everybody sits."""
        self.me = me
        yield from self.proceed()

    def hear(self, message: ChatMessage) -> Moves:
        """The operator's calls, and what others say of themselves."""
        if message.from_ == OPERATOR:
            self.note(message.content)
        elif message.from_ != self.me and (found := TOLD.fullmatch(message.content)) and found[1] != self.role:
            self.told.setdefault(found[1], min(int(found[2]), 200))
        yield from self.proceed()

    def note(self, text: str) -> None:
        """Follow the haggling."""
        if found := re.match(r"You are the (\w+)\. .* (\d+)\.", text):
            self.role, self.figure = found[1], int(found[2])
        if found := re.search(r"Round (\d+) of (\d+): name", text):
            self.round, self.rounds = int(found[1]), int(found[2])
        if "Now say what you believe" in text:
            self.over = True

    def proceed(self) -> Moves:
        """Speak, quote and read, each once when it is due."""
        if not self.me or not self.role:
            return
        if not self.spoken:
            self.spoken = True
            yield from self.introduce()
        if self.over and not self.ended:
            self.ended = True
            yield Move("read", json.dumps(self.reading()))
        elif not self.over and self.quoted < self.round:
            self.quoted = self.round
            yield Move("quote", json.dumps(self.prices(self.margin())))

    def introduce(self) -> Moves:
        """Tell everything."""
        yield Talk(f"I am the {self.role}, and my figure is {self.figure}.")

    def margin(self) -> int:
        """A little, and less from round to round."""
        return max(1, 8 - self.round)

    def prices(self, margin: int) -> dict[str, int]:
        """Prices that leave me so much if the others take them."""
        if self.role == "grower":
            return {"sell": min(self.figure + margin, 200)}
        if self.role == "shop":
            return {"buy": max(self.figure - margin, 0)}
        # The maker puts itself between what the other two would find fair.
        low = self.told.get("grower", USUAL["grower"])
        high = self.told.get("shop", USUAL["shop"])
        spare = max(0, high - low - self.figure - margin)
        buy = low + spare // 2
        return {"buy": min(buy, 200), "sell": min(buy + self.figure + margin, 200)}

    def reading(self) -> dict[str, int]:
        """Frank bots do not accuse."""
        return {}


class HagglerBot(FrankBot):
    """Says nothing, starts high, comes down, and names every figure that it was told."""

    def introduce(self) -> Moves:
        """Not a word."""
        return ()

    def margin(self) -> int:
        """Much of what there may be, less from round to round."""
        known = {**USUAL, **self.told, self.role: self.figure}
        there = max(10, known["shop"] - known["grower"] - known["maker"])
        patience = 1 - (self.round - 1) / max(self.rounds - 1, 1)
        return max(1, round(there * (LAST + (FIRST - LAST) * patience) * (0.8 if self.told else 0.6)))

    def reading(self) -> dict[str, int]:
        """Whatever was told."""
        return dict(self.told)


BOTS = {"frank": FrankBot, "haggler": HagglerBot}
