"""The records inside run events: each read leniently, since a log is written by many hands."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from arena.packs.errors import DecodeError
from arena.packs.evidence import CapturedFile, Entry, Execution, Listing, Moment, Origin
from arena.packs.text import trim
from arena.packs.values import NotJson, is_number, loose_string, parse_json


def as_mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def text(payload: Mapping[str, Any], name: str) -> str:
    """The text that a member holds, if any."""
    return loose_string(payload.get(name)) or ""


def numbers(payload: Mapping[str, Any], names: Iterable[str]) -> dict[str, float]:
    """Those of the named members that are numbers."""
    return {name: payload[name] for name in names if is_number(payload.get(name))}


def count(payload: Mapping[str, Any], name: str) -> int | None:
    """A member as a whole number, if it is a number."""
    value = payload.get(name)
    return int(value) if is_number(value) else None


def read_moment(raw: Any) -> Moment:
    """A time of RFC 3339 in nanoseconds; a missing one is the beginning of time."""
    if raw is None:
        return 0
    if isinstance(raw, datetime):
        return _nanoseconds(raw if raw.tzinfo else raw.replace(tzinfo=UTC), 0)
    try:
        text, fraction = _split_fraction(raw)
        return _nanoseconds(datetime.fromisoformat(text), fraction)
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise DecodeError(f"occurred_at must be a time like 2026-03-01T10:00:00Z, not {raw!r:.60}") from None


def _split_fraction(raw: str) -> tuple[str, int]:
    head, dot, tail = raw.partition(".")
    if not dot:
        return (raw if raw[19:] else raw + "Z"), 0
    digits = tail.rstrip("Zz") if tail[-1:] in "Zz" else tail.partition("+")[0].partition("-")[0]
    return head + (tail[len(digits) :] or "Z"), int(digits[:9].ljust(9, "0"))


def _nanoseconds(moment: datetime, fraction: int) -> Moment:
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1000 + fraction


def error_message(content: str) -> str:
    """The error that the content of a tool result tells of, which may be JSON with an `error`."""
    if not trim(content).startswith("{"):
        return content
    try:
        error = loose_string(parse_json(content).get("error"))
    except NotJson:
        return content
    return content if error is None else error


def read_file(key: str, raw: Mapping[str, Any], origin: Origin | None = None) -> CapturedFile:
    """A capture from its record."""
    content = raw.get("content")
    return CapturedFile(
        key,
        text(raw, "path"),
        raw.get("exists") is True,
        content if isinstance(content, str) else "",
        count(raw, "size") or 0,
        raw.get("truncated") is True,
        origin,
    )


def read_listing(key: str, raw: Mapping[str, Any], origin: Origin | None = None) -> Listing:
    """A directory listing from its record."""
    rows = raw.get("entries")
    entries = (row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, Mapping))
    read = (Entry(text(row, "path"), count(row, "size") or 0, row.get("is_dir") is True) for row in entries)
    return Listing(key, text(raw, "path"), tuple(read), origin)


def read_execution(key: str, raw: Mapping[str, Any], origin: Origin | None = None) -> Execution:
    """An execution from its record."""
    return Execution(
        key,
        target=text(raw, "target"),
        target_path=text(raw, "target_path"),
        test_command=text(raw, "test_command"),
        timeout_ms=count(raw, "timeout_ms") or 0,
        exit_code=count(raw, "exit_code"),
        stdout=text(raw, "stdout"),
        stderr=text(raw, "stderr"),
        timed_out=raw.get("timed_out") is True,
        execution_error=text(raw, "execution_error"),
        passed_tests=count(raw, "passed_tests"),
        failed_tests=count(raw, "failed_tests"),
        error_tests=count(raw, "error_tests"),
        total_tests=count(raw, "total_tests"),
        origin=origin,
    )
