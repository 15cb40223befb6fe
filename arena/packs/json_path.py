"""A small JSONPath: names and indexes from the root, no wildcards; read as far as the document goes."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from arena.packs.references import read_integer

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPE = re.compile(
    r"\\(?:(?P<plain>[abfnrtv\\'\"])|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<o>[0-7]{3}))"
)
_PLAIN = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class BadPath(ValueError):
    """A path that cannot be read where evaluation reached it."""


class Found(NamedTuple):
    """What a path leads to; JSON null exists too."""

    exists: bool
    value: Any = None


class _Step(NamedTuple):
    key: str | int
    end: int


def follow(path: str, document: Any) -> Found:
    """Walk a path; a member that is missing ends the walk before the rest is read."""
    if not path.startswith("$"):
        raise BadPath("a path must start with '$'")
    at, value = 1, document
    while at < len(path):
        step = _read(path, at)
        found = _enter(value, step.key)
        if not found.exists:
            return found
        at, value = step.end, found.value
    return Found(True, value)


def _read(path: str, at: int) -> _Step:
    if path[at] == ".":
        name = _NAME.match(path, at + 1)
        if name is None:
            raise BadPath(f"a name is missing at position {at + 1}")
        return _Step(name[0], name.end())
    if path[at] != "[":
        raise BadPath(f"unexpected character at position {at}")
    end = path.find("]", at)
    if end < 0:
        raise BadPath(f"the bracket at position {at} is never closed")
    return _Step(_bracket(path[at + 1 : end], at), end + 1)


def _bracket(content: str, at: int) -> str | int:
    if not content:
        raise BadPath(f"the bracket at position {at} is empty")
    if content[0] in "\"'":
        return _unquote(content, at)
    index = read_integer(content)
    return content if index is None else index


def _unquote(content: str, at: int) -> str:
    quote, body = content[0], content[1:-1]
    bad = BadPath(f"the quotes at position {at} cannot be read")
    if len(content) < 2 or content[-1] != quote or "\n" in body:
        raise bad
    rest = _ESCAPE.sub("", body)
    if "\\" in rest or quote in rest:
        raise bad
    text = _ESCAPE.sub(_unescape, body)
    if quote == "'" and len(text) != 1:
        raise bad
    return text


def _unescape(found: re.Match[str]) -> str:
    if found["plain"]:
        return _PLAIN.get(found["plain"], found["plain"])
    digits = found["x"] or found["u"] or found["U"]
    code = int(digits, 16) if digits else int(found["o"], 8)
    return chr(code) if code < 0x110000 else "\ufffd"


def _enter(value: Any, key: str | int) -> Found:
    if isinstance(key, str) and isinstance(value, Mapping):
        return Found(key in value, value.get(key))
    if isinstance(key, int) and isinstance(value, list) and 0 <= key < len(value):
        return Found(True, value[key])
    return Found(False)
