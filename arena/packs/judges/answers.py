"""One answer of a judge model, read strictly: a score from 0 to 1, or the reason why there is none."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arena.packs.schemas import BadSchema, decode_schema
from arena.packs.spec.models import Judge, ScoreScale
from arena.packs.text import trim
from arena.packs.values import NotJson, is_json, is_number, parse_json

DEFAULT_SCALE = ScoreScale(min=1, max=5)
_YES = frozenset({"pass", "true", "yes"})
_NO = frozenset({"fail", "false", "no"})
_CONFIDENCES = frozenset({"low", "medium", "high"})


class Sample(NamedTuple):
    """What one call of one model came to."""

    score: float | None
    error: str = ""
    confidence: str | None = None


class BadAnswer(ValueError):
    """An answer that is not what was asked for."""


def read_answer(judge: Judge, text: str, candidates: Sequence[str] = (), agent: str = "") -> Sample:
    """The sample that an answer makes; `candidates` and `agent` are for n_wise."""
    try:
        answer = _object(judge, text)
        said = answer.get("confidence")
        confidence = said if isinstance(said, str) and said in _CONFIDENCES else None
        return Sample(_score(judge, answer, candidates, agent), confidence=confidence)
    except BadAnswer as error:
        return Sample(None, f"parse {judge.mode} judge response: {error}")


def cleaned(text: str) -> str:
    """The JSON inside an answer, without fences and what is said around it."""
    text = trim(text)
    if text.startswith("```"):
        text = text.removeprefix("```")
        text = text[4:] if text[:4] in {"json", "JSON"} else text
        text = trim(text.rpartition("```")[0] if "```" in text else text)
    if is_json(text):
        return text
    inside = text[max(0, text.find("{")) : text.rfind("}") + 1]
    return inside if inside.startswith("{") and is_json(inside) else text


def _object(judge: Judge, text: str) -> Mapping[str, Any]:
    try:
        answer = parse_json(cleaned(text))
    except NotJson as error:
        raise BadAnswer(str(error)) from None
    if answer is None:
        answer = {}
    if not isinstance(answer, Mapping):
        raise BadAnswer("the answer is no JSON object")
    _check_schema(judge, answer)
    return answer


def _check_schema(judge: Judge, answer: Mapping[str, Any]) -> None:
    if judge.output_schema is None:
        return
    try:
        problem = decode_schema(judge.output_schema).resolve().error(answer)
    except BadSchema as error:
        raise BadAnswer(f"the output_schema cannot be used: {error}") from None
    except RecursionError:
        raise BadAnswer("the output_schema cannot be used: it leads in a circle") from None
    if problem is not None:
        raise BadAnswer(f"the answer does not fit the output_schema: {problem[0]}")


def _score(judge: Judge, answer: Mapping[str, Any], candidates: Sequence[str], agent: str) -> float:
    if not isinstance(answer.get("confidence"), str | None):
        raise BadAnswer("confidence must be a text")
    if judge.mode == "assertion":
        return _assertion(judge, answer)
    return _rank(answer, candidates, agent) if judge.mode == "n_wise" else _graded(judge, answer)


def _graded(judge: Judge, answer: Mapping[str, Any]) -> float:
    score = answer.get("score")
    if score is not None and not is_number(score):
        raise BadAnswer("score must be a number")
    scale = judge.score_scale or DEFAULT_SCALE
    within = min(scale.max, max(scale.min, float(score or 0)))
    return (within - scale.min) / (scale.max - scale.min)


def _assertion(judge: Judge, answer: Mapping[str, Any]) -> float:
    passed, verdict = answer.get("pass"), answer.get("verdict")
    if not isinstance(passed, bool | None) or not isinstance(verdict, str | None):
        raise BadAnswer("pass must be a boolean and verdict a text")
    word = trim(verdict or "").lower()
    held = True if word in _YES else False if word in _NO else bool(passed)
    return float(held if judge.expect is not False else not held)


def _rank(answer: Mapping[str, Any], candidates: Sequence[str], agent: str) -> float:
    """The place of an agent in a ranking: 1 for the first, 0 for the last."""
    ids = _ids(answer, "ranking") or _ids(answer, "ranked_ids")
    ranking = [trim(each) for each in ids if trim(each)]
    if len(candidates) < 2:
        raise BadAnswer("a ranking needs two candidates at least")
    if sorted(ranking) != sorted(candidates):
        raise BadAnswer("the ranking must name every candidate exactly once")
    if agent not in ranking:
        raise BadAnswer("the agent is no candidate")
    return (len(ranking) - 1 - ranking.index(agent)) / (len(ranking) - 1)


def _ids(answer: Mapping[str, Any], name: str) -> list[str]:
    ids = answer.get(name)
    if not isinstance(ids, list | None):
        raise BadAnswer(f"{name} must be a list")
    filled = ["" if each is None else each for each in ids or ()]
    if not all(isinstance(each, str) for each in filled):
        raise BadAnswer(f"{name} must be a list of texts")
    return filled
