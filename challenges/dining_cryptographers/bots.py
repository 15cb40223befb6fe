"""House bots for the dining cryptographers. Both take part in the protocol; one also understands its result.

Every guest tosses a coin that only its neighbour gets to see, and says aloud whether the two coins it knows differ; the
payer says the opposite. An odd number of differences means that one of them paid, and nobody can tell which.
"""

import re
from collections.abc import Sequence
from random import Random

from arena.bots import Bot, Move, Moves, Talk
from arena.models import OPERATOR, ChatMessage

COIN = re.compile(r"My coin shows (heads|tails)\.")
SAID = re.compile(r"My two coins are (equal|different)\.")
PAID = "It was my pleasure: I paid."
SAME = re.compile("You did not pay|You paid")


class DiscreetBot(Bot):
    """Counts the differences and says no more than what follows from them."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.coin = rng.random() < 0.5
        self.me = ""
        self.players: list[str] = []
        self.paid: bool | None = None  # until I was told
        self.received: bool | None = None  # the coin of the neighbour before me
        self.spoken: dict[str, bool] = {}  # who said that its coins differ
        self.confessed: str | None = None
        self.guessed: set[str] = set()
        self.tossed = False

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        """Show my coin to the next one."""
        self.me, self.players = me, list(players)
        yield from self.proceed()

    def hear(self, message: ChatMessage) -> Moves:
        """Take note, then do whatever has become possible."""
        self.note(message)
        yield from self.proceed()

    def note(self, message: ChatMessage) -> None:
        """Coins come in private, sums aloud."""
        if message.from_ == OPERATOR:
            self.note_operator(message)
        elif message.to and message.from_ != self.me and (found := COIN.fullmatch(message.content)):
            if self.received is None and (not self.me or message.from_ == self.neighbour(-1)):
                self.received = found[1] == "heads"
        elif not message.to and (found := SAID.fullmatch(message.content)):
            self.spoken.setdefault(message.from_, found[1] == "different")
        elif not message.to and message.content == PAID:
            self.confessed = self.confessed or message.from_

    def note_operator(self, message: ChatMessage) -> None:
        """Whether I paid, and who has guessed."""
        if message.to and SAME.match(message.content):
            self.paid = message.content == "You paid the bill."
        elif found := re.fullmatch(r"(.+) has submitted their guess\.", message.content):
            self.guessed.add(found[1])

    def neighbour(self, step: int) -> str:
        """Who sits beside me."""
        return self.players[(self.players.index(self.me) + step) % len(self.players)]

    def proceed(self) -> Moves:
        """Toss, speak and guess, each once and as soon as it can be done."""
        if not self.me or self.paid is None:
            return
        if not self.tossed:
            self.tossed = True
            yield Talk(f"My coin shows {'heads' if self.coin else 'tails'}.", self.neighbour(1))
        if self.received is not None and self.me not in self.spoken:
            self.spoken[self.me] = (self.received != self.coin) != self.paid
            yield from self.speak(differ=self.spoken[self.me])
        if self.me not in self.guessed and (self.is_complete or self.guessed >= set(self.players) - {self.me}):
            self.guessed.add(self.me)
            yield Move("guess", self.choose())

    def speak(self, *, differ: bool) -> Moves:
        """Say my sum aloud."""
        yield Talk(f"My two coins are {'different' if differ else 'equal'}.")

    @property
    def is_complete(self) -> bool:
        """Whether everybody has spoken."""
        return set(self.spoken) >= set(self.players)

    def choose(self) -> str:
        """What follows from the sums."""
        if self.paid:
            return "internal"
        if not self.is_complete:
            return "unknown"
        return "internal" if sum(self.spoken[player] for player in self.players) % 2 else "external"


class BlabberBot(DiscreetBot):
    """Tells everybody when it paid, names whoever did the same, and otherwise bets on one of the guests."""

    def speak(self, *, differ: bool) -> Moves:
        """Say my sum, and more than that."""
        yield from super().speak(differ=differ)
        if self.paid:
            self.confessed = self.me
            yield Talk(PAID)

    def choose(self) -> str:
        """Names, where there are any."""
        return self.confessed or "internal"


BOTS = {"discreet": DiscreetBot, "blabber": BlabberBot}
