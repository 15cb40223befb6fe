"""The reference of packs, written from the models: every block and every field of it."""

import re
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from arena.packs.blocks import Bundle
from arena.packs.findings import model_in
from arena.packs.words import SPEC_WORDS, Words

_HEAD = """# Reference of challenge packs

Written from the models by `arena pack schema --markdown`; edit those, not this page. [Challenge packs](packs.md)
explains how a pack is made. Blocks and fields stand here in the order in which they are read.

Keys that a block does not know are ignored with a warning, except in the evaluation spec, where they are refused. A
field of type *text* takes any single value as it is written.
"""
_NAMES = {str: "text", int: "whole number", float: "number", bool: "true or false", Any: "anything"}


def reference() -> str:
    """The page as Markdown."""
    return "\n".join((_HEAD, *(_section(model) for model in _models(Bundle, set()))))


def _models(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    """A model, and all models in its fields, each once."""
    seen.add(model)
    yield model
    for field in model.model_fields.values():
        inner = model_in(field.annotation)
        if inner is not None and inner not in seen:
            yield from _models(inner, seen)


def _section(model: type[BaseModel]) -> str:
    rows = [_row(model, name) for name in model.model_fields]
    table = ["| Field | Type | Needed | What it is |", "| --- | --- | --- | --- |", *rows]
    return "\n".join((f"## {_title(model)}", "", model.__doc__ or "", "", *table, ""))


def _row(model: type[BaseModel], name: str) -> str:
    field, words = model.model_fields[name], words_of(model, name)
    among = [f"`{choice}`" for choice in words.among if choice]
    choices = f" One of {', '.join(among)}." if among else ""
    return f"| `{name}` | {_type(field.annotation)} | {'yes' if words.needed else ''} | {words.text}{choices} |"


def words_of(model: type[BaseModel], name: str) -> Words:
    """A field in words, from the model itself or from the table of the spec."""
    if model.__name__ in SPEC_WORDS:
        return SPEC_WORDS[model.__name__][name]
    field = model.model_fields[name]
    extra: Any = field.json_schema_extra or {}
    return Words(field.description or "", extra["needed"], extra.get("enum", ()))


def _type(annotation: Any) -> str:
    if annotation in _NAMES:
        return _NAMES[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0])
    if origin in {Union, UnionType}:
        return _type(next(argument for argument in arguments if argument is not NoneType))
    if origin is list:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return "mapping" if arguments[1] is Any else f"mapping of {_type(arguments[1])}"
    return f"[{_title(annotation)}](#{_title(annotation).lower().replace(' ', '-')})"


def _title(model: type[BaseModel]) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", model.__name__).capitalize()
