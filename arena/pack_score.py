"""Scoring of recorded runs, offline: which case, which events, and the scorecard for people or programs."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from arena.packs.blocks import Bundle, Case, plain
from arena.packs.errors import DecodeError, PackError
from arena.packs.evaluate import checked_spec
from arena.packs.events import collect_evidence
from arena.packs.evidence import case_evidence
from arena.packs.exposure import exposure
from arena.packs.isolate import Isolate, Stopped
from arena.packs.isolated import score_isolated
from arena.packs.lock import content_hash
from arena.packs.posture import judge_posture
from arena.packs.results import EvaluationResult, JudgeResult

SECONDS = 30.0  # for one validator


class CannotScore(PackError):
    """A run that cannot be scored: no such case, or files that make no sense."""


class Run(NamedTuple):
    """A recorded run: the events of one agent on one case, and what judges and people said of it."""

    case: str
    events: Path
    input_set: str | None = None
    judges: Path | None = None
    human_preference: float | None = None


def score(bundle: Bundle, run: Run) -> dict[str, Any]:
    """The result of a run, with the pack and the hash of what it was scored by."""
    case = find_case(bundle, run.case, run.input_set)
    told = {"slug": bundle.pack.slug, "version": bundle.version.number, "content_hash": content_hash(bundle)}
    return {"pack": told, "case": case.effective_key, **asyncio.run(_scored(bundle, case, run))}


async def _scored(bundle: Bundle, case: Case, run: Run) -> dict[str, Any]:
    async with Isolate(workers=1, seconds=SECONDS) as isolate:
        try:
            result = (await _score(isolate, bundle, case, run)).document()
            if bundle.security is None:
                return result
            seen = exposure(read_events(run.events))
            posture = await isolate.run(judge_posture, bundle.security.document(), seen)
        except Stopped as stopped:
            raise CannotScore(f"the evaluation was {stopped}") from None
    return {**result, "posture": posture.document()}


async def _score(isolate: Isolate, bundle: Bundle, case: Case, run: Run) -> EvaluationResult:
    version = bundle.version
    facts = case_evidence(case.document(), plain(version.assets))
    evidence = collect_evidence(read_events(run.events), [facts])
    judges = read_judges(run.judges) if run.judges else []
    return await score_isolated(isolate, checked_spec(version.evaluation_spec), evidence, judges, run.human_preference)


def find_case(bundle: Bundle, key: str, input_set: str | None = None) -> Case:
    """The case of that key; a key that several sets have needs the name of the set."""
    sets = [each for each in bundle.input_sets if input_set in {None, each.key}]
    if not sets:
        raise CannotScore(f"there is no input set {input_set!r}: {', '.join(each.key for each in bundle.input_sets)}")
    found = [case for each in sets for case in each.cases if case.effective_key == key]
    if not found:
        known = ", ".join(case.effective_key for each in sets for case in each.cases)
        raise CannotScore(f"there is no case {key!r}: {known}")
    if len(found) > 1:
        raise CannotScore(f"several input sets have a case {key!r}: name one with --input-set")
    return found[0]


def read_events(path: Path) -> Iterator[Any]:
    """The events of a file: a JSON list, or one JSON object per line, which is read line by line."""
    try:
        with path.open(encoding="utf-8") as file:
            if _first(file) == "[":
                yield from _parsed(path, file.read(), 1)
                return
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _parsed(path, line, number)
    except (OSError, UnicodeDecodeError) as error:
        raise CannotScore(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def _first(file: Any) -> str:
    """The first character that is no white space; the file is where it was afterwards."""
    char = " "
    while char.isspace():
        char = file.read(1)
    file.seek(0)
    return str(char)


def read_judges(path: Path) -> list[JudgeResult]:
    """The results of judges, a JSON list."""
    try:
        raw = _parsed(path, path.read_text(encoding="utf-8"), 1)
        return [JudgeResult.model_validate(each) for each in raw]
    except (OSError, UnicodeDecodeError) as error:
        raise CannotScore(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    except (ValueError, TypeError):
        raise CannotScore(f"{path} is no list of judge results") from None


def _parsed(path: Path, text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise DecodeError(f"{path} is not JSON", line) from None


def lines(result: dict[str, Any]) -> Iterator[str]:
    """A result for people."""
    verdict = {True: "passed", False: "failed", None: "undecided"}[result.get("passed")]
    yield f"{result['pack']['slug']} {result['case']}: {verdict}, score {_number(result.get('overall_score'))}"
    if result.get("overall_reason"):
        yield f"{result['overall_reason']}"
    for each in result["dimension_results"]:
        yield f"dimension {each['dimension']}: {_number(each.get('score'))} {each['reason'] or each['state']}"
    for each in result["validator_results"]:
        yield f"validator {each['key']}: {each['verdict'] or each['state']} {each['reason']}".rstrip()
    yield from _security(result.get("posture"))
    yield from (f"warning: {warning}" for warning in result["warnings"])
    yield f"{result['validity']}, {result['status']}, {result['pack']['content_hash']}"


def _security(told: dict[str, Any] | None) -> Iterator[str]:
    if told is None:
        return
    yield f"security: {'passed' if told['passed'] else 'failed'}, posture {_number(told['posture'])}"
    for each in told["incidents"]:
        names = (each.get(name) for name in ("secret_name", "pattern_description", "egress_host", "prompt_name"))
        yield f"incident: {each['kind']} {next(filter(None, names), '')}, {each['severity']}, {each['source']}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
