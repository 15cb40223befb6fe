"""A conversation with a simulated user: what a turn expects, which phase runs, when it stops, who is sampled."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from arena.packs.blocks import Expectation, Phase, UserSimulator
from arena.packs.text import trim
from arena.packs.values import as_text

MAX_TURNS = 50
HUMAN_TIMEOUT_MS = 30 * 60 * 1000
_FNV_OFFSET, _FNV_PRIME = 0x811C9DC5, 0x01000193


def is_mismatch(answer: str, expects: Iterable[Expectation]) -> bool:
    """Whether an answer fails one of the things that were expected of it."""
    return not all(_is_met(answer, each) for each in expects)


def _is_met(answer: str, expected: Expectation) -> bool:
    if expected.value is None:
        return False
    wanted = as_text(expected.value)
    match trim(expected.kind):
        case "exact_match":
            return trim(answer) == wanted
        case "contains":
            return wanted in answer
        case _:
            return False


def turn_limit(simulator: UserSimulator) -> int:
    """How many turns the whole conversation may have."""
    return simulator.max_turns or MAX_TURNS


def phase_runs(phase: Phase, *, last_mismatch: bool) -> bool:
    """Whether a phase's time has come."""
    match trim(phase.trigger):
        case "never":
            return False
        case "on_assistant_mismatch":
            return last_mismatch
        case _:
            return True


class Progress(NamedTuple):
    """How far a phase has come: its turns, and what was said last."""

    turns: int
    limit: int
    answer: str
    message: str


def is_over(until: Sequence[str], progress: Progress) -> bool:
    """Whether every condition for the end of a phase holds; without conditions it goes on to its limit."""
    return bool(until) and all(_holds(trim(condition), progress) for condition in until)


def _holds(condition: str, progress: Progress) -> bool:
    kind, _, word = condition.partition(":")
    word = trim(word).lower()
    match trim(kind):
        case "":
            return not word
        case "max_turns":
            return progress.turns >= progress.limit
        case "assistant_emitted":
            return bool(word) and word in progress.answer.lower()
        case "user_token":
            return bool(word) and word in progress.message.lower()
        case _:
            return False


def is_sampled(run: UUID, rate: float) -> bool:
    """Whether a run is shown to people too: the same answer for the same run, whoever asks."""
    if rate <= 0 or rate >= 1:
        return rate >= 1
    digest = _FNV_OFFSET
    for byte in run.bytes:
        digest = (digest ^ byte) * _FNV_PRIME & 0xFFFFFFFF
    return digest % 10000 < rate * 10000


def pairs(agents: Iterable[tuple[str, int, Any]]) -> dict[str, list[tuple[Any, Any]]]:
    """Agents `(case key, lane, agent)` paired for votes: within a case, by lane, neighbours with each other."""
    grouped: dict[str, list[tuple[int, Any]]] = {}
    for case_key, lane, agent in agents:
        grouped.setdefault(case_key, []).append((lane, agent))
    ordered = {key: [agent for _, agent in sorted(found, key=lambda each: each[0])] for key, found in grouped.items()}
    return {key: list(zip(found[::2], found[1::2], strict=False)) for key, found in ordered.items()}
