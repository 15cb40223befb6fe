"""Run events into evidence: a log of what an agent did, read once and kept small."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from arena.packs.errors import DecodeError
from arena.packs.evidence import (
    CapturedFile,
    CaseEvidence,
    Evidence,
    Execution,
    Listing,
    Model,
    Moment,
    Origin,
    ToolCall,
    Turn,
    Usage,
)
from arena.packs.records import (
    as_mapping,
    count,
    error_message,
    numbers,
    read_execution,
    read_file,
    read_listing,
    read_moment,
    text,
)
from arena.packs.text import is_blank, trim
from arena.packs.values import is_number, loose_string, shallow

_MS = 1_000_000
_TOKENS = ("input_tokens", "output_tokens", "total_tokens")


Order = tuple[int, int, Moment, str]


class _Event(NamedTuple):
    order: Order
    type: str
    at: Moment
    sequence: int
    payload: Mapping[str, Any]

    @property
    def origin(self) -> Origin | None:
        return Origin(self.sequence, self.type) if self.sequence > 0 else None


class _Log:
    """The state of reading a log."""

    def __init__(self, cases: tuple[CaseEvidence, ...]) -> None:
        self.evidence = Evidence(cases=cases)
        self.summary: dict[str, float] = {}
        self.turns: dict[int, Turn] = {}
        self.steps: dict[int, Moment] = {}
        self.counted = False
        self.sums = Usage()
        self.finalized: Origin | None = None
        self.last_call: Origin | None = None


def collect_evidence(events: Iterable[Any], cases: Iterable[CaseEvidence] = ()) -> Evidence:
    """Read a log of run events, in any order; what scoring never looks at is dropped at once."""
    kept = [event for event in map(_read, events) if event is not None]
    kept.sort(key=lambda event: event.order)
    log = _Log(tuple(cases))
    for event in kept:
        _HANDLERS[event.type].handle(log, event)
    return _finish(log)


def _read(raw: Any) -> _Event | None:
    if type_of(raw) not in _HANDLERS:
        return None
    order = order_of(raw)
    _, sequence, at, kind = order
    return _Event(order, kind, at, sequence, _slim(kind, as_mapping(raw.get("payload"))))


def type_of(raw: Any) -> str:
    """What kind of event it is; whatever has no type is none."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("type"), str):
        raise DecodeError("a run event must be an object with a type")
    kind: str = raw["type"]
    return kind


def order_of(raw: Mapping[str, Any]) -> Order:
    """The place of an event in its log: those with a number come first, the others by their time and type."""
    number = raw.get("sequence_number")
    sequence = int(number) if is_number(number) and number > 0 else 0
    return (0 if sequence else 1, sequence, read_moment(raw.get("occurred_at")), raw["type"])


def _slim(kind: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Only the members of a payload that its handler reads, none too deep; of a result only that of a failure."""
    kept = {name: shallow(payload[name]) for name in _HANDLERS[kind].members if name in payload}
    if kind == "tool.call.completed" and as_mapping(kept.get("result")).get("is_error") is not True:
        kept.pop("result", None)
    return kept


def _started(log: _Log, event: _Event) -> None:
    if log.evidence.started_at is None:
        log.evidence.started_at = event.at


def _step(log: _Log, event: _Event) -> None:
    index = count(event.payload, "step_index")
    if index is None:
        return
    if event.type.endswith(".started"):
        log.steps.setdefault(index, event.at)
    elif index in log.steps:
        log.evidence.step_ms[index] = (event.at - log.steps[index]) // _MS


def _output(log: _Log, event: _Event) -> None:
    evidence = log.evidence
    if evidence.first_output_at is None:
        evidence.first_output_at = event.at
    if event.type == "system.output.finalized":
        log.finalized = event.origin
        if evidence.final_output is None:
            evidence.final_output = _final(event.payload, "final_output", "output")


def _final(payload: Mapping[str, Any], *names: str) -> str | None:
    found = (loose_string(payload[name]) for name in names if name in payload)
    return next((text for text in found if text is not None), None)


def _completed(log: _Log, event: _Event) -> None:
    evidence, payload = log.evidence, event.payload
    evidence.terminal_at, evidence.completed = event.at, True
    final = _final(payload, "final_output")
    if final is not None:
        evidence.final_output = final
    log.summary = {
        **log.summary,
        **numbers(as_mapping(payload.get("usage")), _TOKENS),
        **numbers(payload, (*_TOKENS, "tool_call_count")),
    }
    latency = payload.get("latency_ms")
    if is_number(latency) and evidence.started_at is not None:
        evidence.terminal_at = evidence.started_at + int(latency) * _MS


def _failed(log: _Log, event: _Event) -> None:
    log.evidence.terminal_at, log.evidence.completed = event.at, False
    log.evidence.failure_count += 1


def _command_failed(log: _Log, _event: _Event) -> None:
    log.evidence.failure_count += 1


def _tool_call(log: _Log, event: _Event) -> None:
    payload, evidence = event.payload, log.evidence
    result = as_mapping(payload.get("result"))
    failed = event.type == "tool.call.failed" or result.get("is_error") is True
    name = text(payload, "tool_name")
    if is_blank(name):
        evidence.failure_count += event.type == "tool.call.failed"
        return
    evidence.failure_count += failed
    message = error_message(loose_string(result.get("content")) or "")
    origin = text(payload, "failure_origin") or text(result, "failure_origin")
    evidence.tool_calls.append(ToolCall(name, payload.get("arguments"), failed, origin, message, event.origin))


def _model_call(log: _Log, event: _Event) -> None:
    payload = event.payload
    started = event.type == "model.call.started"
    names = ("model", "provider_model_id") if started else ("provider_model_id", "model")
    model: Model = (
        trim(text(payload, "provider_key")),
        next(filter(None, (trim(text(payload, n)) for n in names)), ""),
    )
    if any(model):
        log.evidence.models.add(model)
    if started:
        return
    log.last_call = event.origin or log.last_call
    usage = numbers(as_mapping(payload.get("usage")), _TOKENS)
    if usage:
        log.counted = True
        log.sums += Usage(**usage)
        log.evidence.usage[model] = log.evidence.usage.get(model, Usage()) + Usage(**usage)


def _race(log: _Log, event: _Event) -> None:
    log.evidence.race_context_tokens += numbers(event.payload, ("tokens_added",)).get("tokens_added", 0)


def _file(log: _Log, event: _Event) -> None:
    captured = read_file(text(event.payload, "key"), event.payload, event.origin)
    if captured.key:
        log.evidence.files[captured.key] = captured


def _directory(log: _Log, event: _Event) -> None:
    listing = read_listing(text(event.payload, "key"), event.payload, event.origin)
    if listing.key:
        log.evidence.directories[listing.key] = listing


def _executed(log: _Log, event: _Event) -> None:
    execution = read_execution(text(event.payload, "validator_key"), event.payload, event.origin)
    if execution.validator_key:
        log.evidence.executions[execution.validator_key] = execution


def _turn(log: _Log, event: _Event) -> None:
    payload = event.payload
    index = count(payload, "turn_index")
    if index is None:
        return
    turn = log.turns.get(index, Turn(index))
    changes: dict[str, Any] = {name: said for name in ("phase_id", "actor") if (said := text(payload, name))}
    role = event.type.split(".")[1]
    if role in {"user", "assistant"}:
        changes[role] = text(payload, "content")
    if isinstance(payload.get("mismatch"), bool):
        changes["mismatch"] = payload["mismatch"]
    log.turns[index] = turn._replace(**changes)


class _Handler(NamedTuple):
    """What an event does to the evidence, and the members of its payload that it reads."""

    handle: Callable[[_Log, _Event], None]
    members: tuple[str, ...] = ()


_STEP = _Handler(_step, ("step_index",))
_CALL = _Handler(_tool_call, ("tool_name", "arguments", "result", "failure_origin"))
_MODEL = _Handler(_model_call, ("provider_key", "provider_model_id", "model", "usage"))
_TALK = _Handler(_turn, ("turn_index", "phase_id", "content", "actor", "mismatch"))

_HANDLERS: dict[str, _Handler] = {
    "system.run.started": _Handler(_started),
    "system.step.started": _STEP,
    "system.step.completed": _STEP,
    "model.output.delta": _Handler(_output),
    "system.output.finalized": _Handler(_output, ("final_output", "output")),
    "system.run.completed": _Handler(_completed, ("final_output", "usage", "latency_ms", "tool_call_count", *_TOKENS)),
    "system.run.failed": _Handler(_failed),
    "tool.call.completed": _CALL,
    "tool.call.failed": _CALL,
    "sandbox.command.failed": _Handler(_command_failed),
    "model.call.started": _MODEL,
    "model.call.completed": _MODEL,
    "race.standings.injected": _Handler(_race, ("tokens_added",)),
    "grader.verification.file_captured": _Handler(_file, CapturedFile._fields),
    "grader.verification.directory_listed": _Handler(_directory, Listing._fields),
    "grader.verification.code_executed": _Handler(_executed, Execution._fields),
    "turn.user.message": _TALK,
    "turn.assistant.message": _TALK,
    "turn.completed": _TALK,
}


def _finish(log: _Log) -> Evidence:
    evidence, summary = log.evidence, dict(log.summary)
    if log.counted:
        total = log.sums.total_tokens if log.sums.total_tokens > 0 else log.sums.input_tokens + log.sums.output_tokens
        summary = {**log.sums._asdict(), "total_tokens": total, **summary}
    evidence.input_tokens, evidence.output_tokens, evidence.total_tokens = (summary.get(name) for name in _TOKENS)
    fallback = len(evidence.tool_calls) or None
    evidence.tool_call_count = summary.get("tool_call_count", fallback)
    evidence.turns = [log.turns[index] for index in sorted(log.turns)]
    if log.finalized or log.last_call:
        evidence.final_output_origin = ("final_output", log.finalized) if log.finalized else _call_origin(log)
    evidence.warnings = _warnings(evidence)
    return evidence


def _call_origin(log: _Log) -> tuple[str, Origin] | None:
    return ("model_call", log.last_call) if log.last_call else None


def _warnings(evidence: Evidence) -> list[str]:
    found = []
    if len(evidence.cases) != 1:
        found.append("several cases are in scope" if evidence.cases else "challenge input evidence is unavailable")
    if evidence.final_output is None:
        found.append("final output evidence is unavailable")
    if evidence.terminal_at is None:
        found.append("terminal run evidence is unavailable")
    return found
