"""Rules for the simulated user of a case."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from arena.packs.blocks import Case, Phase, UserSimulator
from arena.packs.blocks.simulator import ACTORS, TRIGGERS
from arena.packs.errors import FieldError
from arena.packs.rules.references import REQUIRED, check_expectations, check_key, input_keys
from arena.packs.templates import context_of, placeholders, unresolved
from arena.packs.text import is_blank, trim

Errors = Iterator[FieldError]
_NOT_NEGATIVE = "must be greater than or equal to 0"


def check_simulator(case: Case, mode: str, path: str, version_assets: Collection[str]) -> Errors:
    """A multi-turn case needs a simulator, no other case may have one."""
    simulator = case.user_simulator
    if simulator is None:
        if mode == "multi_turn":
            yield FieldError(path, "is required when version.execution_mode is multi_turn")
    elif mode != "multi_turn":
        yield FieldError(path, "is only allowed when version.execution_mode is multi_turn")
    else:
        yield from _check_head(simulator, path)
        yield from _check_phases(simulator.phases, path, Known.of(case, version_assets))


def _check_head(simulator: UserSimulator, path: str) -> Errors:
    if simulator.schema_version != 1:
        yield FieldError(f"{path}.schema_version", "must be 1")
    if trim(simulator.kind) != "hybrid":
        yield FieldError(f"{path}.kind", 'must be "hybrid"')
    if simulator.max_turns < 0:
        yield FieldError(f"{path}.max_turns", _NOT_NEGATIVE)
    if not simulator.phases:
        yield FieldError(f"{path}.phases", "must contain at least one phase")
    calibration = simulator.calibration
    if calibration and calibration.enabled and not 0 < calibration.sample_rate <= 1:
        message = "must be greater than 0 and at most 1 when calibration is enabled"
        yield FieldError(f"{path}.calibration.sample_rate", message)
    arena = simulator.post_run and simulator.post_run.arena
    if arena and arena.enabled and trim(arena.comparison) not in {"", "pairwise"}:
        yield FieldError(f"{path}.post_run.arena.comparison", 'must be "pairwise"')


class Known(NamedTuple):
    """What the script of a case can refer to."""

    context: Mapping[str, Any]
    inputs: Collection[str]
    version_assets: Collection[str]

    @classmethod
    def of(cls, case: Case, version_assets: Collection[str]) -> "Known":
        """All of it, gathered once."""
        return cls(context_of(case.payload, case.inputs), input_keys(case), version_assets)


def _check_phases(phases: list[Phase], path: str, known: Known) -> Errors:
    seen: set[str] = set()
    for index, phase in enumerate(phases):
        at = f"{path}.phases[{index}]"
        yield from check_key(phase.id, seen, f"{at}.id")
        yield from _check_trigger(phase, at, first=index == 0)
        yield from _check_actor(phase, at, known)


def _check_trigger(phase: Phase, path: str, *, first: bool) -> Errors:
    trigger = trim(phase.trigger) or "always"
    if trigger not in TRIGGERS:
        yield FieldError(f"{path}.trigger", f"must be one of {', '.join(TRIGGERS)}")
    if first and trigger != "always":
        yield FieldError(f"{path}.trigger", 'of the first phase must be empty or "always"')
    if not first and trigger == "always":
        yield FieldError(f"{path}.trigger", "of a later phase must say when it runs")


def _check_actor(phase: Phase, path: str, known: Known) -> Errors:
    actor = trim(phase.actor)
    if not actor:
        yield FieldError(f"{path}.actor", REQUIRED)
        return
    if actor not in ACTORS:
        yield FieldError(f"{path}.actor", f"must be one of {', '.join(ACTORS)}")
    if actor == "scripted":
        yield from _check_script(phase, path, known)
    if actor == "llm":
        yield from _check_llm(phase, path)
    if actor == "human" and phase.timeout_ms < 0:
        yield FieldError(f"{path}.timeout_ms", _NOT_NEGATIVE)
    if actor != "llm" and not is_blank(phase.model):
        yield FieldError(f"{path}.model", "is only allowed for the llm actor")


def _check_script(phase: Phase, path: str, known: Known) -> Errors:
    if not phase.turns:
        yield FieldError(f"{path}.turns", "must contain at least one turn for the scripted actor")
    for index, turn in enumerate(phase.turns):
        at = f"{path}.turns[{index}]"
        if is_blank(turn.message):
            yield FieldError(f"{at}.message", "is required for scripted turns")
        for problem in unresolved(placeholders(turn.message), known.context).values():
            yield FieldError(f"{at}.message", problem)
        yield from check_expectations(turn.expects, f"{at}.expects", known.inputs, known.version_assets)


def _check_llm(phase: Phase, path: str) -> Errors:
    if is_blank(phase.persona):
        yield FieldError(f"{path}.persona", "is required for the llm actor")
    if phase.max_turns < 0:
        yield FieldError(f"{path}.max_turns", _NOT_NEGATIVE)
    for index, condition in enumerate(phase.until):
        if is_blank(condition):
            yield FieldError(f"{path}.until[{index}]", "must be a condition")
