"""JSON documents checked against a schema, or at one path."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from arena.packs.json_path import BadPath, Found, follow
from arena.packs.schemas import BadSchema, decode_schema
from arena.packs.text import trim
from arena.packs.validators.outcome import Fault, Outcome, PackFault, verdict
from arena.packs.values import NotJson, Number, canonical_json, is_number, parse_json, read_float

_INTEGER = re.compile(r"-?[0-9]+")
COMPARATORS = ("equals", "contains", "greater_than", "less_than", "exists")


def json_schema(actual: str, expected: str, _config: Any) -> Outcome:
    """The actual document is valid under the expected schema."""
    document = read_document(actual)
    try:
        schema = parse_json(expected)
    except NotJson as error:
        raise PackFault(f"parse JSON schema: {error}", {"error": str(error)}) from None
    return apply_schema(document, schema)


def read_document(text: str, number: Any = read_float) -> Any:
    """The JSON document of an agent."""
    try:
        return parse_json(text, number, closing=True)
    except NotJson as error:
        raise Fault(f"parse actual JSON document: {error}", {"error": str(error)}) from None


def apply_schema(document: Any, raw: Any) -> Outcome:
    """Whether a document is valid under a schema; a bad schema is the fault of the pack."""
    try:
        schema = decode_schema(raw).resolve()
    except BadSchema as error:
        raise PackFault(f"parse JSON schema: {error}", {"error": str(error)}) from None
    problem = schema.error(document)
    if problem is None:
        return verdict(True, schema_draft=schema.draft)
    message, where = problem
    return verdict(
        False,
        "json schema validation failed",
        schema_draft=schema.draft,
        validation_error=message,
        validation_target=where,
    )


class _Expectation(NamedTuple):
    path: str
    comparator: str
    value: Any


def json_path_match(actual: str, expected: str, _config: Any) -> Outcome:
    """What stands at a path of the document is what the expectation says."""
    document = read_document(actual, Number)
    wanted = _expectation(expected)
    return match_path(document, wanted.path, wanted.comparator, wanted.value)


def match_path(document: Any, path: str, comparator: str, value: Any) -> Outcome:
    """Compare what stands at a path of a document."""
    try:
        found = follow(path, document)
    except BadPath as error:
        raise PackFault(f"evaluate JSONPath expression: {error}", {"error": str(error), "path": path}) from None
    seen = {"path": path, "comparator": comparator, "expected": plain(value), "actual": plain(found.value)}
    passed, reason = _compare(found, comparator, value)
    return verdict(passed, reason, exists=found.exists, **seen)


def _expectation(text: str) -> _Expectation:
    text = trim(text)
    if text.startswith("$"):
        return _Expectation(text, "exists", None)
    try:
        raw = parse_json(text, Number)
    except NotJson as error:
        raise PackFault(f"parse json_path_match expectation: {error}", {"error": str(error)}) from None
    if not isinstance(raw, Mapping):
        raise PackFault("parse json_path_match expectation: it must be a path or an object")
    path, comparator, value = raw.get("path") or "", raw.get("comparator") or "", raw.get("value")
    if not isinstance(path, str) or not isinstance(comparator, str):
        raise PackFault("parse json_path_match expectation: path and comparator must be texts")
    comparator = trim(comparator) or ("exists" if value is None else "equals")
    if not trim(path):
        raise PackFault("parse json_path_match expectation: path is required")
    if comparator not in COMPARATORS:
        raise PackFault(f"parse json_path_match expectation: unsupported comparator {comparator!r:.60}")
    return _Expectation(trim(path), comparator, value)


def _compare(found: Found, comparator: str, value: Any) -> tuple[bool, str]:
    if not found.exists or comparator == "exists":
        return found.exists, "json path did not resolve to a value"
    if comparator == "equals":
        return equal(found.value, value), "json path value did not equal the expected value"
    if comparator == "contains":
        return _contains(found.value, value), "json path value did not contain the expected value"
    for side, name in ((found.value, "actual"), (value, "expected")):
        if not is_number(side):
            raise PackFault(f"compare JSONPath value: the {name} value is not numeric")
    if comparator == "greater_than":
        return found.value > value, "json path value was not greater than the expected value"
    return found.value < value, "json path value was not less than the expected value"


def _contains(actual: Any, value: Any) -> bool:
    if isinstance(actual, str):
        if not isinstance(value, str):
            raise PackFault("compare JSONPath value: a text can only contain a text")
        return value in actual
    if isinstance(actual, list):
        return any(equal(item, value) for item in actual)
    return canonical_json(value) in canonical_json(actual)


def equal(actual: Any, value: Any) -> bool:
    """Equality at a path: numbers by value on top, by value and kind of literal inside containers."""
    if is_number(actual):
        return is_number(value) and float(actual) == float(value)
    return _same(actual, value)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if is_number(one) and is_number(other):
        return _is_integer(one) == _is_integer(other) and float(one) == float(other)
    return type(one) is type(other) and one == other


def _is_integer(value: Any) -> bool:
    if isinstance(value, Number):
        return _INTEGER.fullmatch(value.literal) is not None
    return isinstance(value, int)


def plain(value: Any) -> Any:
    """A value without the literals of its numbers."""
    if isinstance(value, Number):
        return int(value.literal) if _INTEGER.fullmatch(value.literal) and len(value.literal) < 20 else float(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value
