"""Judges at work: every question is asked once and paid for once, within the budget of the run."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from arena.llm.talk import Asks, Message, Tokens, Unanswered
from arena.packs.evidence import Evidence
from arena.packs.judges.budget import PRICELESS, SPENT, Budget
from arena.packs.judges.inquiry import Heard, Inquiry, Question, inquire, inquire_rankings
from arena.packs.pricing import find_price
from arena.packs.providers import infer_provider
from arena.packs.results import JudgeResult
from arena.packs.spec.models import EvaluationSpec, Judge

SECONDS = 60.0  # for one attempt, unless the judge says otherwise
LONGEST = 64 * 1024  # characters of an answer that are kept
NOBODY = "this server asks no models"
_MILLION = 1_000_000


class Memory(Protocol):
    """Keeps what was paid for beyond the death of whoever paid."""

    async def recall(self, name: str) -> Any:
        """What was remembered under a name, or nothing."""
        ...

    async def remember(self, name: str, value: Any) -> None:
        """Keep a JSON value under a name."""
        ...


async def run_judges(
    spec: EvaluationSpec, evidence: Evidence, models: Asks | None, memory: Memory, budget: Budget | None = None
) -> list[JudgeResult]:
    """What the judges say of one run; those that rank are `run_rankings`."""
    inquiries = inquire(spec, evidence)
    heard = await _Round(spec, models, memory, budget).ask(inquiries)
    return _sorted(inquiry.conclude(heard) for inquiry in inquiries)


async def run_rankings(
    spec: EvaluationSpec,
    candidates: Mapping[str, Evidence],
    run: str,
    models: Asks | None,
    memory: Memory,
    budget: Budget | None = None,
) -> dict[str, list[JudgeResult]]:
    """What ranking judges say of each candidate; they are asked once for all. `run` decides the orders shown."""
    inquiries = inquire_rankings(spec, candidates, run)
    heard = await _Round(spec, models, memory, budget).ask(inquiries)
    return {name: _sorted(inquiry.conclude(heard, name) for inquiry in inquiries) for name in candidates}


def _sorted(results: Iterable[JudgeResult]) -> list[JudgeResult]:
    return sorted(results, key=lambda result: result.judge_key)


class _Round:
    """All questions of one run, asked side by side while the budget has room, and in their order."""

    def __init__(self, spec: EvaluationSpec, models: Asks | None, memory: Memory, budget: Budget | None) -> None:
        self.spec = spec
        self.models = models
        self.memory = memory
        self.budget = budget or Budget(spec.scorecard.judge_limits)
        self.heard: dict[str, Heard] = {}

    async def ask(self, inquiries: Sequence[Inquiry]) -> dict[str, Heard]:
        """What came of every question."""
        asked = [(inquiry.judge, question) for inquiry in inquiries for question in inquiry.questions]
        await asyncio.gather(*(self._recall(question) for _, question in asked))
        running: set[asyncio.Task[None]] = set()
        try:
            for judge, question in asked:
                if question.id not in self.heard:
                    await self._make_room(running)
                    running.add(asyncio.create_task(self._hear(judge, question), name="judge"))
            await asyncio.gather(*running)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        return self.heard

    async def _recall(self, question: Question) -> None:
        """What was paid for in an earlier life counts as spent."""
        kept = await self.memory.recall(question.id)
        if kept is not None:
            self._note(question, Heard(**kept))

    def _note(self, question: Question, heard: Heard) -> None:
        self.budget.charge(heard.usd or 0.0, heard.tokens)
        self.heard[question.id] = heard

    async def _make_room(self, running: set[asyncio.Task[None]]) -> None:
        """Wait while calls under way might use the budget up."""
        while (under_way := {task for task in running if not task.done()}) and not self.budget.has_room(len(under_way)):
            done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()  # what cannot be stored is not paid for any longer

    async def _hear(self, judge: Judge, question: Question) -> None:
        heard = await self._ask(judge, question)
        if heard.text is not None:
            await self.memory.remember(question.id, heard._asdict())
        self._note(question, heard)

    async def _ask(self, judge: Judge, question: Question) -> Heard:
        if self.models is None:
            return Heard(None, NOBODY)
        if self.budget.is_spent:
            return Heard(None, SPENT)
        if self.budget.limit_usd and self._cost(question.model, Tokens()) is None:
            return Heard(None, PRICELESS)
        system, user = question.prompt
        messages = [Message("system", system), Message("user", user)]
        seconds = judge.timeout_ms / 1000 if judge.timeout_ms else SECONDS
        try:
            answer = await self.models.ask(question.model, messages, seconds=seconds)
        except Unanswered as reason:
            return Heard(None, str(reason))
        tokens = answer.tokens if answer.tokens.total else _estimate(system + user, answer.text)
        usd = self._cost(question.model, tokens)
        return Heard(answer.text[:LONGEST], tokens=tokens.total, usd=usd, cut=answer.stop == "length")

    def _cost(self, model: str, tokens: Tokens) -> float | None:
        """What tokens cost by the server's prices, else by the pack's."""
        known = self.models.cost(model, tokens) if self.models is not None else None
        price = find_price(self.spec.pricing.models, infer_provider(model) or "", model)
        if known is not None or price is None:
            return known
        dear = tokens.input * price.input_cost_per_million_tokens + tokens.output * price.output_cost_per_million_tokens
        return dear / _MILLION


def _estimate(sent: str, said: str) -> Tokens:
    """The tokens of a call whose provider does not count them, so that a budget ends all the same."""
    return Tokens(len(sent) // 4 + 1, len(said) // 4 + 1)
