"""Mathematical text, plain or LaTeX, brought into the one notation that the parser reads."""

import re
from collections.abc import Callable

from arena.packs.text import WHITE_SPACE, collapse, trim

_SIGNS = {
    "\r\n": " ",
    "\n": " ",
    "\r": " ",
    ",": "",
    "\u2212": "-",
    "\u2013": "-",
    "\u00d7": "*",
    "\u00b7": "*",
    "\u00f7": "/",
}
_COMMANDS = {"\\left": "", "\\right": "", "\\cdot": "*", "\\times": "*", "\\!": "", "\\,": "", "\\;": "", "\\:": ""}
_ROOT_TOKEN = re.compile(rf"√([^{WHITE_SPACE}+\-*/^(){{}}]*)")


class BadExpression(ValueError):
    """A text that is no expression."""


def prepare(text: str, delimiter: str | None = None) -> str:
    """The expression inside a text: the answer after the last delimiter, without LaTeX."""
    text = trim(text)
    if delimiter and delimiter in text:
        text = trim(text.rpartition(delimiter)[2])
    text = _without_dollars(text)
    for old, new in {**_SIGNS, **_COMMANDS}.items():
        text = text.replace(old, new)
    text = trim(text)
    for name, rewrite in (("\\boxed", _boxed), ("\\frac", _fraction), ("\\sqrt", _root)):
        text = _rewritten(text, name, rewrite)
    text = _radicals(text).replace("{", "(").replace("}", ")")
    text = trim(collapse(text))
    if not text:
        raise BadExpression("expression is empty")
    return text


def _without_dollars(text: str) -> str:
    while True:
        mark = next((mark for mark in ("$$", "$") if len(text) >= 2 * len(mark) and _is_between(text, mark)), None)
        if mark is None:
            return text
        text = trim(text[len(mark) : -len(mark)])


def _is_between(text: str, mark: str) -> bool:
    return text.startswith(mark) and text.endswith(mark)


def _rewritten(text: str, name: str, rewrite: Callable[[str, int], tuple[str, int]]) -> str:
    while (at := text.find(name)) >= 0:
        new, end = rewrite(text, at + len(name))
        text = text[:at] + new + text[end:]
    return text


def _boxed(text: str, at: int) -> tuple[str, int]:
    inside, end = _group(text, at, "\\boxed")
    return f"({inside})", end


def _fraction(text: str, at: int) -> tuple[str, int]:
    above, middle = _group(text, at, "\\frac")
    below, end = _group(text, middle, "\\frac")
    return f"(({above})/({below}))", end


def _root(text: str, at: int) -> tuple[str, int]:
    at = _skip(text, at)
    if text[at : at + 1] != "[":
        inside, end = _group(text, at, "\\sqrt")
        return f"sqrt({inside})", end
    degree, at = _group(text, at, "\\sqrt", "[]")
    inside, end = _group(text, at, "\\sqrt")
    return f"((({inside})^(1/({degree}))))", end


def _group(text: str, at: int, name: str, marks: str = "{}") -> tuple[str, int]:
    """What stands between a pair of braces, and where they end."""
    at = _skip(text, at)
    if text[at : at + 1] != marks[0]:
        raise BadExpression(f"{name} must be followed by {marks}")
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == marks[0]) - (text[end] == marks[1])
        if depth == 0:
            break
    else:
        raise BadExpression(f"the {marks} of {name} do not match")
    inside = text[at + 1 : end]
    if not trim(inside):
        raise BadExpression(f"the {marks} of {name} are empty")
    return inside, end + 1


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITE_SPACE:
        at += 1
    return at


def _radicals(text: str) -> str:
    return _ROOT_TOKEN.sub(lambda found: f"sqrt({found[1]})" if found[1] else "sqrt", text)
