"""Memory: what a model is told again with every question, kept within a budget by a plain rule.

The rules of the game and what the operator told this seat before its first turn stay. Then come rounds: what the model
said, what came of it, and the news after that. The oldest rounds go first; what the operator said in them, and what the
model did, stays as a list of short lines for as long as there is room.

Parts are measured by what providers say that questions took. What was not measured yet counts a token for every byte,
and no tokenizer makes more of it; but our own words, the rules and the tools are prose, and count half of that.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil

from arena.llm.talk import Message, Tokens, Tool

LEAST = 4_096  # tokens of the smallest budget
OVERHEAD = 800  # tokens of a question beside its text: roles, and what providers say of tools
EACH = 16  # tokens of a message beside its text
FRAME = 600  # bytes around news
FACT = 300  # characters of a line about a round that has gone
HEAD, NEWS, DIGEST, ANSWER = 7 / 16, 1 / 8, 1 / 16, 1 / 8  # shares of the budget
GONE = "Earlier rounds were left out to save room. Of them you still know, the oldest first:"


class TooSmall(Exception):
    """The budget does not hold the rules of the game."""


@dataclass
class Part:
    """Some messages that come and go together."""

    messages: list[Message] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    more: int = 0  # tokens that it takes beside the messages that are counted
    counted_from: int = 0  # before that are messages whose tokens are known
    prose: bool = False
    tokens: int | None = None  # as measured

    @property
    def most(self) -> int:
        """The most tokens that it may take."""
        if self.tokens is not None:
            return self.tokens
        told = sum(map(bound, self.messages[self.counted_from :]))
        return self.more + (told // 2 if self.prose else told)


def bound(message: Message) -> int:
    """The most tokens that a message may take."""
    calls = sum(len(json.dumps([call.id, call.name, call.arguments]).encode()) for call in message.calls)
    return len(message.text.encode()) + calls + len(message.call_id) + EACH


class Memory:
    """All that one player of one game has in mind."""

    def __init__(self, budget: int, rules: Sequence[Message], private: Message, tools: Sequence[Tool]) -> None:
        self.budget = budget
        offered = sum(len(json.dumps(tool).encode()) for tool in tools)
        self._head = [Part(list(rules), more=OVERHEAD + offered // 2, prose=True), Part([private])]
        self._digest = Part()
        self._facts: list[str] = []
        self._rounds: list[Part] = []
        self._dear = 1.0  # how many times as much as we thought possible a provider has counted
        fixed = sum(part.most for part in self._head)
        if fixed > budget * HEAD:
            least = round(fixed / HEAD) + 1
            raise TooSmall(f"the rules of this game need a context of {least} tokens, and there are {budget}")

    @property
    def news_room(self) -> int:
        """How many bytes of news fit into a round."""
        return max(int(self.budget * NEWS) - FRAME, FRAME)

    @property
    def answer_room(self) -> int:
        """How many tokens an answer may have."""
        return int(self.budget * ANSWER)

    def answered(self, answer: Message, took: int, results: Iterable[Message], facts: Iterable[str]) -> None:
        """Begin a round with what the model said, the tokens that this took if they are known, and what came of it."""
        said = min(bound(answer), took + EACH) if took else bound(answer)
        self._rounds.append(Part([answer, *results], list(facts), more=said, counted_from=1))

    def tell(self, text: str, facts: Iterable[str] = ()) -> None:
        """Add news to the newest round."""
        if not self._rounds:
            self._rounds.append(Part())
        self._rounds[-1].messages.append(Message("user", text))
        self._rounds[-1].facts += facts

    def question(self) -> tuple[list[Message], int]:
        """What to ask, and the most tokens that it may take; rounds for which there is no room are gone for good."""
        room = self.budget - self.answer_room
        while self._most > room and len(self._rounds) > 1:
            self._forget(self._rounds.pop(0))
        if self._most > room:
            raise TooSmall(f"a context of {self.budget} tokens does not hold what is new in this game")
        return [message for part in self._parts for message in part.messages], self._most

    def measured(self, tokens: Tokens) -> None:
        """Take note of what the last question took, if the provider has told."""
        if not tokens.input:
            return
        fresh = [part for part in self._parts if part.tokens is None]
        rest = max(0, tokens.input - sum(part.tokens or 0 for part in self._parts))
        weights = [part.most for part in fresh]
        self._dear = max(self._dear, rest / (sum(weights) or 1))
        for part, weight in zip(fresh, weights, strict=True):
            part.tokens = -(-rest * weight // (sum(weights) or 1))

    @property
    def _parts(self) -> list[Part]:
        return [*self._head, self._digest, *self._rounds]

    @property
    def _most(self) -> int:
        known = sum(part.tokens or 0 for part in self._parts)
        return known + ceil(self._dear * sum(part.most for part in self._parts if part.tokens is None))

    def _forget(self, gone: Part) -> None:
        self._facts += [fact if len(fact) <= FACT else f"{fact[:FACT]}…" for fact in gone.facts]
        room = int(self.budget * DIGEST) - len(GONE) - EACH
        kept: list[str] = []
        for fact in reversed(self._facts):
            room -= len(fact.encode()) + 1
            if room < 0:
                break
            kept.insert(0, fact)
        self._facts = kept
        self._digest = Part([Message("user", "\n".join([GONE, *kept]))] if kept else [])
