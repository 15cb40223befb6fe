"""What people are told about a pack: every error and warning with its line, and a guess at misspelt keys."""

import re
from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import islice, repeat
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel

from arena.packs.blocks import Bundle
from arena.packs.dangling import Dangling, dangling
from arena.packs.errors import DecodeError, FieldError, InvalidPack, shown
from arena.packs.guesses import close, guess
from arena.packs.nodes import Items, Members, Node, Scalar, line_at
from arena.packs.read import compose_text, decode_bundle
from arena.packs.rules import validate_bundle
from arena.packs.spec import EvaluationSpec

_PART = re.compile(r'\["(.*?)"\]|\[(\d+)\]|\[(.*?)\]|\.?([^.\[]+)')
MAX_WARNINGS = 1_000
MAX_GUESSES = 200
_OLDER = {"cases": "items", "case_key": "item_key"}


class Finding(NamedTuple):
    """Something about a field: what, in which line, and what may have been meant."""

    field: str
    message: str
    line: int | None = None
    hint: str | None = None


class Examination(NamedTuple):
    """A pack and all that was found in it; there is no bundle when the text has not the shape of one."""

    bundle: Bundle | None
    errors: list[Finding]
    warnings: list[Finding]
    decode_error: bool = False

    @property
    def ok(self) -> bool:
        """Whether the pack can be used."""
        return not self.errors


def examine(text: str | bytes) -> Examination:
    """Read a pack and tell everything that is to be told about it."""
    try:
        root = compose_text(text)
        bundle = decode_bundle(root)
    except DecodeError as error:
        return Examination(None, [Finding(shown(error.path), error.reason, error.line)], [], decode_error=True)
    except InvalidPack as error:
        return Examination(None, [Finding(each.path, each.message) for each in error.errors], [])
    strays = list(islice(_strays(root, Bundle, ()), MAX_WARNINGS)) if root else []
    meant = {(*stray.path, stray.meant): stray for stray in strays if stray.meant}
    broken = validate_bundle(bundle)
    errors = [_placed(each, root, meant) for each in broken]
    errors[:MAX_GUESSES] = map(_guessed, broken[:MAX_GUESSES], errors, repeat(root), repeat(bundle))
    loose = islice(dangling(bundle), 0 if broken else MAX_WARNINGS)
    return Examination(bundle, errors, [*(stray.finding() for stray in strays), *(_told(each, root) for each in loose)])


def parts_of(field: str) -> list[str | int]:
    """The parts of a field path; what is added in parentheses does not lead anywhere."""
    found = _PART.finditer(field.partition(" (")[0])
    return [int(each[2]) if each[2] else next(part for part in each.groups() if part is not None) for each in found]


class _Stray(NamedTuple):
    """A key that no block knows."""

    path: tuple[str | int, ...]
    key: str
    line: int
    meant: str | None

    def finding(self) -> Finding:
        hint = f"did you mean {self.meant!r}?" if self.meant else None
        return Finding(shown((*self.path, self.key)), "is unknown and ignored", self.line, hint)


def _placed(error: FieldError, root: Node | None, meant: Mapping[tuple[Any, ...], _Stray]) -> Finding:
    parts = parts_of(error.path)
    line = _line(root, parts) if root else None
    near = meant.get(tuple(parts))
    hint = f"did you mean {near.meant!r} where line {near.line} says {near.key!r}?" if near else None
    return Finding(error.path, error.message, line, hint)


def _guessed(error: FieldError, finding: Finding, root: Node | None, bundle: Bundle) -> Finding:
    """The finding with a guess at the word that was meant, unless there is a hint already."""
    word = None if finding.hint or root is None else guess(error, _written(root, parts_of(error.path)), bundle)
    return finding._replace(hint=f"did you mean {word!r}?") if word else finding


def _told(each: Dangling, root: Node | None) -> Finding:
    line = _line(root, parts_of(each.path)) if root else None
    return Finding(each.path, each.message, line, f"did you mean {each.meant!r}?" if each.meant else None)


def _written(root: Node, parts: list[str | int]) -> str:
    """The single value at the end of a path, or where the file goes no further."""
    node = reduce(_child, parts, root)
    return node.text if isinstance(node, Scalar) else ""


def _line(root: Node, parts: list[str | int]) -> int:
    """The line of a field, also where the file uses the older names of keys."""
    node = root
    way: list[str | int] = []
    for part in parts:
        older = _OLDER.get(str(part))
        is_older = isinstance(node, Members) and part not in node.values and older in node.values
        written = older if older and is_older else part
        way.append(written)
        node = _child(node, written)
    return line_at(root, way)


def _child(node: Node, part: str | int) -> Node:
    if isinstance(node, Members) and part in node.values:
        return node.values[str(part)]
    if isinstance(node, Items) and isinstance(part, int) and part < len(node.items):
        return node.items[part]
    return node


def _strays(node: Node, model: type[BaseModel], path: tuple[str | int, ...]) -> Iterator[_Stray]:
    """Keys that the blocks do not know; the spec is stricter and tells its own."""
    if not isinstance(node, Members) or model is EvaluationSpec:
        return
    for name, value in node.values.items():
        field = model.model_fields.get(name)
        if field is None:
            free = [known for known in model.model_fields if known not in node.values]
            yield _Stray(path, name, node.keys[name].line, close(name, free))
        elif (inner := model_in(field.annotation)) is not None:
            items = enumerate(value.items) if isinstance(value, Items) else [(None, value)]
            for index, item in items:
                yield from _strays(item, inner, (*path, name) if index is None else (*path, name, index))


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation is about, by itself, in a list or as an option."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for found in map(model_in, get_args(annotation)) if found is not None), None)
