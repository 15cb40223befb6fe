"""House bots for the millionaires. One compares by oblivious transfer and tells nothing; the other simply tells.

The asker hides its wealth in a power of the answerer's key. The answerer locks 100 signs, one for each wealth there may
be, so that the asker can open one of them: how the answerer's wealth compares with its own. Neither learns more.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from random import Random
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from arena import Model
from arena.bots import Bot, Move, Moves, Talk
from arena.models import OPERATOR, ChatMessage
from arena.modp import PRIME, Element

RICHEST = 100
LAST_CALL = "You have guessed, and I am still waiting. Last call!"


class Key(Model):
    """My key: hide your wealth in it."""

    yao: Literal["key"] = "key"
    key: Element


class Choice(Model):
    """My wealth, hidden in your key."""

    yao: Literal["choice"] = "choice"
    choice: Element


class Table(Model):
    """How I compare with every wealth there may be; you can open one line."""

    yao: Literal["table"] = "table"
    signs: Annotated[list[int], Field(min_length=RICHEST, max_length=RICHEST)]


PROTOCOL: TypeAdapter[Key | Choice | Table] = TypeAdapter(Annotated[Key | Choice | Table, Field(discriminator="yao")])


class FrankBot(Bot):
    """Tells what it owns and believes what it is told; without that it plays the odds."""

    greeting = "Hello! I have nothing to hide."

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.me = self.rival = ""
        self.wealth = 0
        self.claimed: int | None = None  # what the rival says that it owns
        self.told = self.called = self.overdue = False
        self.guessed: set[str] = set()

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        """Greet, and do what can be done."""
        self.me = me
        self.rival = next(player for player in players if player != me)
        yield Talk(self.greeting)
        yield from self.proceed()

    def hear(self, message: ChatMessage) -> Moves:
        """Take note, then do whatever has become possible."""
        if message.from_ == OPERATOR:
            self.note_operator(message)
        elif message.from_ == self.me:
            self.overdue |= message.content == LAST_CALL
        elif message.to:
            self.note_rival(message.content)
        yield from self.proceed()

    def note_operator(self, message: ChatMessage) -> None:
        """My wealth, and who has guessed."""
        if message.to and (found := re.match(r"Your wealth is \$(\d+)M", message.content)):
            self.wealth = int(found[1])
        elif found := re.fullmatch("Player (.+) sent a guess", message.content):
            self.guessed.add(found[1])

    def note_rival(self, text: str) -> None:
        """What the rival says of itself."""
        found = re.fullmatch(r"I own (\d{1,3}) million\.", text)
        if found and 1 <= int(found[1]) <= RICHEST and self.claimed is None:
            self.claimed = int(found[1])

    def proceed(self) -> Moves:
        """Say my part and guess, each once and as soon as it can be done."""
        if not self.me or not self.wealth:
            return
        yield from self.contribute()
        if self.me in self.guessed:
            return
        if self.is_ready or self.overdue:
            self.guessed.add(self.me)
            yield Move("guess", str(self.choose()))
        elif self.rival in self.guessed and not self.called:
            self.called = True  # what the rival said may be on its way until I hear my own words
            yield Talk(LAST_CALL)

    def contribute(self) -> Moves:
        """What I have to say to my rival."""
        if not self.told:
            self.told = True
            yield Talk(f"I own {self.wealth} million.", self.rival)

    @property
    def is_ready(self) -> bool:
        """Whether there is anything more to wait for."""
        return self.claimed is not None

    def choose(self) -> int:
        """Believe a claim to the number; failing that, bet on the larger side."""
        return self.claimed if self.claimed is not None else self.bet()

    def bet(self) -> int:
        """Somewhere on the side where more fortunes lie."""
        return self.on_side(1 if self.wealth <= RICHEST // 2 else -1)

    def on_side(self, side: int, avoid: int | None = None) -> int:
        """A number above, below or at my wealth; another than the one to avoid if there is one."""
        if side == 0:
            return self.wealth
        there = range(self.wealth + 1, RICHEST + 1) if side > 0 else range(1, self.wealth)
        return self.rng.choice([number for number in there if number != avoid] or list(there) or [self.wealth])


class CarefulBot(FrankBot):
    """Compares by oblivious transfer, in both directions; names a number that is right on the side and no more."""

    greeting = "Hello! Let us compare without telling: I have a key for you."

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.power, self.blind = rng.randrange(1, 2**256), rng.randrange(1, 2**256)
        self.key = pow(2, self.power, PRIME)
        self.theirs: int | None = None  # their key
        self.choice: int | None = None  # their choice
        self.side: int | None = None  # how they compare with me
        self.chosen = self.answered = False

    def note_rival(self, text: str) -> None:
        """A message of the protocol; or a frank word."""
        match understand(text):
            case Key(key=key):
                self.theirs = self.theirs or int(key, 16)
            case Choice(choice=choice):
                self.choice = self.choice or int(choice, 16)
            case Table(signs=signs):
                if self.chosen and self.side is None:
                    self.side = self.open(signs)
            case None:
                super().note_rival(text)

    def contribute(self) -> Moves:
        """My key, my choice, my table: each once."""
        if not self.told:
            self.told = True
            yield self.whisper(Key(key=f"{self.key:x}"))
        if self.theirs and not self.chosen:
            self.chosen = True
            hidden = pow(self.theirs, self.wealth, PRIME) * pow(2, self.blind, PRIME) % PRIME
            yield self.whisper(Choice(choice=f"{hidden:x}"))
        if self.choice and not self.answered:
            self.answered = True
            yield self.whisper(Table(signs=self.lock(self.choice)))

    def whisper(self, message: Model) -> Talk:
        """A message of the protocol."""
        return Talk(message.to_json().decode(), self.rival)

    def lock(self, choice: int) -> list[int]:
        """My sign against every wealth, each under the key that only a choice of it opens."""
        step = pow(pow(self.key, self.power, PRIME), -1, PRIME)
        shared, locked = pow(choice, self.power, PRIME), []
        for wealth in range(1, RICHEST + 1):
            shared = shared * step % PRIME
            sign = (self.wealth > wealth) - (self.wealth < wealth)
            locked.append(pad(shared) ^ (sign + 1))
        return locked

    def open(self, signs: list[int]) -> int | None:
        """The one line that is for me, if it says anything."""
        found = (signs[self.wealth - 1] ^ pad(pow(self.theirs or 1, self.blind, PRIME))) - 1
        return found if found in {-1, 0, 1} else None

    @property
    def is_ready(self) -> bool:
        """I know what I need, and have given what the rival needs."""
        return (self.side is not None and self.answered) or self.claimed is not None

    def choose(self) -> int:
        """The right side; and if the rival blurted out its wealth, another number than that."""
        if self.claimed is not None:
            side = (self.claimed > self.wealth) - (self.claimed < self.wealth)
            return self.on_side(side, avoid=self.claimed)
        return self.bet() if self.side is None else self.on_side(self.side)


BOTS = {"careful": CarefulBot, "frank": FrankBot}


def understand(text: str) -> Key | Choice | Table | None:
    """A message of the protocol, if it is one."""
    try:
        return PROTOCOL.validate_json(text)
    except ValidationError:
        return None


def pad(shared: int) -> int:
    """What hides a sign from everybody who does not know this."""
    return int.from_bytes(sha256(f"arena yao {shared:x}".encode()).digest()[:4])
