"""Guesses: content for moves, made from what an action says it takes and from what a seat has heard. For fuzzing."""

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import orjson

from arena.operator import Action

NUMBERS = (-1, 0, 1, 2, 3, 5, 10, 50, 99, 100, 101, 1000, 2**31, 2**63, 10**30)
WORDS = ("", "0", "none", "unknown", "Ada", "nobody", "yes", "é", "\u202e", "a" * 500, "null", "[]", "{}")
JUNK = ("", " ", "\x00", "{", "[1,", '"', "NaN", "-", "1e999", "𝄞" * 50, "9" * 400, '{"a":1}', "[[[[]]]]", "true")
SEEN = re.compile(r"[0-9]+|[A-Za-z_][A-Za-z0-9_-]*")
LONGEST = 12  # words of a made-up text


def content_for(action: Action, rng: Random, heard: Sequence[str]) -> str:
    """Something that the action may take; now and then something that it cannot. The last words heard are handles."""
    if rng.random() < 0.1:
        return rng.choice(JUNK)
    if action.raw:
        return _text(rng, heard)
    if not action.model.model_fields:
        return ""
    schema = action.model.model_json_schema()
    made = _object(schema, schema.get("$defs", {}), rng, heard)
    if action.alone is not None and rng.random() < 0.7:
        value = made.get(action.alone)
        return value if isinstance(value, str) else _dumped(value)
    return _dumped(made)


def words_in(texts: Sequence[str]) -> list[str]:
    """The numbers and words that some texts hold, newest first."""
    found = dict.fromkeys(word for text in reversed(texts) for word in SEEN.findall(text))
    return list(found)[:200]


def _dumped(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer that is too large for it
        return str(value)


def _text(rng: Random, heard: Sequence[str]) -> str:
    if rng.random() < 0.1:
        return _parts(rng, heard)
    kinds = (heard, [w for w in heard if w[0].isupper()], [w for w in heard if w.isdecimal()], heard[-20:])
    pool = rng.choice(kinds) or WORDS
    words = [
        rng.choice(pool) if rng.random() < 0.93 else rng.choice((*WORDS, *map(str, NUMBERS)))
        for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 4, LONGEST)))
    ]
    return rng.choice((" ", " ", ", ", "")).join(words)


def _parts(rng: Random, heard: Sequence[str]) -> str:
    """A number that was heard in a few parts, as whoever shares something out would name it."""
    known = [int(word) for word in heard if word.isdecimal() and len(word) < 12]
    total = rng.choice(known or [100])
    cuts = sorted(rng.randint(0, total) for _ in range(rng.choice((1, 1, 2, 3))))
    return " ".join(str(high - low) for low, high in zip([0, *cuts], [*cuts, total], strict=True))


def _value(schema: Mapping[str, Any], defs: Mapping[str, Any], rng: Random, heard: Sequence[str]) -> Any:  # noqa: PLR0911
    if rng.random() < 0.03:
        return rng.choice((None, True, -1, "x", [], {}))
    if "$ref" in schema:
        return _value(defs.get(schema["$ref"].rpartition("/")[2], {}), defs, rng, heard)
    if options := schema.get("enum") or ([schema["const"]] if "const" in schema else None):
        return rng.choice(options)
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return _value(rng.choice(options), defs, rng, heard)
    match schema.get("type"):
        case "integer" | "number":
            return _number(schema, rng, heard)
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
        case "array":
            size = rng.randint(schema.get("minItems", 0), min(schema.get("maxItems", 5), 8))
            return [_value(schema.get("items", {}), defs, rng, heard) for _ in range(size)]
        case "object":
            return _object(schema, defs, rng, heard)
        case _:
            return _text(rng, heard)


def _object(schema: Mapping[str, Any], defs: Mapping[str, Any], rng: Random, heard: Sequence[str]) -> dict[str, Any]:
    needed = schema.get("required", ())
    return {
        name: _value(field, defs, rng, heard)
        for name, field in schema.get("properties", {}).items()
        if (name in needed and rng.random() < 0.98) or rng.random() < 0.5
    }


def _number(schema: Mapping[str, Any], rng: Random, heard: Sequence[str]) -> float:
    known = [int(word) for word in heard if word.isdecimal() and len(word) < 12]
    low, high = schema.get("minimum", -1), schema.get("maximum", 100)
    drawn: float = rng.choice([rng.choice(NUMBERS), rng.randint(int(low), int(high)), rng.choice(known or [0]), low])
    return drawn + rng.random() if schema["type"] == "number" and rng.random() < 0.5 and abs(drawn) < 2**53 else drawn
