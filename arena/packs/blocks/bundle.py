"""The bundle itself: pack, version, challenges, input sets and the optional blocks."""

from typing import Any

from arena.packs.blocks.base import Block, Int32, Spec, told
from arena.packs.blocks.cases import ArtifactRef, Asset, InputSet
from arena.packs.blocks.security import Security
from arena.packs.spec import EvaluationSpec

DIFFICULTIES = ("easy", "medium", "hard", "expert")
MODES = ("native", "prompt_eval", "responses", "multi_turn")
TRANSPORTS = ("text_sim", "webrtc", "sip", "pstn", "websocket")


class Identity(Block):
    """What the pack is called."""

    kept = frozenset({"slug", "name", "family"})

    slug: str = told("", "Name for programs.", needed=True)
    name: str = told("", "Name for people.", needed=True)
    family: str = told("", "What kind of pack it is; `security` asks for a `security` block.", needed=True)
    description: str = told("", "What the pack is about.")


class Sandbox(Block):
    """The machine that a native run gets."""

    kept = frozenset({"network_access"})

    network_access: bool = told(False, "Whether the sandbox reaches the network.")
    network_allowlist: list[str] = told([], "Networks that it reaches, in CIDR form.")
    env_vars: dict[str, str] = told({}, "Environment variables, literal values.")
    additional_packages: list[str] = told([], "Debian packages to install.")
    sandbox_template_id: str = told("", "Template of the sandbox, if the runner has several.")


class DeploymentDefaults(Block):
    """Which agents run the pack when nobody says."""

    aliases: dict[str, str] = told({}, "Short names for selectors of deployments.")
    lineups: dict[str, list[str]] = told({}, "Lists of selectors by name; `default` is needed.")


class Version(Block):
    """One version of the pack: how it runs and how it is scored."""

    number: Int32 = told(0, "Number of the version.", needed=True, least=1)
    execution_mode: str = told("", "How agents are run; empty is an older form of `native`.", among=("", *MODES))
    tool_policy: dict[str, Any] | None = told(
        None, "Which tools agents may use: `allowed_tool_kinds` and `allow_shell`; anything else is passed on."
    )
    filesystem: dict[str, Any] | None = told(None, "Free data about the workspace, passed on.")
    sandbox: Sandbox | None = told(None, "The machine; forbidden in mode `prompt_eval`.")
    evaluation_spec: Spec = told(EvaluationSpec(), "How runs are scored.", needed=True)
    assets: list[Asset] = told([], "Files of the pack, which challenges and cases refer to.")
    deployment_defaults: DeploymentDefaults | None = told(None, "Which agents run it by default.")


class Challenge(Block):
    """A task that cases are made of."""

    kept = frozenset({"key", "title", "category", "difficulty"})

    key: str = told("", "Name for programs, unique.", needed=True)
    title: str = told("", "Name for people.", needed=True)
    category: str = told("", "What kind of task it is.", needed=True)
    difficulty: str = told("", "How hard it is.", needed=True, among=DIFFICULTIES)
    instructions: str = told("", "What the agent is told; `{{name}}` is filled from the case in mode `prompt_eval`.")
    definition: dict[str, Any] = told({}, "Free data; `instructions` are copied here unless it has its own.")
    assets: list[Asset] = told([], "Files of this challenge alone.")
    artifact_refs: list[ArtifactRef] = told([], "Version assets that the challenge needs.")


class InterfaceSpec(Block):
    """How a voice agent is reached."""

    kept = frozenset({"transports", "channel_profile"})

    transports: list[str] = told([], f"One at least of {', '.join(TRANSPORTS)}.", needed=True, least=1)
    channel_profile: str = told("", "Profile of the audio channel.", needed=True)
    supports_barge_in: bool = told(False, "Whether the agent may be interrupted.")


class Scenario(Block):
    """The call that a voice agent takes."""

    kept = frozenset({"persona", "language", "max_turns", "max_duration_ms"})

    persona: str = told("", "Who calls.", needed=True)
    language: str = told("", "Language of the call.", needed=True)
    max_turns: Int32 = told(0, "Turns at most.", needed=True, least=1)
    max_duration_ms: int = told(0, "Length at most.", needed=True, least=1)


class Bundle(Block):
    """A challenge pack."""

    pack: Identity = told(Identity(), "What the pack is called.", needed=True)
    version: Version = told(Version(), "This version of it.", needed=True)
    tools: dict[str, Any] | None = told(
        None,
        "Tools of the pack: `custom` is a list of tools composed of primitives. Not in `prompt_eval`, `responses`.",
    )
    challenges: list[Challenge] = told([], "The tasks, one at least.", needed=True, least=1)
    input_sets: list[InputSet] = told([], "The cases, in one set at least.", needed=True, least=1)
    security: Security | None = told(None, "What must not leak; needed when `pack.family` is `security`.")
    modality: str = told("", "`voice` for voice packs, else unset.", among=("", "voice"))
    interface_spec: InterfaceSpec | None = told(None, "How a voice agent is reached.")
    scenario: Scenario | None = told(None, "The call that a voice agent takes.")

    @property
    def is_security_pack(self) -> bool:
        """Whether runs get a security report."""
        return self.pack.family == "security" or self.security is not None
