"""The simulated user of a multi-turn case."""

from typing import Any

from arena.packs.blocks.base import Block, Int32, told

ACTORS = ("scripted", "llm", "human")
TRIGGERS = (
    "always",
    "on_assistant_mismatch",
    "on_validator_fail",
    "on_judge_below",
    "on_agent_loop",
    "on_max_llm_turns",
    "manual",
    "never",
)


class Expectation(Block):
    """Something that an answer is compared with."""

    kept = frozenset({"key", "kind"})

    key: str = told("", "Name of the expectation, unique in its list.", needed=True)
    kind: str = told("", "What it is, in your own words; in `expects`: `contains` or `exact_match`.", needed=True)
    value: Any = told(None, "The expectation itself, any JSON value.")
    artifact_key: str = told("", "Version asset that holds it instead.")
    source: str = told("", "Where else it is found: `input:<key>` of the same case, or `artifact:<key>`.")


class Turn(Block):
    """A message of a scripted user, and what the agent's answer should meet."""

    kept = frozenset({"message"})

    message: str = told("", "What the user says; `{{name}}` is filled from the case.", needed=True)
    expects: list[Expectation] = told([], "What the answer must meet, else the turn counts as a mismatch.")


class Phase(Block):
    """A stretch of the conversation with one kind of user."""

    kept = frozenset({"id", "actor"})

    id: str = told("", "Name of the phase, unique in its simulator.", needed=True)
    actor: str = told("", "Who speaks.", needed=True, among=ACTORS)
    trigger: str = told("", "When the phase runs: `always` (or nothing) for the first, another for the rest.")
    turns: list[Turn] = told([], "The messages of a `scripted` actor, one at least.")
    persona: str = told("", "Who an `llm` actor plays; needed for it.")
    max_turns: Int32 = told(0, "Messages of an `llm` actor at most; 0 is as many as the conversation may have.")
    until: list[str] = told(
        [], "An `llm` actor stops when all of these hold: `max_turns`, `assistant_emitted:<word>`, `user_token:<word>`."
    )
    timeout_ms: int = told(0, "How long a `human` actor is waited for; 0 is half an hour.")
    on_timeout: str = told("", "`fail` fails the run when the human is silent; anything else ends the conversation.")
    model: str = told("", "Model of an `llm` actor.")


class Calibration(Block):
    """Whether a share of the runs is shown to people too."""

    kept = frozenset({"enabled"})

    enabled: bool = told(False, "Whether runs are sampled.")
    sample_rate: float = told(0.0, "Share of the runs, above 0 and at most 1.")


class Arena(Block):
    """Whether agents are compared with each other after their runs."""

    kept = frozenset({"enabled"})

    enabled: bool = told(False, "Whether people vote on pairs of agents.")
    comparison: str = told("", "How; `pairwise` is the only way.")


class PostRun(Block):
    """What happens after a run."""

    arena: Arena | None = told(None, "Comparison of agents.")


class UserSimulator(Block):
    """Who talks to the agent in a multi-turn case."""

    kept = frozenset({"schema_version", "kind", "phases"})

    schema_version: int = told(0, "Always 1.", needed=True)
    kind: str = told("", "Always `hybrid`.", needed=True)
    max_turns: Int32 = told(0, "Turns of the whole conversation at most; 0 is 50.")
    phases: list[Phase] = told([], "The phases in their order, one at least.", needed=True, least=1)
    calibration: Calibration | None = told(None, "Sampling for people.")
    post_run: PostRun | None = told(None, "What happens afterwards.")
