"""The evaluation of runs: judges first, then the pack's spec on all there is, in a process that can be stopped."""

from collections.abc import Mapping
from typing import Any, cast

import orjson
from pydantic import JsonValue

from arena.packs.evidence import Evidence
from arena.packs.exposure import exposure
from arena.packs.isolated import score_isolated
from arena.packs.judges.inquiry import ALONE
from arena.packs.judges.run import run_judges, run_rankings
from arena.packs.judges.seat import SeatJudge
from arena.packs.lock import content_hash
from arena.packs.metrics import latency_ms
from arena.packs.operator.jobs import Desk
from arena.packs.operator.posture import security_of
from arena.packs.posture import Posture, judge_posture
from arena.packs.pricing import model_cost
from arena.packs.results import JudgeResult
from arena.packs.spec import EvaluationSpec

TABLE = ("judge",)  # the one who judges at the table
FAILED = "the ranking failed"


async def question(desk: Desk) -> JsonValue:
    """What the judge at the table is to be asked: about one run, or about all runs of a case."""
    judge = await _at_table(desk)
    told = await desk.bench.isolate.run(judge.told, TABLE[0])
    return cast(JsonValue, {"about": _about(desk), "questions": told})


async def rank(desk: Desk) -> JsonValue:
    """What ranking judges say of the runs of a case."""
    if desk.task["seat_judge"]:
        judge, answers = await _at_table(desk), await _answers(desk)
        found = {name: await desk.bench.isolate.run(judge.results, answers, name) for name in judge.candidates}
    else:
        candidates = await _candidates(desk)
        found = await run_rankings(await desk.spec(), candidates, _run(desk), desk.bench.models, desk.bench)
    told = {name: [each.document() for each in results] for name, results in found.items()}
    return {"rankings": await desk.keep("rankings", orjson.dumps(told))}


async def _at_table(desk: Desk) -> SeatJudge:
    spec, task = await desk.spec(), desk.task
    if "seat" in task:
        return SeatJudge(spec, TABLE, await desk.evidence(task["seat"], task["graded"]))
    return SeatJudge(spec, TABLE, candidates=await _candidates(desk), run=_run(desk))


async def _candidates(desk: Desk) -> dict[str, Evidence]:
    return {_name(seat): await desk.evidence(seat, graded) for seat, graded in enumerate(desk.task["graded"])}


def _name(seat: int) -> str:
    return f"candidate-{seat + 1}"


def _run(desk: Desk) -> str:
    """What decides the orders in which candidates are shown: the same whenever the job is run."""
    return f"{desk.bench.job_id.partition(':')[0]}/{desk.task['case']}"


def _about(desk: Desk) -> dict[str, JsonValue]:
    return {name: desk.task[name] for name in ("seat", "case") if name in desk.task}


async def evaluate(desk: Desk) -> JsonValue:
    """The scorecard of a run, which is kept, and what it comes to."""
    task, bundle = desk.task, desk.pack.bundle
    spec, evidence = await desk.spec(), await desk.evidence(task["seat"], task["graded"])
    judges = [*await _judged(desk, spec, evidence), *await _ranked(desk, spec)]
    result = await score_isolated(desk.bench.isolate, spec, evidence, judges, task["preference"])
    told = {"slug": bundle.pack.slug, "version": bundle.version.number, "content_hash": content_hash(bundle)}
    posture = await _posture(desk)
    security = {} if posture is None else {"posture": posture.document()}
    document = {"pack": told, "case": task["case"], **result.document(), **security}
    return {
        "overall": result.overall_score,
        "passed": result.passed,
        "dimensions": {key: score for key, score in result.dimension_scores.items() if score is not None},
        "cost_usd": model_cost(spec.pricing.models, evidence).usd,
        "latency_ms": latency_ms(evidence),
        "tokens": evidence.total_tokens,
        "security": security_of(bundle, posture, result),
        "card": await desk.keep("card", orjson.dumps(document)),
    }


async def _posture(desk: Desk) -> Posture | None:
    """How a run kept the secrets and the bounds of its pack, where it has any."""
    block = desk.pack.bundle.security
    if block is None:
        return None
    seen = exposure(await desk.events(desk.task["seat"], desk.task["graded"]))
    return await desk.bench.isolate.run(judge_posture, block.document(), seen)


async def _judged(desk: Desk, spec: EvaluationSpec, evidence: Evidence) -> list[JudgeResult]:
    if not any(judge.mode != "n_wise" for judge in spec.llm_judges):
        return []
    if not desk.task["seat_judge"]:
        return await run_judges(spec, evidence, desk.bench.models, desk.bench)
    return await desk.bench.isolate.run(SeatJudge(spec, TABLE, evidence).results, await _answers(desk))


async def _ranked(desk: Desk, spec: EvaluationSpec) -> list[JudgeResult]:
    """What ranking judges said of this run; who is alone was ranked by nobody."""
    if desk.pack.ranks and desk.task["rankings"] != "-":
        told: Mapping[str, Any] = await desk.kept(desk.task["rankings"])
        return [JudgeResult.model_validate(each) for each in told[_name(desk.task["seat"])]]
    reason = FAILED if desk.pack.ranks else ALONE
    ranking = (judge for judge in spec.llm_judges if judge.mode == "n_wise")
    return [JudgeResult(judge_key=judge.key, mode=judge.mode, reason=reason) for judge in ranking]


async def _answers(desk: Desk) -> dict[str, str]:
    """What the judge at the table said, by the ids of the questions."""
    lines = [line for judge in desk.task["judges"] for line in await desk.bench.notes(judge)]
    verdicts = [line["verdict"] for line in lines if "verdict" in line]
    return {verdict["id"]: verdict["answer"] for verdict in verdicts if verdict["about"] == _about(desk)}
