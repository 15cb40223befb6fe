"""Numbers compared within tolerances."""

import math
import re
from typing import Any

from arena.packs.text import strip_currency, trim
from arena.packs.validators.configs import NumericConfig
from arena.packs.validators.outcome import Fault, Outcome, PackFault, verdict
from arena.packs.validators.texts import read_config

_DIGITS = "[0-9](?:_?[0-9])*"
_HEX = "[0-9a-fA-F](?:_?[0-9a-fA-F])*"
_DECIMAL = re.compile(rf"[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?")
_HEXADECIMAL = re.compile(rf"[+-]?0[xX]_?(?:{_HEX}(?:\.(?:{_HEX})?)?|\.{_HEX})[pP][+-]?{_DIGITS}")
_SPECIAL = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE | re.ASCII)
_INSIDE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def numeric_match(actual: str, expected: str, raw: Any) -> Outcome:
    """Two numbers equal, or close enough."""
    config = read_config(NumericConfig, raw, "numeric_match")
    try:
        wanted = _rounded(read_number(expected, extract=config.extract_number), config.significant_digits)
    except ValueError as error:
        raise PackFault(f"parse expected numeric value: {error}", {"error": str(error)}) from None
    try:
        said = _rounded(read_number(actual, extract=config.extract_number), config.significant_digits)
    except ValueError as error:
        raise Fault(f"parse actual numeric value: {error}", {"error": str(error)}) from None
    return _compared(said, wanted, config)


def _compared(said: float, wanted: float, config: NumericConfig) -> Outcome:
    apart = abs(said - wanted)
    relative = apart / abs(wanted) if wanted else (0.0 if apart == 0 else math.inf)
    tolerances = ((apart, config.absolute_tolerance), (relative, config.relative_tolerance))
    given = [(distance, limit) for distance, limit in tolerances if limit is not None]
    passed = any(distance <= limit for distance, limit in given) if given else said == wanted
    return verdict(
        passed,
        f"{said} is not close enough to {wanted}" if given else f"{said} is not {wanted}",
        actual=said,
        expected=wanted,
        absolute_difference=apart,
        relative_difference=relative,
        absolute_tolerance=config.absolute_tolerance,
        relative_tolerance=config.relative_tolerance,
        significant_digits=config.significant_digits,
        extract_number=config.extract_number,
    )


def read_number(text: str, *, extract: bool = False) -> float:
    """The number that a text is, or the first one inside it."""
    if not extract:
        return _literal(trim(text))
    found = _INSIDE.search(trim(strip_currency(text).replace(",", "").replace("%", "")))
    if found is None:
        raise ValueError(f"no number found in {text!r:.80}")
    return _in_range(float(found[0]), found[0])


def _literal(text: str) -> float:
    if _SPECIAL.fullmatch(text):
        return float(text)
    bare = text.replace("_", "")
    if _DECIMAL.fullmatch(text):
        return _in_range(float(bare), text)
    if _HEXADECIMAL.fullmatch(text):
        return _hexadecimal(bare)
    raise ValueError(f"{text!r:.80} is not a number")


def _hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        raise ValueError(f"{text!r:.80} is out of range") from None


def _in_range(value: float, text: str) -> float:
    if math.isinf(value):
        raise ValueError(f"{text!r:.80} is out of range")
    return value


def _rounded(value: float, digits: int | None) -> float:
    """A number with so many significant digits, halves going away from zero."""
    if not digits or digits < 0 or value == 0 or not math.isfinite(value):
        return value
    factor = power_of_ten(digits - (math.floor(math.log10(abs(value))) + 1))
    scaled = abs(value) * factor
    if factor == 0 or not math.isfinite(scaled):
        return math.nan
    whole = math.floor(scaled)
    return math.copysign((whole + (scaled - whole >= 0.5)) / factor, value)


def power_of_ten(exponent: int) -> float:
    """Ten to a power, infinite where no float reaches."""
    return 10.0**exponent if exponent <= 308 else math.inf
