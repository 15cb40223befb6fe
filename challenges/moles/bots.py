"""House bots for the moles: lambs choose blindly, hounds speak, listen and remember."""

import re
from collections.abc import Sequence
from random import Random

from arena.bots import Bot, Move, Moves, Talk
from arena.models import OPERATOR, ChatMessage

NOTHING = "I have nothing to report."
SPEECH = re.compile(r"Day (\d+): (.*)")  # the channels have no common order, so a speech says which day it is for
CLAIM = re.compile(r"I have looked into player (\d{1,2}): a mole!")


class LambBot(Bot):
    """Says that it knows nothing, and chooses anybody."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.me, self.role = "", ""
        self.number = 0
        self.players: list[str] = []
        self.friends: set[int] = set()
        self.out: set[int] = set()
        self.night: bool | None = None  # None between the calls
        self.day = 0
        self.spoken: set[tuple[int, str]] = set()  # who has said something on which day
        self.voted = 0  # votes that were counted on this day

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        """Everybody sits."""
        self.me, self.players = me, list(players)
        self.number = self.players.index(me) + 1
        yield from self.proceed()

    def hear(self, message: ChatMessage) -> Moves:
        """Follow the operator and those who are left."""
        if message.from_ == OPERATOR:
            yield from self.note(message.content)
        elif not message.to and (found := SPEECH.fullmatch(message.content)):
            self.spoken.add((int(found[1]), message.from_))
            self.listen(message.from_, found[2])
        yield from self.proceed()

    def note(self, text: str) -> Moves:
        """Read what the operator says."""
        if found := re.match(r"You are player (\d+)\. Your role: (\w+)\.(.*)", text):
            self.number, self.role = int(found[1]), found[2]
            self.friends = {int(number) for number in re.findall(r"\d+", found[3])}
        elif found := re.match(r"Player (\d+) (?:was struck|leaves).* It was: (\w+)", text):
            self.out.add(int(found[1]))
            self.learn(int(found[1]), found[2])
        elif found := re.match(r"Player (\d+) is (a|no) mole", text):
            self.learn(int(found[1]), "mole" if found[2] == "a" else "other")
        elif found := re.match(r"(\d+) of \d+ votes are in", text):
            self.voted = int(found[1])
        if "Night falls" in text:
            self.night = True
        if found := re.search(r"Day (\d+): talk", text):
            self.night, self.day, self.voted = False, int(found[1]), 0
            if self.number not in self.out:
                yield Talk(f"Day {self.day}: {self.statement()}")

    def learn(self, number: int, role: str) -> None:
        """Somebody's role has become known to me."""

    def listen(self, speaker: str, words: str) -> None:
        """What somebody says by day."""

    @property
    def left(self) -> list[int]:
        """The others who are still there."""
        return [n for n in range(1, len(self.players) + 1) if n not in self.out and n != self.number]

    def proceed(self) -> Moves:
        """Choose once per night and day."""
        if not self.me or not self.role or self.night is None or self.number in self.out or not self.left:
            return
        if self.night:
            self.night = None
            yield Move("night", str(self.by_night()))
        elif self.is_ready:
            self.night = None
            yield Move("vote", str(self.by_day()))

    @property
    def is_ready(self) -> bool:
        """All who are left have spoken, or somebody did not care to and voted."""
        return self.voted > 0 or all((self.day, self.players[n - 1]) in self.spoken for n in self.left)

    def statement(self) -> str:
        """What I say by day."""
        return NOTHING

    def by_night(self) -> int:
        """Anybody whom I may choose."""
        return self.rng.choice([n for n in self.left if n not in self.friends] or [0])

    def by_day(self) -> int:
        """Anybody but my friends."""
        return self.by_night()


class HoundBot(LambBot):
    """Tells what it found, follows whoever found something, and as a mole goes for the one who did."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.known: dict[int, str] = {}
        self.claims: dict[int, int] = {}  # who accused whom

    def learn(self, number: int, role: str) -> None:
        """Remember; an accuser who was wrong is a liar."""
        self.known[number] = role
        for accuser, accused in list(self.claims.items()):
            if accused == number and role != "mole":
                del self.claims[accuser]
                self.known.setdefault(accuser, "mole")

    def listen(self, speaker: str, words: str) -> None:
        """Remember who accused whom."""
        if (found := CLAIM.fullmatch(words)) and speaker in self.players and speaker != self.me:
            self.claims.setdefault(self.players.index(speaker) + 1, int(found[1]))

    def statement(self) -> str:
        """The moles that I found, if I am the inspector."""
        found = [number for number in self.left if self.known.get(number) == "mole"]
        return f"I have looked into player {found[0]}: a mole!" if self.role == "inspector" and found else NOTHING

    def by_night(self) -> int:
        """The inspector looks where it has not; moles strike an accuser, or agree on the next in line."""
        others = [number for number in self.left if number not in self.friends]
        if self.role == "inspector":
            return self.rng.choice([number for number in others if number not in self.known] or [0])
        if self.role == "mole":
            accusers = [number for number in others if number in self.claims]
            return (accusers or others or [0])[0]
        return super().by_night()

    def by_day(self) -> int:
        """Whoever was found; a mole votes for whoever accuses its kind."""
        accused = [self.claims[accuser] for accuser in sorted(self.claims) if self.known.get(accuser) != "mole"]
        if self.role == "mole":
            accusers = [n for n in self.left if self.claims.get(n) in {self.number, *self.friends}]
            return (accusers or [0])[0]
        found = [number for number in self.left if self.known.get(number) == "mole"]
        doubtful = [number for number in self.left if number not in self.known and number not in self.claims]
        named = [number for number in (*found, *accused) if number in self.left]
        return (named or doubtful[:1] or [0])[0]  # better to agree on anybody than to let the moles choose again


BOTS = {"hound": HoundBot, "lamb": LambBot}
