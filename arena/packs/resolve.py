"""Evidence references against evidence: a text, a reason why there is none, or an error."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from arena.packs.evidence import CaseEvidence, Evidence, Turn
from arena.packs.references import last_turns, read_integer
from arena.packs.text import is_blank, trim
from arena.packs.values import as_text, canonical_json, loose_string

_MAX_CHAIN = 8
_NO_PATH = "evidence path is unavailable"


class BadReference(ValueError):
    """A reference that means nothing, or that leads in a circle."""


class Resolved(NamedTuple):
    """What a reference leads to: a text, or the reason why there is none."""

    value: str | None
    reason: str = ""


class _Missing(Exception):
    pass


def resolve_evidence(reference: str, evidence: Evidence) -> Resolved:
    """Follow a reference; an unsupported one is an error."""
    try:
        return Resolved(_find(reference, evidence))
    except _Missing as missing:
        return Resolved(None, str(missing))


def _find(reference: str, evidence: Evidence) -> str:
    if reference.startswith("literal:"):
        return reference.removeprefix("literal:")
    if reference.startswith("file:"):
        return _file(reference.removeprefix("file:"), evidence)
    if reference in {"final_output", "run.final_output"}:
        return _present(evidence.final_output, "final output evidence is unavailable")
    if reference.startswith("transcript.") or reference == "turn.expectations":
        return _transcript(reference, evidence.turns)
    return _from_case(reference, evidence)


def _present(value: str | None, reason: str) -> str:
    if value is None:
        raise _Missing(reason)
    return value


def _file(key: str, evidence: Evidence) -> str:
    captured = evidence.files.get(key)
    if captured is not None:
        if not captured.exists:
            raise _Missing(f'captured file "{key}" does not exist at path "{captured.path}"')
        return captured.content
    listing = evidence.directories.get(key)
    if listing is None:
        raise _Missing(f'file capture key "{key}" is unavailable')
    return canonical_json(listing.document(), sort=False)


def _from_case(reference: str, evidence: Evidence) -> str:
    if reference == "challenge_input":
        case = _only_case(evidence, "challenge input")
        text = loose_string(case.payload)
        return canonical_json(case.payload) if text is None else text
    root, _, rest = reference.partition(".")
    kind, _, path = rest.partition(".")
    if root == "artifact" and rest:
        return as_text(_artifact(_only_case(evidence, "artifact"), *_split(rest)))
    if root == "case" and kind == "payload":
        return as_text(_walk(_only_case(evidence, "case").payload, path.split(".") if rest != "payload" else ()))
    if root == "case" and kind in {"inputs", "expectations"} and path:
        return as_text(_part(_only_case(evidence, "case"), kind.removesuffix("s"), *_split(path)))
    raise BadReference(f'unsupported evidence source "{reference}"')


def _only_case(evidence: Evidence, what: str) -> CaseEvidence:
    if evidence.case is None:
        several = len(evidence.cases) > 1
        raise _Missing(f"{what} evidence is {'ambiguous across multiple cases' if several else 'unavailable'}")
    return evidence.case


def _split(path: str) -> tuple[str, list[str]]:
    key, *rest = path.split(".")
    return key, rest


def _walk(value: Any, path: Iterable[str]) -> Any:
    for name in path:
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and 0 <= (index := _index(name)) < len(value):
            value = value[index]
        else:
            raise _Missing(_NO_PATH)
    return value


def _index(name: str) -> int:
    index = read_integer(name)
    return -1 if index is None else index


def _artifact(case: CaseEvidence, key: str, path: list[str]) -> Any:
    artifact = case.artifacts.get(key)
    if artifact is None:
        raise _Missing(f'artifact "{key}" is unavailable')
    return _walk(artifact, path) if path else artifact["path"]


def _part(case: CaseEvidence, kind: str, key: str, path: list[str], depth: int = 0) -> Any:
    """The value of a case input or expectation: its own, or that of what it names."""
    if depth > _MAX_CHAIN:
        raise BadReference("evidence sources are chained too deeply")
    part = (case.inputs if kind == "input" else case.expectations).get(key)
    if part is None:
        raise _Missing(f'case {kind} "{key}" is unavailable')
    if part.get("value") is not None:
        return _walk(part["value"], path)
    source = trim(part.get("source") or "")
    if source:
        return _source(case, source, path, depth)
    if not is_blank(part.get("artifact_key") or ""):
        return _artifact(case, trim(part["artifact_key"]), path)
    if not is_blank(part.get("path") or ""):
        return _walk(part["path"], path)
    raise _Missing("evidence is unavailable")


def _source(case: CaseEvidence, source: str, path: list[str], depth: int) -> Any:
    kind, _, key = source.partition(":")
    if kind == "input":
        return _part(case, "input", trim(key), path, depth + 1)
    if kind == "artifact":
        return _artifact(case, trim(key), path)
    raise BadReference(f'unsupported expectation source "{source}"')


def _transcript(reference: str, turns: list[Turn]) -> str:
    ordered = sorted(turns, key=lambda turn: turn.turn_index)
    if reference == "turn.expectations":
        return _expectations(_some(ordered, "turn expectation evidence is unavailable"))
    if reference == "transcript.full":
        return _lines(_some(ordered, "transcript evidence is unavailable"))
    if reference == "transcript.from_mismatch":
        first = next((at for at, turn in enumerate(ordered) if turn.mismatch), len(ordered))
        return _lines(_some(ordered[first:], "there is no mismatch in the transcript"))
    if reference.startswith("transcript.last_n:") and (count := last_turns(reference)):
        return _lines(_some(ordered[-count:], "transcript evidence is unavailable"))
    raise BadReference(f'unsupported evidence source "{reference}"')


def _some(turns: list[Turn], reason: str) -> list[Turn]:
    if not turns:
        raise _Missing(reason)
    return turns


def _lines(turns: list[Turn]) -> str:
    said = ((turn, actor) for turn in turns for actor in ("user", "assistant"))
    spoken = ((turn.turn_index, actor, getattr(turn, actor)) for turn, actor in said)
    return "\n".join(f"{actor}[{index}]: {text}" for index, actor, text in spoken if not is_blank(text))


def _expectations(turns: list[Turn]) -> str:
    rows = (
        {
            "turn_index": turn.turn_index,
            **({"phase_id": turn.phase_id} if turn.phase_id else {}),
            "mismatch": turn.mismatch,
        }
        for turn in turns
    )
    return canonical_json(list(rows), sort=False)
