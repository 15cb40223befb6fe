"""Tells where an answer differs from a vector, by the rules of the vectors: what is exact, near or only informative."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

INFORMATIVE = {"reason", "error", "overall_reason", "validity_reason", "strict_error", "warnings", "source", "message"}
OPTIONAL = {"details", "actual_value", "expected_value"}  # compared when the answer has them
DOCUMENTS = {"manifest", "definition", "document", "tools"}
NEAR = 1e-9


def differences(expected: Any, actual: Any, path: str = "$") -> Iterator[str]:
    """Every place where the answer is not what the vector asks for."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        if expected.get("supported") is False and actual.get("supported") is False:
            return  # of a reference that is none, only that matters
        for key in {**expected, **actual}:
            yield from _member(key, expected.get(key), actual.get(key), f"{path}.{key}")
    elif _is_list(expected) and _is_list(actual):
        yield from _lists(expected, actual, path, differences)
    elif not same(expected, actual):
        yield f"{path}: expected {_short(expected)}, got {_short(actual)}"


def _member(key: str, expected: Any, actual: Any, path: str) -> Iterator[str]:
    if key == "errors" and not _is_number(expected):  # a count of tests has that name too
        yield from _fields(expected, actual, path)
    elif key == "decode_error":
        if bool(expected) != bool(actual):
            yield f"{path}: expected {_short(expected)}, got {_short(actual)}"
    elif key in INFORMATIVE:
        if expected == "" and actual:
            yield f"{path}: expected nothing to report, got {_short(actual)}"
    elif key in DOCUMENTS:
        yield from documents(expected, actual, path)
    elif not (key == "details" or (key in OPTIONAL and expected is None)):
        yield from differences(expected, actual, path)


def documents(expected: Any, actual: Any, path: str) -> Iterator[str]:
    """Differences of two JSON documents, where no member is informative; null and absent are the same."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for key in {**expected, **actual}:
            yield from documents(expected.get(key), actual.get(key), f"{path}.{key}")
    elif _is_list(expected) and _is_list(actual):
        yield from _lists(expected, actual, path, documents)
    elif not same(expected, actual):
        yield f"{path}: expected {_short(expected)}, got {_short(actual)}"


def _lists(expected: Sequence[Any], actual: Sequence[Any], path: str, compare: Any) -> Iterator[str]:
    if len(expected) != len(actual):
        yield f"{path}: expected {len(expected)} entries, got {len(actual)}: {_short(actual)}"
        return
    for index, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
        yield from compare(wanted, got, f"{path}[{index}]")


def _fields(expected: Any, actual: Any, path: str) -> Iterator[str]:
    wanted, got = (Counter(error["field"] for error in errors or ()) for errors in (expected, actual))
    for field in (wanted - got).elements():
        yield f"{path}: no error on {field}"
    for field in (got - wanted).elements():
        yield f"{path}: an error too many on {field}"


def same(expected: Any, actual: Any) -> bool:
    """Whether two scalars agree; numbers by value, and true is not 1."""
    if _is_number(expected) and _is_number(actual):
        return expected == actual or math.isclose(expected, actual, rel_tol=NEAR, abs_tol=NEAR)
    return type(expected) is type(actual) and bool(expected == actual)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:157]}..."
