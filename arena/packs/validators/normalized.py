"""Normalised match: two texts are brought into one form, step by step, and compared."""

import unicodedata
from collections.abc import Callable, Iterable

from arena.packs.text import (
    collapse,
    fields,
    remove_articles,
    strip_currency,
    strip_formatting,
    strip_punctuation,
    trim,
)


def _sort_words(text: str) -> str:
    return " ".join(sorted(fields(text)))


def _sort_lines(text: str) -> str:
    return "\n".join(sorted(text.replace("\r\n", "\n").split("\n")))


def _compose(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


STEPS: dict[str, Callable[[str], str]] = {
    "trim": trim,
    "lowercase": str.casefold,
    "collapse_whitespace": collapse,
    "strip_punctuation": strip_punctuation,
    "remove_articles": remove_articles,
    "strip_currency": strip_currency,
    "strip_formatting": strip_formatting,
    "normalize_unicode": _compose,
    "sort_words": _sort_words,
    "sort_lines": _sort_lines,
}


def run_pipeline(text: str, steps: Iterable[str]) -> str:
    """The text after every step, in order."""
    for step in steps:
        text = STEPS[step](text)
    return text
