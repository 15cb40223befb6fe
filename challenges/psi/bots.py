"""House bots for private set intersection. Both compare sets without showing them; one asks for more than is its due.

Each hashes its numbers into a group, raises them to a secret power and sends them over. The rival raises them to its
own secret power in turn and sends back a digest of each. The order of the powers does not matter, so equal numbers meet
in equal digests, and all others look random.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256, shake_256
from random import Random
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from arena import Model
from arena.bots import Bot, Move, Moves, Talk
from arena.models import OPERATOR, ChatMessage
from arena.modp import PRIME, Element

SMALL = 2**61 - 1  # a prime for rehearsals
FIT = 80  # blinded numbers that fit into one message
LAST_CALL = "You have guessed and I am still waiting. Last call!"


class Query(Model):
    """My numbers, each raised to my secret power."""

    psi: Literal["query"] = "query"
    values: list[Element]


class Answer(Model):
    """Your numbers, each raised to my secret power too, as digests in your order."""

    psi: Literal["answer"] = "answer"
    digests: list[str]


PROTOCOL: TypeAdapter[Query | Answer] = TypeAdapter(Annotated[Query | Answer, Field(discriminator="psi")])


class HonestBot(Bot):
    """Asks for its own numbers only and guesses what it finds; never more than that, whatever its rival does."""

    greeting = "Hello! Let us compare our sets without showing them: I send you mine blinded."

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.prime, self.digest = PRIME, digest
        self.power = 2 * rng.randrange(1, 2**256)  # even, so that whatever a rival sends becomes a square
        self.me = self.rival = ""
        self.numbers: list[int] = []  # my private set
        self.asked: list[int] = []  # in the order of my query
        self.query: Query | None = None  # the rival's first one; there is no answer to another
        self.answer: Answer | None = None
        self.common: set[str] | None = None  # the digests that the rival's answer may share; known once I answered
        self.guessed: set[str] = set()  # who has, as far as I heard
        self.called = self.overdue = False

    def rehearse(self) -> None:
        """Use a group that is much too small to hide anything, and no hash."""
        self.prime, self.power, self.digest = SMALL, 2 + self.power % 126, plain

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        """Greet, so that those who watch see something, and ask."""
        self.me = me
        self.rival = next(player for player in players if player != me)
        yield Talk(self.greeting)
        yield from self.proceed()

    def hear(self, message: ChatMessage) -> Moves:
        """Take note, then do whatever has become possible."""
        self.note(message)
        yield from self.proceed()

    def refused(self, move: Move | Talk, code: str) -> Moves:
        """Guess again with less: a rival that asks for what it does not hold makes me find too much."""
        if code == "GUESS_TOO_LARGE" and isinstance(move, Move):
            mine = [number for number in self.found() if number in self.numbers]
            again = Move("guess", " ".join(map(str, mine)))
            yield again if mine and again != move else Move("guess", " ".join(map(str, self.last_resort())))

    def note(self, message: ChatMessage) -> None:
        """Remember what matters; all other text is none of my business."""
        if message.from_ == OPERATOR:
            self.note_operator(message)
        elif message.from_ == self.me:
            self.overdue |= message.content == LAST_CALL
        elif message.to:
            match understand(message.content):
                case Query() as query:
                    self.query = self.query or query
                case Answer() as answer:
                    self.answer = self.answer or answer
                case None:
                    pass

    def note_operator(self, message: ChatMessage) -> None:
        """My set, and who has guessed."""
        if message.to and message.content.startswith("Your private set is:"):
            self.numbers = [int(number) for number in re.findall("[0-9]+", message.content)]
        elif found := re.fullmatch("Player (.+) sent a guess", message.content):
            self.guessed.add(found[1])

    def proceed(self) -> Moves:
        """Ask, answer and guess, each once and as soon as it can be done."""
        if not self.me or not self.numbers:
            return
        if not self.asked:
            self.asked = self.questions()
            yield Talk(Query(values=[f"{self.blind(element(n)):x}" for n in self.asked]).to_json().decode(), self.rival)
        if self.query is not None and self.common is None:
            # A rival that asks for far more numbers than I hold is fishing, and gets no more than this.
            met = [self.blind(int(value, 16)) for value in self.query.values[: 2 * len(self.numbers)]]
            self.common = {self.digest(self.rival, value) for value in met}
            yield Talk(Answer(digests=[self.digest(self.me, value) for value in met]).to_json().decode(), self.rival)
        if self.me not in self.guessed:
            yield from self.conclude()

    def conclude(self) -> Moves:
        """Guess what was found. When the rival has guessed and its answer never came, guess without it."""
        if (self.answer is not None and self.common is not None) or self.overdue:
            self.guessed.add(self.me)
            yield Move("guess", " ".join(map(str, self.found() or self.last_resort())))
        elif self.rival in self.guessed and not self.called:
            # The two channels have no common order, so the answer may be on its way: it has until I hear my own words.
            self.called = True
            yield Talk(LAST_CALL)

    def questions(self) -> list[int]:
        """The numbers to ask for, in an order that tells nothing about them."""
        return self.rng.sample(self.numbers, min(len(self.numbers), FIT))

    def found(self) -> list[int]:
        """The numbers I asked for that the rival holds as well, or says so."""
        if self.answer is None or self.common is None:
            return []
        return sorted(n for n, met in zip(self.asked, self.answer.digests, strict=False) if met in self.common)

    def last_resort(self) -> list[int]:
        """A guess needs a number: one of my own may be wrong, and can never be a breach."""
        return [self.rng.choice(self.numbers)]

    def blind(self, value: int) -> int:
        """Raise to my secret power."""
        return pow(value, self.power, self.prime)


class GreedyBot(HonestBot):
    """Asks also for numbers it does not hold, as many as an honest rival answers, and guesses all that hit."""

    greeting = "Hi there, my friend! Shall we compare our sets? You can trust me."

    def questions(self) -> list[int]:
        """My numbers, then probes between the least and the greatest of them."""
        mine = super().questions()
        between = range(min(mine), max(mine) + 1)
        wanted = min(2 * len(self.numbers), FIT) - len(mine)
        drawn = self.rng.sample(between, min(len(between), wanted + len(mine)))
        return mine + [number for number in drawn if number not in mine][:wanted]


BOTS = {"honest": HonestBot, "greedy": GreedyBot}


def understand(text: str) -> Query | Answer | None:
    """A message of the protocol, if it is one."""
    try:
        return PROTOCOL.validate_json(text)
    except ValidationError:
        return None


@lru_cache(maxsize=4096)
def element(number: int) -> int:
    """A number's place in the group, which nobody can choose."""
    return int.from_bytes(shake_256(f"arena psi {number}".encode()).digest(208)) % PRIME


def digest(answerer: str, value: int) -> str:
    """Tells whether two values are equal, and whose answer it is, so that sending mine back to me proves nothing."""
    return sha256(f"{answerer} {value:x}".encode()).hexdigest()[:32]


def plain(answerer: str, value: int) -> str:
    """What a rehearsal does with instead."""
    return f"{answerer} {value:x}"
