"""An inquiry: everything that one judge is to be asked, and the result that the answers make. Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena.packs.evidence import Evidence
from arena.packs.judges.answers import Sample, read_answer
from arena.packs.judges.consensus import aggregate, judge_models, samples_per_model
from arena.packs.judges.gaming import signs
from arena.packs.judges.prompts import Prompt, Unjudgeable, candidate_order, context, judge_prompt, ranking_prompt
from arena.packs.results import JudgeResult
from arena.packs.spec.models import EvaluationSpec, Judge

ALONE = "a ranking needs two candidates at least"


class Question(NamedTuple):
    """One call of one model; the id is the same whenever the question is made anew."""

    id: str
    model: str
    prompt: Prompt
    order: tuple[str, ...] = ()  # the candidates of a ranking, as they are shown


class Heard(NamedTuple):
    """What came of a question: a text, or the reason why there is none."""

    text: str | None
    error: str = ""
    tokens: int = 0
    usd: float | None = None
    cut: bool = False  # whether the model stopped because the answer grew too long


@dataclass(frozen=True)
class Inquiry:
    """One judge with its questions; none if there is a reason not to ask."""

    judge: Judge
    models: tuple[str, ...]
    samples: int
    questions: tuple[Question, ...] = ()
    reason: str = ""
    unfit: Mapping[str, str] = field(default_factory=dict)  # candidates that cannot be ranked, and why
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by candidate; "" is the only one

    def conclude(self, heard: Mapping[str, Heard], agent: str = "") -> JudgeResult:
        """The result for an agent; a question without an answer counts as failed."""
        if reason := self.reason or self.unfit.get(agent, ""):
            result = JudgeResult(judge_key=self.judge.key, mode=self.judge.mode, reason=reason)
            counts = {"sample_count": self.samples * len(self.models), "model_count": len(self.models)}
            return result.model_copy(update=counts)
        rows: dict[str, list[Sample]] = {model: [] for model in self.models}
        for question in self.questions:
            rows[question.model].append(self._sample(question, heard.get(question.id, Heard(None, "no answer")), agent))
        result = aggregate(self.judge, rows)
        told = [heard[question.id] for question in self.questions if question.id in heard]
        return result.model_copy(update={"payload": self._payload(result.payload, told, agent)})

    def _sample(self, question: Question, heard: Heard, agent: str) -> Sample:
        if heard.text is None:
            return Sample(None, heard.error)
        sample = read_answer(self.judge, heard.text, question.order, agent)
        if sample.error and heard.cut:
            return sample._replace(error=f"{sample.error}; the answer was cut off, it grew too long")
        return sample

    def _payload(self, payload: dict[str, Any], told: Sequence[Heard], agent: str) -> dict[str, Any]:
        costs = [each.usd for each in told if each.usd is not None]
        usage = {"calls": sum(each.text is not None for each in told), "tokens": sum(each.tokens for each in told)}
        warnings = [*payload.get("warnings", ()), *self.warnings.get(agent, ())]
        return (
            payload
            | {"usage": usage | ({"usd": sum(costs)} if costs else {})}
            | ({"warnings": warnings} if warnings else {})
        )


def inquire(spec: EvaluationSpec, evidence: Evidence, seats: Sequence[str] = ()) -> list[Inquiry]:
    """What the judges of one run are asked, the ranking ones left out; `seats` answer in the place of models."""
    return [_about_one(judge, evidence, *_panel(spec, judge, seats)) for judge in spec.llm_judges if not _ranks(judge)]


def inquire_rankings(
    spec: EvaluationSpec, candidates: Mapping[str, Evidence], run: str, seats: Sequence[str] = ()
) -> list[Inquiry]:
    """What the judges are asked that rank all runs of a case; a run without the evidence they need stays out."""
    ranking = (judge for judge in spec.llm_judges if _ranks(judge))
    return [_about_all(judge, candidates, run, *_panel(spec, judge, seats)) for judge in ranking]


def _ranks(judge: Judge) -> bool:
    return judge.mode == "n_wise"


def _panel(spec: EvaluationSpec, judge: Judge, seats: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Who is asked how often; somebody who sits in the arena is asked once, or once for each order of candidates."""
    samples = samples_per_model(judge, spec.scorecard.judge_limits)
    if seats:
        return tuple(seats), samples if _ranks(judge) and judge.position_debiasing else 1
    return tuple(dict.fromkeys(judge_models(judge))), samples


def _about_one(judge: Judge, evidence: Evidence, models: tuple[str, ...], samples: int) -> Inquiry:
    try:
        prompt, shown = judge_prompt(judge, evidence), context(judge, evidence)
    except Unjudgeable as reason:
        return Inquiry(judge, models, samples, reason=str(reason))
    questions = (Question(_id(judge, model, at), model, prompt) for model, at in _calls(models, samples))
    return Inquiry(judge, models, samples, tuple(questions), warnings={"": tuple(signs(shown))})


def _about_all(
    judge: Judge, candidates: Mapping[str, Evidence], run: str, models: tuple[str, ...], samples: int
) -> Inquiry:
    unfit: dict[str, str] = {}
    warnings: dict[str, tuple[str, ...]] = {}
    for name, evidence in candidates.items():
        try:
            warnings[name] = tuple(signs(context(judge, evidence)))
        except Unjudgeable as reason:
            unfit[name] = str(reason)
    if len(warnings) < 2:
        return Inquiry(judge, models, samples, reason=ALONE, unfit=unfit)
    orders = [tuple(candidate_order(judge, list(warnings), run, at)) for at in range(samples)]
    prompts = [ranking_prompt(judge, candidates, order) for order in orders]
    questions = (
        Question(_id(judge, model, at), model, prompts[at], orders[at]) for model, at in _calls(models, samples)
    )
    return Inquiry(judge, models, samples, tuple(questions), unfit=unfit, warnings=warnings)


def _calls(models: Iterable[str], samples: int) -> Iterator[tuple[str, int]]:
    return ((model, at) for model in models for at in range(samples))


def _id(judge: Judge, model: str, sample: int) -> str:
    return json.dumps(["judge", judge.key, model, sample], ensure_ascii=False)
