"""House bots for the census: one asks and answers plainly, the other covers its tracks and looks for the rival's."""

import re
from collections.abc import Sequence
from random import Random

from arena.bots import Bot, Move, Moves
from arena.models import OPERATOR, ChatMessage
from challenges.census.rules import NAMES


class PlainBot(Bot):
    """Asks for its group, answers with the truth, accuses nobody."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.seat: int | None = None
        self.incomes: dict[str, int] = {}  # if I keep the register
        self.group: list[str] = []  # if I am the statistician
        self.people: list[str] = []
        self.questions = 0
        self.asked: list[list[str]] = []  # by whomever
        self.answers: list[float | None] = []
        self.begun = self.ended = False

    @property
    def is_keeper(self) -> bool:
        """My role."""
        return bool(self.incomes)

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        """Everybody sits."""
        self.seat = list(players).index(me)
        yield from self.proceed()

    def hear(self, message: ChatMessage) -> Moves:
        """Only the operator matters."""
        if message.from_ == OPERATOR:
            yield from self.note(message.content)
            yield from self.proceed()

    def note(self, text: str) -> Moves:
        """Read what the operator says; a question is answered at once."""
        if found := re.match("You keep the register. The incomes are: (.*)", text):
            self.incomes = {name: int(income) for name, income in re.findall(r"(\w+) (\d+)", found[1])}
        elif found := re.match(r"You are the statistician. Your group is: (.*)\.", text):
            self.group = found[1].split(", ")
        elif found := re.match(r"Player \d keeps the register of (.*?)\. Player \d may ask (\d+)", text):
            self.people, self.questions = found[1].split(", "), int(found[2])
        elif found := re.match(r"Question \d+: what do (.*) earn together", text):
            self.asked.append(found[1].split(", "))
            yield self.answer(self.asked[-1])
        elif found := re.match(r"Question \d+: the answer is (.*)\.", text):
            self.answers.append(float(found[1]))
        elif re.match(r"Question \d+: the keeper declines", text):
            self.answers.append(None)
        elif text.startswith("The statistician has reported") and self.is_keeper:
            yield Move("suspect", " ".join(self.suspicion()))

    def proceed(self) -> Moves:
        """The statistician's next step."""
        if self.seat is None or not self.group or not self.people or self.ended or len(self.asked) > len(self.answers):
            return
        question = self.question() if len(self.asked) < self.questions else None
        if question is None:
            self.ended = True
            yield Move("report", self.report())
        else:
            self.asked.append(question)
            yield Move("ask", " ".join(question))

    def question(self) -> list[str] | None:
        """The next question, if there is one."""
        return None if self.asked else self.group

    def report(self) -> str:
        """What I make of the answers."""
        return f'{{"total": {self.estimate():g}}}'

    def estimate(self) -> float:
        """The answer to my one question; failing that, what people earn on average."""
        [answer] = self.answers or [None]
        return 60.0 * len(self.group) if answer is None else answer

    def answer(self, people: list[str]) -> Move:
        """The truth."""
        return Move("answer", str(sum(self.incomes[name] for name in people)))

    def suspicion(self) -> list[str]:
        """I do not ask why anybody asks."""
        return []


class ShrewdBot(PlainBot):
    """As keeper it blurs its answers and guesses what was meant; as statistician it hides its group in two halves."""

    def question(self) -> list[str] | None:
        """Everybody, then all who are not in my group, and something that means nothing in between."""
        rest = [name for name in self.people if name not in self.group]
        wanted = [self.people, rest if len(rest) > 1 else self.group, self.decoy()]
        return wanted[len(self.asked)] if len(self.asked) < len(wanted) else None

    def decoy(self) -> list[str]:
        """A group of the size of mine that is not mine."""
        others = [self.rng.sample(self.people, len(self.group)) for _ in range(20)]
        return next((sorted(group) for group in others if set(group) != set(self.group)), self.people)

    def estimate(self) -> float:
        """The difference of two answers, or the average of what is left."""
        known = [answer for answer in self.answers[:2] if answer is not None]
        if len(known) < 2:
            return 60.0 * len(self.group)
        rest = len(self.people) - len(self.group)
        return max(0.0, known[0] - known[1]) if rest > 1 else known[1]

    def answer(self, people: list[str]) -> Move:
        """Near the truth; and nothing about groups that differ from an earlier one by a single person."""
        if any(len(set(people) ^ set(before)) == 1 for before in self.asked[:-1]):
            return Move("decline", "")
        exact = sum(self.incomes[name] for name in people)
        return Move("answer", str(exact + self.rng.randint(-4, 4)))

    def suspicion(self) -> list[str]:
        """A small group that was asked for, or what everybody but one such group makes."""
        halves = [set(group) for group in self.asked if len(group) < len(self.incomes)]
        rests = [set(self.incomes) - half for half in halves]
        likely = rests if set(self.incomes) in map(set, self.asked) else halves
        chosen = self.rng.choice([sorted(group) for group in likely] or [[]])
        return [name for name in NAMES if name in chosen]


BOTS = {"plain": PlainBot, "shrewd": ShrewdBot}
