"""Regular expressions from packs: RE2, so that no pattern takes more than linear time."""

import re
from functools import lru_cache
from typing import Protocol, cast

import re2  # type: ignore[import-untyped]

from arena.packs.text import well_formed

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 64 * 1024**2  # bytes; large classes repeated often need more than RE2 gives itself
# `\C` matches one byte; everything else that RE2 takes is in the contract's dialect.
_BYTE = re.compile(r"\\(?:Q.*?(?:\\E|\Z)|(?P<byte>C)|.)", re.DOTALL)


class BadPattern(ValueError):
    """A pattern that RE2 does not take."""


class Pattern(Protocol):
    """A compiled pattern."""

    def search(self, text: bytes) -> object | None:
        """Something if the pattern matches anywhere in the text, which is UTF-8."""
        ...


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern of an author; search it with `matches`."""
    if "\\C" in pattern and any(found["byte"] for found in _BYTE.finditer(pattern)):
        raise BadPattern("invalid escape sequence: \\C")
    try:
        return cast(Pattern, re2.compile(well_formed(pattern).encode(), _OPTIONS))
    except re2.error as error:
        raise BadPattern(_message(error)) from None


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern matches anywhere in a text."""
    return compile_pattern(pattern).search(well_formed(text).encode()) is not None


def _message(error: Exception) -> str:
    reason = error.args[0] if error.args else "invalid pattern"
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
