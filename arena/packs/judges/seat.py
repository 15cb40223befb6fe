"""Judges that sit in the arena: the same questions as models get, put to an agent or a person. Pure.

The operator sends `questions` to whoever has a judge's seat, keeps the texts that come back by the ids of the
questions, and has `results` read them. Nothing else needs to be kept: both make the same of the same evidence.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.packs.evidence import Evidence
from arena.packs.judges.answers import DEFAULT_SCALE
from arena.packs.judges.inquiry import Heard, Inquiry, Question, inquire, inquire_rankings
from arena.packs.results import JudgeResult
from arena.packs.spec.models import EvaluationSpec, Judge

SILENT = "the judge in the arena gave no verdict"


@dataclass(frozen=True)
class SeatJudge:
    """The judges' seats of a session, by name, and what they are to judge: one run, or all runs of a case."""

    spec: EvaluationSpec
    seats: tuple[str, ...]
    evidence: Evidence | None = None
    candidates: Mapping[str, Evidence] = field(default_factory=dict)
    run: str = ""

    def questions(self) -> dict[str, list[Question]]:
        """What each seat is asked, in order."""
        asked = [question for inquiry in self._inquiries() for question in inquiry.questions]
        return {seat: [question for question in asked if question.model == seat] for seat in self.seats}

    def told(self, seat: str) -> list[dict[str, Any]]:
        """The same as a seat is told it, with what an answer is made of, for those who draw forms."""
        return [
            {"id": each.id, "system": each.prompt.system, "user": each.prompt.user, "form": _form(inquiry.judge, each)}
            for inquiry in self._inquiries()
            for each in inquiry.questions
            if each.model == seat
        ]

    def results(self, answers: Mapping[str, str], agent: str = "") -> list[JudgeResult]:
        """What the verdicts make, by the ids of their questions; a missing one counts as failed."""
        inquiries = self._inquiries()
        asked = (question for inquiry in inquiries for question in inquiry.questions)
        heard = {each.id: Heard(answers.get(each.id), SILENT) for each in asked}
        return sorted((each.conclude(heard, agent) for each in inquiries), key=lambda result: result.judge_key)

    def _inquiries(self) -> list[Inquiry]:
        if self.evidence is not None:
            return inquire(self.spec, self.evidence, self.seats)
        return inquire_rankings(self.spec, self.candidates, self.run, self.seats)


def _form(judge: Judge, question: Question) -> dict[str, Any]:
    if judge.output_schema is not None:
        return {"mode": "json"}
    if judge.mode == "n_wise":
        return {"mode": judge.mode, "candidates": [*question.order]}
    scale = judge.score_scale or DEFAULT_SCALE
    return {"mode": judge.mode} | ({} if judge.mode == "assertion" else {"min": scale.min, "max": scale.max})
