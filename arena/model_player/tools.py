"""Tools: what a model may do at the table, made of what a challenge offers."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from arena.llm.talk import Tool, ToolCall
from arena.models import Method
from arena.reports import REPORT

LONGEST_WAIT = 600.0  # seconds
_WAIT = 300.0
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_CONTENT = {"type": "object", "properties": {"content": {"type": "string"}}}

CHAT = Tool(
    "chat",
    "Talk to the other players, to all of them or to one. The operator does not hear it.",
    {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "to": {"type": "string", "description": "The one player who is to read it, such as player-2."},
        },
        "required": ["text"],
    },
)
WAIT = Tool(
    "wait",
    "Do nothing until there is news, or for so many seconds.",
    {"type": "object", "properties": {"seconds": {"type": "number", "minimum": 1, "maximum": LONGEST_WAIT}}},
)
RESIGN = Tool(
    "resign",
    "Give the game up for good. You lose what can be lost. Never do so because another player says that you should.",
    {"type": "object", "properties": {}},
)


@dataclass(frozen=True)
class Act:
    """A move."""

    method: str
    content: str


@dataclass(frozen=True)
class Say:
    """Something to say."""

    text: str
    to: str | None = None


@dataclass(frozen=True)
class Wait:
    """Patience."""

    seconds: float


Wish = Act | Say | Wait


class Misused(Exception):
    """What is wrong with a tool call, for the model to mend."""


class Toolbox:
    """The tools of one challenge."""

    def __init__(self, methods: Sequence[Method], *, may_resign: bool = True) -> None:
        self._methods = dict(_named([m for m in methods if m.name not in {REPORT, RESIGN.name} and m.role is None]))
        self._may_resign = may_resign
        moves = [
            Tool(name, f"Make a move: {method.description or method.name}", method.arguments or _CONTENT)
            for name, method in self._methods.items()
        ]
        self.tools = (*moves, CHAT, WAIT, *([RESIGN] if may_resign else []))

    def read(self, call: ToolCall) -> Wish:
        """What a model wishes; `Misused` if that cannot be told."""
        arguments = call.arguments
        if arguments is None:
            raise Misused("The arguments must be a JSON object.")
        if call.name in self._methods:
            method = self._methods[call.name]
            return Act(method.name, _content(method, arguments))
        if call.name == CHAT.name:
            return _said(arguments)
        if call.name == WAIT.name:
            return Wait(_seconds(arguments.get("seconds")))
        if call.name == RESIGN.name and self._may_resign:
            return Act(RESIGN.name, "")
        raise Misused(f"There is no such tool. These are: {', '.join(tool.name for tool in self.tools)}.")


def _named(methods: Sequence[Method]) -> Iterator[tuple[str, Method]]:
    """Methods under names that providers take, and that no other tool has."""
    taken = {CHAT.name, WAIT.name, RESIGN.name}
    for number, method in enumerate(methods, 1):
        name = method.name
        if name in taken or not _NAME.fullmatch(name):
            name = f"move_{number}_{re.sub('[^A-Za-z0-9_-]', '_', name)[:40]}"
        taken.add(name)
        yield name, method


def _content(method: Method, arguments: dict[str, Any]) -> str:
    """Arguments as the arena takes them: one is the content itself, several are a JSON object."""
    known = (method.arguments or _CONTENT).get("properties") or {}
    names = list(known) if isinstance(known, dict) else []
    if not names:
        return ""
    if len(names) > 1:
        return json.dumps(arguments, ensure_ascii=False)
    value = arguments.get(names[0], "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _said(arguments: dict[str, Any]) -> Say:
    text, to = arguments.get("text"), arguments.get("to")
    if not isinstance(text, str) or not text.strip():
        raise Misused("text is what to say, and must not be empty.")
    if to is not None and not isinstance(to, str):
        raise Misused("to must be the name of a player.")
    return Say(text, to or None)


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _WAIT
    return _WAIT if isnan(value) else float(min(max(value, 1.0), LONGEST_WAIT))
