"""JSON values as text: reading them strictly, and the one canonical way to write them."""

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeGuard

from arena.packs.text import well_formed

_SPACE = re.compile(r"[ \t\n\r]*")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ESCAPED = re.compile("[<>&\u2028\u2029]")
_MAX = sys.float_info.max
MAX_DEPTH = 100  # of values that agents choose
_LOOSE_KEYS = ("value", "content", "text", "answer")


class NotJson(ValueError):
    """A text that is not the JSON that was asked for."""


class Number(float):
    """A JSON number that remembers how it was written."""

    literal: str

    def __new__(cls, literal: str) -> "Number":
        """Read a literal, and keep it."""
        number = super().__new__(cls, literal)
        number.literal = literal
        return number


def read_float(literal: str) -> float:
    """The value of a JSON number; one that no float can hold is refused."""
    value = float(literal)
    if math.isinf(value):
        raise NotJson(f"the number {literal[:40]} is out of range")
    return value


def parse_json(text: str, number: Callable[[str], Any] = read_float, *, closing: bool = False) -> Any:
    """Read exactly one JSON value; `closing` tolerates what follows a stray closing bracket behind it."""
    decoder = json.JSONDecoder(parse_float=number, parse_int=number, parse_constant=_refuse_constant)
    try:
        value, end = decoder.raw_decode(text, _skip(text, 0))
    except RecursionError:
        raise NotJson("the JSON is nested too deeply") from None
    except ValueError as error:
        raise NotJson(str(error)) from None
    rest = text[_skip(text, end) :][:1]
    if rest and not (closing and rest in "]}"):
        raise NotJson("there is more than one JSON value")
    return mend(value) if _ESCAPED_SURROGATE.search(text) else value


def is_json(text: str) -> bool:
    """Whether a text is one JSON value."""
    try:
        parse_json(text)
    except NotJson:
        return False
    return True


def mend(value: Any) -> Any:
    """The same value with no lone surrogate left in its texts."""
    match value:
        case str():
            return well_formed(value)
        case Mapping():
            return {well_formed(key): mend(item) for key, item in value.items()}
        case list() | tuple():
            return [mend(item) for item in value]
        case _:
            return value


def canonical_json(value: Any, *, sort: bool = True) -> str:
    """The one text of a JSON value: sorted keys, no spaces, float64 numbers, HTML-safe."""
    match value:
        case None | bool():
            return json.dumps(value)
        case str():
            return _quoted(value)
        case Number():
            return value.literal
        case int() | float():
            return json_number(as_float(value))
        case Mapping():
            names = sorted(value) if sort else value
            return "{" + ",".join(f"{_quoted(name)}:{canonical_json(value[name], sort=sort)}" for name in names) + "}"
        case Sequence():
            return "[" + ",".join(canonical_json(item, sort=sort) for item in value) + "]"
        case _:
            raise TypeError(f"no JSON value: {type(value).__name__}")


def as_float(value: float) -> float:
    """A number as float64, infinite where none can hold it."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def json_number(value: float) -> str:
    """A number in canonical JSON: shortest digits, plain decimal within [1e-6, 1e21)."""
    if not math.isfinite(value):
        return number_text(value)
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    digits, exponent = _digits(value)
    if not 1e-6 <= abs(value) < 1e21:
        return f"{_sign(value)}{_mantissa(digits)}e{'-' if exponent < 0 else '+'}{abs(exponent)}"
    return _sign(value) + _plain(digits, exponent)


def number_text(value: float) -> str:
    """A number as evidence: shortest digits, exponent form below 1e-4 and from 1e6 on."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return json_number(value)
    digits, exponent = _digits(value)
    if -4 <= exponent < 6:
        return _sign(value) + _plain(digits, exponent)
    return f"{_sign(value)}{_mantissa(digits)}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def loose_string(value: Any) -> str | None:
    """The text that a value holds, looking into usual members and lists of one."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        return None
    found = (loose_string(value[key]) for key in _LOOSE_KEYS if key in value)
    return next((text for text in found if text is not None), None)


def as_text(value: Any) -> str:
    """A JSON value as evidence text."""
    text = loose_string(value)
    if text is not None:
        return text
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return number_text(as_float(value))
    return canonical_json(value)


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a JSON value is a number; true, false and what no float can hold are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MAX


def same_value(one: Any, other: Any) -> bool:
    """Deep equality of JSON values with float64 numbers; 1 is 1.0, true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_value, one, other))
    return bool(one == other)


def shallow(value: Any) -> Any:
    """The same value, without what is nested so deeply that nobody could read it."""
    return _cut(value, MAX_DEPTH) if _is_deep(value) else value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [item for outer in level for item in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _cut(value: Any, depth: int) -> Any:
    if not isinstance(value, Mapping | list | tuple):
        return value
    if not depth:
        return None
    if isinstance(value, Mapping):
        return {key: _cut(item, depth - 1) for key, item in value.items()}
    return [_cut(item, depth - 1) for item in value]


def _quoted(text: str) -> str:
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], json.dumps(well_formed(text), ensure_ascii=False))


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is no JSON")


def _skip(text: str, start: int) -> int:
    space = _SPACE.match(text, start)
    return space.end() if space else start


def _digits(value: float) -> tuple[str, int]:
    """The shortest digits of a number and the exponent of the first of them."""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    shift = len(whole) - 1 if whole != "0" else -1 - (len(part) - len(part.lstrip("0")))
    return digits.rstrip("0"), shift + int(exponent or 0)


def _sign(value: float) -> str:
    return "-" if value < 0 else ""


def _mantissa(digits: str) -> str:
    return digits[0] + ("." + digits[1:] if len(digits) > 1 else "")


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole, part = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return whole + ("." + part if part else "")
