"""Composed tools at run time: who may call what, how arguments are filled in, what a mock answers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from arena.packs.errors import PackError
from arena.packs.text import is_blank, trim
from arena.packs.values import as_text, canonical_json

_PLACEHOLDER = re.compile(r"\$\{(.*?)\}", re.DOTALL)
_GATES = {
    **dict.fromkeys(("read_file", "write_file", "list_files", "search_files", "search_text"), "file"),
    **dict.fromkeys(("query_json", "query_sql"), "data"),
    **dict.fromkeys(("run_tests", "build"), "build"),
    "http_request": "network",
}
_MISSING = object()


class BadPlaceholder(PackError):
    """A `${…}` that is not closed, is empty or, when asked strictly, is filled by nothing."""


def expressions(text: str) -> list[str]:
    """What stands in each `${…}` of a text."""
    found: list[str] = []
    start = text.find("${")
    while start >= 0:
        end = text.find("}", start)
        if end < 0:
            raise BadPlaceholder(f'contains an unclosed placeholder: "{text[start : start + 80]}"')
        if is_blank(text[start + 2 : end]):
            raise BadPlaceholder("contains an empty placeholder")
        found.append(text[start + 2 : end])
        start = text.find("${", end)
    return found


def leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every text inside a value, with the path to it."""
    if isinstance(value, str):
        yield value, path
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")


def may_use(primitive: str, policy: Mapping[str, Any] | None) -> bool:
    """Whether a tool policy lets agents use a primitive."""
    policy = policy or {}
    if primitive == "submit":
        return True
    if primitive == "exec":
        return policy.get("allow_shell") is True
    kinds = {trim(kind).lower() for kind in policy.get("allowed_tool_kinds") or ()}
    gate = _GATES.get(primitive)
    return gate is not None and (not kinds or gate in kinds)


def fill(value: Any, arguments: Mapping[str, Any], secrets: Mapping[str, str], *, strict: bool = False) -> Any:
    """The arguments of a primitive, with every `${…}` filled from the tool's own arguments and the secrets."""
    if isinstance(value, Mapping):
        return {name: fill(member, arguments, secrets, strict=strict) for name, member in value.items()}
    if isinstance(value, list):
        return [fill(item, arguments, secrets, strict=strict) for item in value]
    return _filled(value, arguments, secrets, strict) if isinstance(value, str) else value


def _filled(text: str, arguments: Mapping[str, Any], secrets: Mapping[str, str], strict: bool) -> Any:
    if text == "${parameters}":
        return dict(arguments)

    def replace(found: re.Match[str]) -> str:
        value = _render(found[1], arguments, secrets)
        if value is None and strict:
            raise BadPlaceholder(f"nothing fills {found[0]}")
        return found[0] if value is None else value

    return _PLACEHOLDER.sub(replace, text)


def _render(expression: str, arguments: Mapping[str, Any], secrets: Mapping[str, str]) -> str | None:
    prefix, colon, rest = expression.partition(":")
    known = colon and prefix in {"json", "query", "path"}
    value = _look_up(rest if known else expression, arguments, secrets)
    if value is _MISSING:
        return None
    match prefix if known else "":
        case "json":
            return canonical_json(value)
        case "query":
            return quote_plus(_plain_text(value))
        case "path":
            return quote(_plain_text(value), safe="")
        case _:
            return _plain_text(value)


def _plain_text(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)


def _look_up(name: str, arguments: Mapping[str, Any], secrets: Mapping[str, str]) -> Any:
    if name == "parameters":
        return dict(arguments)
    if name.startswith("secrets."):
        return secrets.get(name.removeprefix("secrets."), _MISSING)
    return _walk(name, arguments)


def _walk(name: str, value: Any) -> Any:
    for part in name.split("."):
        value = value.get(part, _MISSING) if isinstance(value, Mapping) else _MISSING
    return value


def mock_answer(implementation: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
    """What a mock tool answers; nothing when a lookup has no response for these arguments."""
    match implementation.get("strategy") or _strategy(implementation):
        case "lookup":
            responses = implementation.get("responses") or {}
            value = _walk(implementation.get("lookup_key") or "", arguments)
            fallback = responses.get("*")
            return fallback if value is _MISSING else responses.get(as_text(value), fallback)
        case "echo":
            return fill(implementation.get("template") or {}, arguments, {})
        case _:
            return implementation.get("response")


def _strategy(implementation: Mapping[str, Any]) -> str:
    if "lookup_key" in implementation or "responses" in implementation:
        return "lookup"
    return "echo" if "template" in implementation else "static"
