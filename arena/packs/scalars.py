"""What an unquoted word in a pack means: YAML 1.2 core values, more ways to write integers, and times."""

import base64
import binascii
import math
import re
from datetime import date
from typing import Any

from arena.packs.errors import DecodeError
from arena.packs.nodes import PLAIN, TEXT, Scalar

NULLS = {"", "~", "null", "Null", "NULL"}
_WORDS: dict[str, Any] = {
    **dict.fromkeys(NULLS),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TIME = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:(?:[Tt](\d\d?):(\d\d?):(\d\d?)(?:[.,](\d+))?(Z|[-+]\d\d:\d\d))"
    r"|(?: (\d\d?):(\d\d?):(\d\d?)(?:[.,](\d+))?))?",
    re.ASCII,
)
_KINDS: dict[str, type | tuple[type, ...]] = {
    "int": int,
    "float": float,
    "bool": bool,
    "null": type(None),
    "timestamp": str,
}
_STARTS = frozenset("0123456789+-.")


def resolve(node: Scalar) -> Any:
    """The JSON value of a scalar: by its tag, its quotes, or how it looks; a time is an RFC 3339 text."""
    if node.tag == PLAIN:
        return _plain(node.text)
    if node.tag == TEXT:
        return node.text
    if node.tag == "binary":
        return _binary(node)
    return _tagged(node)


def _plain(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _STARTS:
        return text
    return _number_or_time(text)


def _number_or_time(text: str) -> Any:
    if text[0] == ".":
        return _float(text, text)
    if (time := _timestamp(text)) is not None:
        return time
    bare = text.replace("_", "")
    if (integer := _integer(bare)) is not None:
        return integer
    return _float(bare, text)


def _integer(text: str) -> int | None:
    """An integer that 64 bits can hold."""
    match = _INTEGER.fullmatch(text)
    if match is None or len(text) > 70:
        return None
    sign, *digits = match.groups()
    base, found = next((base, found) for base, found in zip((16, 2, 8, 10), digits, strict=True) if found)
    value = int(found, base)
    value = -value if sign == "-" else value
    return value if -(2**63) <= value < (2**63 if sign else 2**64) else None


def _float(text: str, otherwise: str) -> float | str:
    if not _FLOAT.fullmatch(text):
        return otherwise
    value = float(text)
    return otherwise if math.isinf(value) else value


def _timestamp(text: str) -> str | None:
    """A date or time as RFC 3339, if the text is one."""
    match = _TIME.fullmatch(text) if text[4:5] == "-" else None
    if match is None:
        return None
    year, month, day = (int(part) for part in match.groups()[:3])
    *clock, fraction, zone = match.groups()[3:8] if match[4] else (*match.groups()[8:12], "Z")
    hour, minute, second = (int(part or 0) for part in clock)
    if not _is_date(year, month, day) or hour > 23 or minute > 59 or second > 59 or not _is_zone(zone):
        return None
    part = (fraction or "")[:9].rstrip("0")
    return (
        f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{'.' if part else ''}{part}{_zone_text(zone)}"
    )


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year or 4, month, day)  # the year 0 is a leap year, and unknown to Python
    except ValueError:
        return False
    return True


def _is_zone(zone: str) -> bool:
    return zone == "Z" or (int(zone[1:3]) <= 24 and int(zone[4:]) < 60)


def _zone_text(zone: str) -> str:
    return "Z" if zone[1:] == "00:00" else zone


def _binary(node: Scalar) -> str:
    try:
        return base64.b64decode(re.sub(r"[\r\n]", "", node.text), validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        raise DecodeError("!!binary needs base64", node.line) from None


def _tagged(node: Scalar) -> Any:
    """A value that its tag says is a number, a boolean, a time or nothing; it must look like one."""
    value = _plain(node.text) if node.text else None
    if node.tag == "float" and type(value) is int:
        return float(value)
    kind = _KINDS.get(node.tag)
    if kind is None or type(value) is not kind or (node.tag == "timestamp" and _timestamp(node.text) is None):
        raise DecodeError(f"{node.text!r} is not a {node.tag if kind is None else '!!' + node.tag}", node.line)
    return value
