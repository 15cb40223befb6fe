"""Case templates: `{{name}}` in a text is filled from the payload and the inputs of a case."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from arena.packs.blocks import CaseInput
from arena.packs.errors import PackError
from arena.packs.text import trim
from arena.packs.values import canonical_json

_PLACEHOLDER = re.compile(r"\{\{[\t\n\f\r ]*([A-Za-z_][A-Za-z0-9_.]*)[\t\n\f\r ]*\}\}")
_MISSING = object()


class BadPlaceholder(PackError):
    """A placeholder that nothing fills, or that has no valid path."""


def context_of(payload: Mapping[str, Any], inputs: Iterable[CaseInput] = ()) -> dict[str, Any]:
    """What placeholders can name: the members of the payload, and over them the inputs that have a value."""
    if is_document(payload):
        payload = payload.get("payload") or {}
    return {**payload, **{trim(each.key): each.value for each in inputs if each.value is not None}}


def is_document(stored: Mapping[str, Any]) -> bool:
    """Whether stored JSON is a case document, and not the bare payload of an older case."""
    version = stored.get("schema_version")
    return isinstance(version, int | float) and not isinstance(version, bool) and version != 0


def placeholders(template: str) -> list[str]:
    """The names in a template, each once, in order."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(template)))


def unresolved(names: Iterable[str], context: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with each name that the context cannot fill."""
    found = {}
    for name in names:
        try:
            look_up(name, context)
        except BadPlaceholder as error:
            found[name] = f"{error} for case template context"
    return found


def render(template: str, context: Mapping[str, Any], *, strict: bool = False) -> str:
    """The template with its placeholders filled; those that cannot be are an error, or left as they are."""

    def fill(found: re.Match[str]) -> str:
        try:
            return _text(look_up(found[1], context))
        except BadPlaceholder:
            if strict:
                raise
            return found[0]

    return _PLACEHOLDER.sub(fill, template)


def look_up(name: str, context: Mapping[str, Any]) -> Any:
    """The value that a dotted name leads to, through objects only."""
    parts = name.split(".")
    if not all(parts):
        raise BadPlaceholder(f'invalid placeholder path "{name}"')
    value: Any = context
    for part in parts:
        value = value.get(part, _MISSING) if isinstance(value, Mapping) else _MISSING
    if value is _MISSING:
        raise BadPlaceholder(f"unresolved placeholder {{{{{name}}}}}")
    return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return canonical_json(value)
