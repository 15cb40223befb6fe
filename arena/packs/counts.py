"""Test counts out of what a test command printed: JSON, JUnit XML, or words like `3 passed`."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, cast
from xml.etree import ElementTree as ET

from arena.packs.text import trim
from arena.packs.values import NotJson, is_number, parse_json

_WORDS = re.compile(r"([0-9]+)[\t\n\f\r ]+(passed|failed|errors?)\b", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_NAMES = ("passed", "failed", "errors", "error", "total")


class Counts(NamedTuple):
    """How many tests passed, failed, and broke."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    total: int = 0


def count_tests(stdout: str, stderr: str) -> Counts | None:
    """The counts in an output, by the first reading of it that finds any."""
    text = trim(f"{stdout}\n{stderr}")
    found = (read(text) for read in (_from_json, _from_junit, _from_words))
    return next((counts for counts in found if counts is not None and counts.total > 0), None)


def _from_json(text: str) -> Counts | None:
    try:
        raw = parse_json(text) if text.startswith("{") else None
    except NotJson:
        return None
    if not isinstance(raw, dict):
        return None
    numbers = {name: int(raw[name]) for name in _NAMES if is_number(raw.get(name))}
    return _totalled(
        numbers.get("passed", 0),
        numbers.get("failed", 0),
        numbers.get("errors", numbers.get("error", 0)),
        numbers.get("total", 0),
    )


def _totalled(passed: int, failed: int, errors: int, total: int = 0) -> Counts:
    return Counts(passed, failed, errors, total if total > 0 else passed + failed + errors)


def _from_junit(text: str) -> Counts | None:
    if not text.startswith("<") or "<!DOCTYPE" in text:
        return None
    root = _root(text)
    if root is None or _name(root) not in {"testsuite", "testsuites"}:
        return None
    tests, failures, errors = _suite(root)
    if tests <= 0:
        rows = list(zip(*(_suite(child) for child in root if _name(child) == "testsuite"), strict=True))
        tests, failures, errors = (sum(row) for row in rows) if rows else (0, 0, 0)
    return Counts(max(0, tests - failures - errors), failures, errors, tests)


def _root(text: str) -> "ET.Element | None":
    """The first element of a text; what a command printed behind it does not matter."""
    parser: Any = ET.XMLPullParser(["start", "end"])
    depth = 0
    try:
        parser.feed(text)
        for event, element in parser.read_events():
            depth += 1 if event == "start" else -1
            if not depth:
                return cast("ET.Element", element)
    except (ET.ParseError, ValueError):
        return None
    return None


def _name(element: "ET.Element") -> str:
    return element.tag.rpartition("}")[2]


def _suite(element: "ET.Element") -> Iterator[int]:
    values = (trim(element.get(name, "0")) for name in ("tests", "failures", "errors"))
    return iter([int(value) if _WHOLE.fullmatch(value) else 0 for value in values])


def _from_words(text: str) -> Counts | None:
    counts: Counter[str] = Counter()
    for number, word in _WORDS.findall(text):
        if len(number) <= 15:
            counts[word.lower().removesuffix("s")] += int(number)
    return _totalled(counts["passed"], counts["failed"], counts["error"])
