"""What is known about one run of one agent on one case: everything that scoring looks at."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena.packs.text import is_blank, trim

Moment = int  # nanoseconds since 1970


class Origin(NamedTuple):
    """The event that a piece of evidence comes from."""

    sequence: int
    event_type: str


class CapturedFile(NamedTuple):
    """A file as a post-execution check found it."""

    key: str
    path: str = ""
    exists: bool = False
    content: str = ""
    size: int = 0
    truncated: bool = False
    origin: Origin | None = None


class Entry(NamedTuple):
    """One line of a directory listing."""

    path: str
    size: int = 0
    is_dir: bool = False


class Listing(NamedTuple):
    """A directory as a post-execution check found it."""

    key: str
    path: str = ""
    entries: tuple[Entry, ...] = ()
    origin: Origin | None = None

    def document(self) -> dict[str, Any]:
        """The listing as JSON, in the order in which it is written."""
        entries = [{**entry._asdict(), "is_dir": True} if entry.is_dir else _flat(entry) for entry in self.entries]
        return {"key": self.key, "path": self.path, "entries": entries}


def _flat(entry: Entry) -> dict[str, Any]:
    return {"path": entry.path, "size": entry.size}


class Execution(NamedTuple):
    """How the test command of a validator ended."""

    validator_key: str
    target: str = ""
    target_path: str = ""
    test_command: str = ""
    timeout_ms: int = 0
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False
    execution_error: str = ""
    passed_tests: int | None = None
    failed_tests: int | None = None
    error_tests: int | None = None
    total_tests: int | None = None
    origin: Origin | None = None


class ToolCall(NamedTuple):
    """A tool call of the agent and how it went."""

    tool_name: str
    arguments: Any = None
    failed: bool = False
    failure_origin: str = ""
    error_message: str = ""
    origin: Origin | None = None


class Turn(NamedTuple):
    """One exchange of a conversation."""

    turn_index: int
    phase_id: str = ""
    actor: str = ""
    user: str = ""
    assistant: str = ""
    mismatch: bool = False


class CaseEvidence(NamedTuple):
    """A case as validators see it: parts by key."""

    payload: Any
    inputs: dict[str, Mapping[str, Any]] = {}
    expectations: dict[str, Mapping[str, Any]] = {}
    artifacts: dict[str, dict[str, str]] = {}


class Usage(NamedTuple):
    """The tokens of one model."""

    input_tokens: float = 0
    output_tokens: float = 0
    total_tokens: float = 0

    def __add__(self, other: object) -> "Usage":
        if not isinstance(other, Usage):
            return NotImplemented
        return Usage(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


Model = tuple[str, str]  # provider and model id


@dataclass(slots=True)
class Evidence:
    """Everything that scoring may look at."""

    final_output: str | None = None
    final_output_origin: tuple[str, Origin] | None = None
    cases: tuple[CaseEvidence, ...] = ()
    files: dict[str, CapturedFile] = field(default_factory=dict)
    directories: dict[str, Listing] = field(default_factory=dict)
    executions: dict[str, Execution] = field(default_factory=dict)
    tool_calls: list[ToolCall] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    started_at: Moment | None = None
    first_output_at: Moment | None = None
    terminal_at: Moment | None = None
    completed: bool | None = None
    failure_count: int = 0
    input_tokens: float | None = None
    output_tokens: float | None = None
    total_tokens: float | None = None
    tool_call_count: float | None = None
    race_context_tokens: float = 0
    models: set[Model] = field(default_factory=set)
    usage: dict[Model, Usage] = field(default_factory=dict)
    step_ms: dict[int, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def case(self) -> CaseEvidence | None:
        """The one case in scope, if there is exactly one."""
        return self.cases[0] if len(self.cases) == 1 else None


def case_evidence(document: Mapping[str, Any], version_assets: Iterable[Mapping[str, Any]] = ()) -> CaseEvidence:
    """A stored case with the artifacts that are available to it."""
    inputs, expectations = _by_key(document.get("inputs")), _by_key(document.get("expectations"))
    wanted = {trim(_text(item, "key")) for item in document.get("artifacts") or ()}
    for part in (*inputs.values(), *expectations.values()):
        wanted.add(trim(_text(part, "artifact_key")))
        source = trim(_text(part, "source"))
        if source.startswith("artifact:"):
            wanted.add(trim(source.removeprefix("artifact:")))
    shared = (asset for asset in version_assets if _text(asset, "key") in wanted)
    assets = [*shared, *(document.get("assets") or ())]
    payload = document.get("payload")
    return CaseEvidence(
        {} if payload is None else payload, inputs, expectations, {_text(a, "key"): _asset(a) for a in assets}
    )


def _by_key(parts: Any) -> dict[str, Mapping[str, Any]]:
    return {_text(part, "key"): part for part in parts or () if not is_blank(_text(part, "key"))}


def _asset(asset: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(asset, name) for name in ("key", "kind", "path", "media_type")}


def _text(part: Mapping[str, Any], name: str) -> str:
    value = part.get(name)
    return value if isinstance(value, str) else ""
