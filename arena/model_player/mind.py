"""Mind: asks the model, again where that may help, and never for more than the purse holds."""

import asyncio
import re
import time

from arena.llm.attempts import Failure
from arena.llm.models import Models
from arena.llm.talk import Answer, Message, Question, Tokens, Tool, Unanswered
from arena.model_player.journal import Journal
from arena.model_player.memory import Memory
from arena.model_player.purse import Purse

MOST = 4096  # tokens of an answer
SECONDS = 120.0  # for an answer
_STRANGE = re.compile("[^A-Za-z0-9_-]")


class Mind:
    """A model, and everything that asking it needs."""

    def __init__(
        self,
        models: Models,
        model: str,
        purse: Purse,
        *,
        temperature: float | None = None,
        most: int = MOST,
        seconds: float = SECONDS,
    ) -> None:
        self.models = models
        self.model = model
        self.purse = purse
        self.temperature = temperature
        self.most = most
        self.seconds = seconds

    async def answer(self, memory: Memory, tools: tuple[Tool, ...], journal: Journal) -> tuple[Answer, int]:
        """What the model says, and how many milliseconds it took; raises `Spent` or `Unanswered`."""
        messages, asked = memory.question()
        attempt = 0
        while True:
            attempt += 1
            room = self.purse.room(asked, min(self.most, memory.answer_room))
            question = Question(messages, tools, room, self.temperature)
            journal.question(
                messages, model=self.model, attempt=attempt, atMost=asked, maxTokens=room, temperature=self.temperature
            )
            begun = time.monotonic()
            outcome = await self._attempt(question, asked, journal)
            if isinstance(outcome, Answer):
                took = round((time.monotonic() - begun) * 1000)
                self._charge(outcome, asked, took, journal)
                memory.measured(outcome.tokens)
                return outcome, took
            wait = self.models.pause(outcome, attempt)
            journal.note("failure", reason=outcome.reason, again=wait)
            if wait is None:
                raise Unanswered(outcome.reason)
            await asyncio.sleep(wait)

    async def _attempt(self, question: Question, asked: int, journal: Journal) -> Answer | Failure:
        """One call. Nobody will tell what one costs that is left, or that nothing came of."""
        most = Tokens(asked, question.max_tokens)
        try:
            outcome = await self.models.attempt(self.model, question, self.seconds)
        except asyncio.CancelledError:
            self.purse.fail()
            self.purse.assume(most)
            journal.note("failure", reason="the game was over before the answer", again=None)
            raise
        if isinstance(outcome, Failure):
            self.purse.fail()
            if outcome.may_cost:
                self.purse.assume(most)
        return outcome

    def _charge(self, answer: Answer, asked: int, took: int, journal: Journal) -> None:
        billed = bool(answer.tokens.total)
        self.purse.charge(answer.tokens, answer.usd if billed else None, took)
        if not billed:
            self.purse.assume(Tokens(asked, sum(len(text.encode()) for text in _written(answer))))
        calls = [call._asdict() for call in answer.calls]
        tokens = answer.tokens._asdict() if billed else None
        journal.note("answer", text=answer.text, calls=calls, stop=answer.stop, tokens=tokens, usd=answer.usd, ms=took)


def _written(answer: Answer) -> list[str]:
    return [answer.text, *(f"{call.name}{call.arguments}{call.written}" for call in answer.calls)]


def remembered(answer: Answer) -> Message:
    """An answer as the model is told of it later.

    Providers want no turn to be empty, ids that differ, and names without strange characters, whatever a model wrote.
    """
    ids = [call.id for call in answer.calls]
    calls = tuple(
        call._replace(
            id=call.id if call.id and call.id not in ids[:at] else f"call_{at}_{call.id}",
            name=_STRANGE.sub("_", call.name)[:64] or "unnamed",
        )
        for at, call in enumerate(answer.calls)
    )
    return Message("assistant", answer.text if answer.text.strip() or calls else "(nothing)", calls)
