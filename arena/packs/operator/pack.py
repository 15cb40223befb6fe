"""A pack as it is played: one version, one input set, the options of a session."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from arena.errors import Refused
from arena.packs.blocks import Bundle, Case, Challenge
from arena.packs.operator.options import PackOptions
from arena.packs.release import input_set_id, version_id
from arena.packs.sandbox.toolbox import Toolbox
from arena.packs.selection import BadInputSet, choose_input_set
from arena.packs.spec.models import RuntimeLimits
from arena.packs.templates import context_of, render

CASE_SECONDS = 3_600.0  # for a case that says nothing itself
NATIVE = frozenset({"", "native"})
HUMAN = "human"


@dataclass(frozen=True)
class Pack:
    """What all sessions with the same options share."""

    bundle: Bundle
    options: PackOptions

    @cached_property
    def cases(self) -> dict[str, Case]:
        """The cases of the chosen input set, in their order."""
        sets = {each.key: each for each in self.bundle.input_sets}
        try:
            chosen = choose_input_set(list(sets), self._wanted(list(sets)))
        except BadInputSet as error:
            raise Refused(error.code, str(error)) from None
        return {case.effective_key: case for case in sets[chosen].cases} if chosen is not None else {}

    def _wanted(self, keys: list[str]) -> str | None:
        """The key of the input set that was asked for, by its key or by the id that it has since it was published."""
        wanted = self.options.input_set
        if wanted is None or wanted in keys:
            return wanted
        version = version_id(self.bundle)
        return next((key for key in keys if input_set_id(version, key) == wanted), wanted)

    @property
    def seats(self) -> range:
        """The seats of the players."""
        return range(self.options.players)

    @property
    def mode(self) -> str:
        """How agents are run."""
        return self.bundle.version.execution_mode

    @property
    def is_native(self) -> bool:
        """Whether runs have a work directory."""
        return self.mode in NATIVE

    @property
    def limits(self) -> RuntimeLimits:
        """What a run may use up."""
        return self.bundle.version.evaluation_spec.runtime_limits

    @property
    def has_human(self) -> bool:
        """Whether some case talks with a person."""
        simulators = (case.user_simulator for case in self.cases.values())
        return any(phase.actor == HUMAN for each in simulators if each is not None for phase in each.phases)

    @property
    def has_judge_seat(self) -> bool:
        """Whether somebody at the table judges."""
        return self.options.judge_seat and bool(self.bundle.version.evaluation_spec.llm_judges)

    @property
    def ranks(self) -> bool:
        """Whether judges rank the seats against each other; who is alone is ranked by nobody."""
        judges = self.bundle.version.evaluation_spec.llm_judges
        return self.options.players > 1 and any(judge.mode == "n_wise" for judge in judges)

    @property
    def polls(self) -> bool:
        """Whether spectators vote."""
        return self.options.votes is not None and self.options.players > 1

    @property
    def captures(self) -> bool:
        """Whether something of a run's files is looked at."""
        spec = self.bundle.version.evaluation_spec
        return bool(spec.post_execution_checks) or any(each.type == "code_execution" for each in spec.validators)

    def seconds(self, case: Case) -> float:
        """How long a run of a case may take."""
        own = float(case.case_timeout_seconds) if case.case_timeout_seconds > 0 else CASE_SECONDS
        most = self.limits.max_duration_ms
        return min(own, most / 1000) if most else own

    def challenge(self, case: Case) -> Challenge:
        """The task that a case belongs to."""
        return next(each for each in self.bundle.challenges if each.key == case.challenge_key)

    def instructions(self, case: Case) -> str:
        """What the agent is told to do; filled from the case where that is the pack's mode."""
        text = self.challenge(case).instructions
        return render(text, context_of(case.payload, case.inputs)) if self.mode == "prompt_eval" else text

    @cached_property
    def planted(self) -> list[str]:
        """The secrets that the pack plants, the longest first, so that none hides in another."""
        secrets = self.bundle.security.planted_secrets if self.bundle.security else ()
        return sorted({each.value for each in secrets if each.value}, key=len, reverse=True)

    def veil(self, value: Any) -> Any:
        """The same JSON value as everybody may see it: without the secrets that the pack plants."""
        if isinstance(value, str):
            for secret in self.planted:
                value = value.replace(secret, "[planted secret]")
            return value
        if isinstance(value, Mapping):
            return {self.veil(name): self.veil(member) for name, member in value.items()}
        return [self.veil(item) for item in value] if isinstance(value, list) else value

    def tools(self, case: Case) -> list[dict[str, Any]]:
        """The tools that agents may call, with the schemas of their arguments."""
        return [] if self.mode in {"prompt_eval", "responses"} else Toolbox(self.bundle, case).offer()
