"""The tools of a case: what an agent is offered, and what comes of a call."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from arena.packs.blocks import Bundle, Case
from arena.packs.composed import expressions, fill, leaves, may_use, mock_answer
from arena.packs.patterns import BadPattern
from arena.packs.rules.tools import DEFAULT_PARAMETERS, MAX_DELEGATION, is_mock
from arena.packs.sandbox.choice import way_of
from arena.packs.sandbox.layout import environment
from arena.packs.sandbox.provider import USUAL, Sandbox, SandboxError
from arena.packs.sandbox.scrub import scrub
from arena.packs.sandbox.snapshot import Shelf, Snapshot
from arena.packs.sandbox.tools.bench import Bench, Done, ToolFailure
from arena.packs.sandbox.tools.files import TROUBLES
from arena.packs.sandbox.tools.primitives import PRIMITIVES, Primitive
from arena.packs.schemas import BadSchema, decode_schema
from arena.packs.text import trim
from arena.packs.values import canonical_json

Event = dict[str, Any]
_NOT_ALLOWED = "tool is not allowed in this runtime"
_NOT_THERE = "tool is not available in this runtime"
_DEPTH = 64
_ERROR = 4000  # characters of a failure that are told


class ToolOutcome(NamedTuple):
    """What came of a call: the result for the agent, the events for the run log, and the work directory after it."""

    result: dict[str, Any]
    events: list[Event]
    snapshot: Snapshot
    submitted: str | None = None

    @property
    def failed(self) -> bool:
        """Whether the agent got an error."""
        return self.result["is_error"] is True


class Composed(NamedTuple):
    """A tool that a pack made."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    implementation: Mapping[str, Any]

    def offer(self) -> dict[str, Any]:
        """The tool as agents are told of it."""
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}


class Toolbox:
    """The tools of one case of a pack."""

    def __init__(self, bundle: Bundle, case: Case) -> None:
        self.policy = bundle.version.tool_policy or {}
        self.way = way_of(bundle)
        self.env = environment(bundle)
        self.case = case
        self._composed = {tool.name: tool for tool in _composed(bundle.tools or {})}

    def offer(self) -> list[dict[str, Any]]:
        """The tools that an agent may call, each with the JSON Schema of its arguments."""
        own = [tool.offer() for tool in self._composed.values() if self._ends_well(tool)]
        return [each.offer() for each in PRIMITIVES.values() if self._permits(each.name)] + own

    @property
    def secret_names(self) -> frozenset[str]:
        """The secrets that the composed tools name."""
        texts = (text for tool in self._composed.values() for text, _ in leaves(tool.implementation.get("args"), ""))
        names = (name.partition("secrets.")[2] for text in texts for name in expressions(text) if "secrets." in name)
        return frozenset(names)

    async def call(
        self,
        sandbox: Sandbox | None,
        snapshot: Snapshot,
        name: str,
        arguments: Mapping[str, Any],
        secrets: Mapping[str, str] | None = None,
    ) -> ToolOutcome:
        """Carry out a call; one that fails leaves the work directory as it was."""
        secrets = secrets or {}
        if _is_deep(arguments):
            return _too_deep(name, snapshot)
        shelf = Shelf(USUAL.room) if sandbox is None else sandbox.shelf
        told: list[Event] = []
        done = Done(None)
        try:
            primitive, filled = await asyncio.to_thread(self._resolve, name, arguments, secrets)
            if isinstance(primitive, Primitive):
                tree = await asyncio.to_thread(shelf.unpack, snapshot)
                done = await _carry_out(primitive, Bench(tree, sandbox, self.env, self.way, self.policy), filled)
            else:
                done = Done(filled)
            if done.tree is not None:
                snapshot = await asyncio.to_thread(shelf.pack, done.tree)
            result, failure = {"content": _text(done.answer), "is_error": False}, None
        except ToolFailure as error:
            result, failure = {"content": str(error)[:_ERROR], "is_error": True}, error.origin
        except (*TROUBLES, BadPattern) as error:
            result, failure = {"content": str(error)[:_ERROR], "is_error": True}, "tool"
        except SandboxError as error:
            result, failure = {"content": f"the sandbox failed: {error}"[:_ERROR], "is_error": True}, "sandbox"
            told.append({"type": "sandbox.command.failed", "payload": {"tool_name": name, "reason": str(error)}})
        result = scrub(result, secrets)
        payload: dict[str, Any] = {"tool_name": name, "arguments": scrub(dict(arguments), secrets), "result": result}
        if failure is not None:
            payload["failure_origin"] = failure
        told.append({"type": f"tool.call.{'completed' if failure is None else 'failed'}", "payload": payload})
        return ToolOutcome(result, scrub(told, secrets), snapshot, done.submitted)

    def _resolve(self, name: str, arguments: Mapping[str, Any], secrets: Mapping[str, str]) -> tuple[Any, Any]:
        """The primitive that a call ends at and its arguments, or the answer of a mock."""
        own = self._composed.get(name)
        if own is None and not self._permits(name):
            raise ToolFailure(f"{_NOT_ALLOWED if name in PRIMITIVES else _NOT_THERE}: {name[:100]}", "policy")
        filled: Mapping[str, Any] = dict(arguments)
        for _hop in range(MAX_DELEGATION + 1):
            if own is None:
                break
            _check(own.parameters, filled, own.name)
            if is_mock(own.implementation):
                return None, _mocked(own, filled)
            # Values are never filled a second time, so what an agent writes cannot name a secret.
            filled = fill(own.implementation.get("args") or {}, filled, secrets)
            name = trim(own.implementation.get("primitive") or "")
            own = self._composed.get(name)
        if name not in PRIMITIVES or own is not None:
            raise ToolFailure(f"{_NOT_THERE}: {name[:100]}", "policy")
        if not self._permits(name):
            raise ToolFailure(f"{_NOT_ALLOWED}: {name}", "policy")
        primitive = PRIMITIVES[name]
        return primitive, _check(primitive.parameters, _fitting(primitive, filled), name)

    def _permits(self, name: str) -> bool:
        if name == "http_request" and self.way is None:
            return False
        return name in PRIMITIVES and may_use(name, self.policy)

    def _ends_well(self, tool: Composed) -> bool:
        """Whether a composed tool is a mock, or ends at a primitive that the policy permits."""
        for _hop in range(MAX_DELEGATION + 1):
            if is_mock(tool.implementation):
                return True
            name = trim(tool.implementation.get("primitive") or "")
            following = self._composed.get(name)
            if following is None:
                return self._permits(name)
            tool = following
        return False


def _composed(tools: Mapping[str, Any]) -> Iterable[Composed]:
    for entry in tools.get("custom") or ():
        name = trim((entry or {}).get("name") or "")
        if name:
            parameters = entry.get("parameters") or DEFAULT_PARAMETERS
            yield Composed(name, str(entry.get("description") or ""), parameters, entry.get("implementation") or {})


def _mocked(tool: Composed, arguments: Mapping[str, Any]) -> Any:
    answer = mock_answer(tool.implementation, arguments)
    if answer is None:
        raise ToolFailure(f"{tool.name} has no answer to these arguments")
    return answer


def _check(schema: Mapping[str, Any], arguments: Mapping[str, Any], name: str) -> dict[str, Any]:
    try:
        problem = decode_schema(schema).resolve().error(dict(arguments))
    except BadSchema as error:
        raise ToolFailure(f"the parameters of {name} are no schema: {error}", "tool") from None
    if problem is not None:
        message, where = problem
        raise ToolFailure(f"arguments of {name}: {message}{f' at {where}' if where else ''}", "arguments")
    return dict(arguments)


def _fitting(primitive: Primitive, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Placeholders become texts; where a primitive wants a number or a flag, the text of one will do."""
    properties = primitive.parameters["properties"]
    return {name: _fit(properties.get(name, {}).get("type"), value) for name, value in arguments.items()}


def _fit(kind: Any, value: Any) -> Any:
    if not isinstance(value, str) or kind not in {"integer", "number", "boolean"}:
        return value
    if kind == "boolean":
        return {"true": True, "false": False}.get(value.lower(), value)
    try:
        return int(value) if kind == "integer" else float(value)
    except ValueError:
        return value


def _is_deep(value: Any) -> bool:
    """Whether a value is nested deeper than any argument has reason to be."""
    level = [value]
    for _ in range(_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()


def _too_deep(name: str, snapshot: Snapshot) -> ToolOutcome:
    result = {"content": f"arguments are nested deeper than {_DEPTH} levels", "is_error": True}
    payload = {"tool_name": name, "arguments": {}, "result": result, "failure_origin": "arguments"}
    return ToolOutcome(result, [{"type": "tool.call.failed", "payload": payload}], snapshot)


async def _carry_out(primitive: Primitive, bench: Bench, arguments: dict[str, Any]) -> Done:
    if primitive.quick is not None:
        return await asyncio.to_thread(primitive.quick, bench, arguments)
    assert primitive.slow is not None
    return await primitive.slow(bench, arguments)


def _text(answer: Any) -> str:
    return answer if isinstance(answer, str) else canonical_json(answer)
