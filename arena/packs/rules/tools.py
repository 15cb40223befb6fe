"""Rules for the tool policy and for tools that a pack composes of primitives."""

from collections.abc import Iterator, Mapping
from typing import Any

from arena.packs.composed import BadPlaceholder, expressions, leaves
from arena.packs.errors import FieldError
from arena.packs.schemas import BadSchema, decode_schema
from arena.packs.text import is_blank, trim

Errors = Iterator[FieldError]

KINDS = ("browser", "build", "data", "file", "network", "terminal")
MAX_DELEGATION = 8
DEFAULT_PARAMETERS: Mapping[str, Any] = {"type": "object", "additionalProperties": False}
_PREFIXES = ("json:", "query:", "path:")


def check_tool_policy(policy: Mapping[str, Any], path: str) -> Errors:
    """Of the policy only the kinds of tools are checked."""
    kinds = policy.get("allowed_tool_kinds")
    if kinds is None:
        return
    path = f"{path}.allowed_tool_kinds"
    if not isinstance(kinds, list):
        yield FieldError(path, "must be a list of tool kinds")
        return
    for index, kind in enumerate(kinds):
        if not isinstance(kind, str) or trim(kind).lower() not in KINDS:
            yield FieldError(f"{path}[{index}]", f"must be one of {', '.join(KINDS)}")


def check_tools(tools: Mapping[str, Any], path: str = "tools") -> Errors:
    """Each composed tool, and who delegates to whom."""
    custom = tools.get("custom")
    entries = [{} if entry is None else entry for entry in custom] if isinstance(custom, list) else custom
    if entries is None:
        return
    if not isinstance(entries, list) or not all(_is_tool(entry) for entry in entries):
        yield FieldError(path, "must have custom tools as a list of objects with a name")
        return
    for index, entry in enumerate(entries):
        yield from _check_tool(entry, f"{path}.custom[{index}]")
    yield from _check_delegation(_delegations(entries), path)


def _is_tool(entry: Any) -> bool:
    return isinstance(entry, Mapping) and isinstance(entry.get("name"), str | None)


def _implementation(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """How a tool is implemented, or nothing if that cannot be read."""
    raw = entry.get("implementation", "")
    raw = {} if raw is None else raw
    if not isinstance(raw, Mapping):
        return None
    texts = (raw.get("type"), raw.get("primitive"))
    return raw if all(isinstance(text, str | None) for text in texts) else None


def is_mock(implementation: Mapping[str, Any]) -> bool:
    """Whether a tool only plays its part."""
    return trim(implementation.get("type") or "").lower() == "mock"


def _check_tool(entry: Mapping[str, Any], path: str) -> Errors:
    implementation = _implementation(entry)
    if implementation is None:
        yield FieldError(f"{path}.implementation", "must be an object that names a primitive")
        return
    if is_mock(implementation):
        return
    primitive = trim(implementation.get("primitive") or "")
    if not primitive:
        yield FieldError(f"{path}.implementation.primitive", "is required")
    elif primitive == trim(entry.get("name") or ""):
        yield FieldError(f"{path}.implementation.primitive", "cannot reference the tool's own name")
    parameters = entry.get("parameters", DEFAULT_PARAMETERS)
    problems = list(_parameter_problems(parameters))
    yield from (FieldError(f"{path}.parameters", problem) for problem in problems)
    yield from _check_args(implementation, parameters, f"{path}.implementation.args")


def _parameter_problems(parameters: Any) -> Iterator[str]:
    try:
        decode_schema(parameters).resolve()
    except BadSchema as error:
        yield f"must be a valid JSON Schema: {error}"
    if _properties(parameters) is None:
        yield "must be a JSON object whose properties are one"


def _properties(parameters: Any) -> Mapping[str, Any] | None:
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        return None
    properties = parameters.get("properties")
    return {} if properties is None else properties if isinstance(properties, Mapping) else None


def _check_args(implementation: Mapping[str, Any], parameters: Any, path: str) -> Errors:
    if "args" not in implementation:
        yield FieldError(path, "is required")
        return
    args = implementation["args"]
    if not isinstance(args, Mapping | None):
        yield FieldError(path, "must be an object")
        return
    texts = list(leaves(args or {}, path))
    yield from _first(_syntax_problem(text, at) for text, at in texts)
    names = _properties(parameters)
    if names is not None:
        yield from _first(_reference_problem(text, at, names) for text, at in texts)


def _first(found: Iterator[FieldError | None]) -> Errors:
    problem = next((error for error in found if error is not None), None)
    if problem is not None:
        yield problem


def _syntax_problem(text: str, path: str) -> FieldError | None:
    try:
        expressions(text)
    except BadPlaceholder as error:
        return FieldError(path, str(error))
    return None


def _reference_problem(text: str, path: str, names: Mapping[str, Any]) -> FieldError | None:
    try:
        found = expressions(text)
    except BadPlaceholder as error:
        return FieldError(path, str(error))
    unknown = next((each for each in found if not _is_known(each, names)), None)
    return None if unknown is None else FieldError(path, f'contains unknown placeholder "${{{unknown[:80]}}}"')


def _is_known(expression: str, names: Mapping[str, Any]) -> bool:
    prefix = next((prefix for prefix in _PREFIXES if expression.startswith(prefix)), "")
    name = expression.removeprefix(prefix)
    if name.startswith("secrets."):
        return not is_blank(name.removeprefix("secrets."))
    return name == "parameters" or name.partition(".")[0] in names


def _delegations(entries: list[Mapping[str, Any]]) -> dict[str, str]:
    """Which tool calls which: the edges of the graph of all tools that are no mocks."""
    edges: dict[str, str] = {}
    for entry in entries:
        implementation = _implementation(entry)
        if implementation is None or is_mock(implementation):
            continue
        name, primitive = trim(entry.get("name") or ""), trim(implementation.get("primitive") or "")
        if name and primitive:
            edges[name] = primitive
    return edges


def _check_delegation(edges: Mapping[str, str], path: str) -> Errors:
    for start in edges:
        seen, current = {start}, start
        for _hop in range(MAX_DELEGATION):
            if current not in edges:
                break
            current = edges[current]
            if current in seen:
                yield FieldError(path, f'tool "{start}" has a delegation cycle through "{current}"')
                break
            seen.add(current)
        else:
            if current in edges:
                yield FieldError(path, f'tool "{start}" exceeds maximum delegation depth of {MAX_DELEGATION}')
