"""What a person types, as what is meant by it. Nothing is sent unless it is said to be: a slip stays at home."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from arena.models import Method

COMMANDS = {
    "/say TEXT": "talk to all players",
    "/tell N TEXT": "talk to player N alone",
    "/help [MOVE]": "the moves and these commands",
    "/rules": "the rules again",
    "/status": "who plays, and whose clock runs",
    "/resign": "give the game up",
    "/quit": "leave without giving up",
}
_PAIR = re.compile(r"""([A-Za-z_]\w*)=("(?:[^"\\]|\\.)*"|\S+)""")


@dataclass(frozen=True)
class Act:
    """A move."""

    type: str
    content: str


@dataclass(frozen=True)
class Say:
    """Something for all players, or for one of them."""

    content: str
    player: int | None = None  # counted from 1


@dataclass(frozen=True)
class Ask:
    """A question that needs no server: help, rules, status or quit."""

    what: str
    about: str = ""


@dataclass(frozen=True)
class Wrong:
    """Nothing that is understood, and why."""

    why: str


Meant: TypeAlias = Act | Say | Ask | Wrong


def understand(line: str, methods: Sequence[Method]) -> Meant | None:
    """What a line means; None if it is empty."""
    word, _, rest = line.strip().partition(" ")
    if not word:
        return None
    if word.startswith("/"):
        return _command(word, rest.strip())
    moves = {method.name: method for method in methods}
    if word not in moves:
        there = ", ".join(moves) or "none"
        return Wrong(f"Nothing was sent. Moves: {there}. To talk: /say TEXT. All there is: /help")
    return Act(word, _content(rest.strip(), moves[word].arguments))


def _command(word: str, rest: str) -> Meant:
    match word:
        case "/say":
            return Say(rest) if rest else Wrong("Say what? /say TEXT")
        case "/tell":
            whom, _, text = rest.partition(" ")
            if not whom.isdecimal() or not text.strip():
                return Wrong("Tell whom, and what? /tell N TEXT, with N as in Player N")
            return Say(text.strip(), int(whom))
        case "/resign":
            return Act("resign", "")
        case "/help" | "/rules" | "/status" | "/quit":
            return Ask(word[1:], rest)
    return Wrong(f"There is no {word}. Nothing was sent. All there is: /help")


def _content(text: str, schema: Mapping[str, Any] | None) -> str:
    """The content of a move; `name=value` pairs become an object where the move takes one."""
    names = (schema or {}).get("properties", {})
    if text.startswith("{") or not names:
        return text
    pairs = _PAIR.findall(text)
    if not pairs or _PAIR.sub("", text).strip() or not {name for name, _ in pairs} <= set(names):
        return text
    return json.dumps({name: _value(value) for name, value in pairs}, ensure_ascii=False)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def help_lines(methods: Sequence[Method], about: str = "") -> Iterator[str]:
    """How to move and what else can be typed, or how to make one move."""
    chosen = [method for method in methods if not about or method.name == about]
    for method in chosen:
        yield f"{method.name} {' '.join(_arguments(method))}".rstrip()
        yield f"    {method.description}"
    if about and chosen:
        return
    for command, what in COMMANDS.items():
        yield f"{command}: {what}"


def _arguments(method: Method) -> Iterator[str]:
    schema: Mapping[str, Any] = method.arguments or {}
    needed = schema.get("required", [])
    fields: Mapping[str, Any] = schema.get("properties", {})
    for name, field in fields.items():
        shown = f"<{_kind(field)}>" if len(fields) == 1 else f"{name}=<{_kind(field)}>"
        yield shown if name in needed else f"[{shown}]"


def _kind(field: Mapping[str, Any]) -> str:
    """What an argument has to be, in a word or two."""
    if "enum" in field:
        return "|".join(map(str, field["enum"]))
    kinds = [_kind(each) for each in field.get("anyOf", ()) if each.get("type") != "null"]
    if kinds:
        return "|".join(kinds)
    least, most = field.get("minimum"), field.get("maximum")
    span = f" {'' if least is None else least}..{'' if most is None else most}" if (least, most) != (None, None) else ""
    return {"string": "text", "integer": "number"}.get(str(field.get("type")), str(field.get("type", "value"))) + span
