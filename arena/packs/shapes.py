"""From nodes to typed values: a decoder for each annotation of a model, lenient where YAML authors expect it."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from arena.packs.errors import DecodeError
from arena.packs.nodes import PLAIN, TEXT, Items, Members, Node, Scalar
from arena.packs.scalars import NULLS, resolve

Decoder = Callable[[Node], Any]

INT64 = (-(2**63), 2**63 - 1)
INT32 = (-(2**31), 2**31 - 1)
_TRUE = {"y", "Y", "yes", "on"}
_FALSE = {"n", "N", "no", "off"}
_UUID = re.compile(r"[0-9a-fA-F]{8}(-?)[0-9a-fA-F]{4}\1[0-9a-fA-F]{4}\1[0-9a-fA-F]{4}\1[0-9a-fA-F]{12}")


class Marker:
    """Says of an annotated type how it is decoded, where its Python type does not."""

    def __init__(self, decode: Decoder) -> None:
        self.decode = decode


def is_null(node: Node) -> bool:
    """Whether a node stands for nothing."""
    return isinstance(node, Scalar) and (
        node.text in NULLS if node.tag == PLAIN else node.tag == "null" and resolve(node) is None
    )


def decode_text(node: Node) -> str:
    """Any single value as the text that the author wrote; nothing is the empty text."""
    scalar = _scalar(node, "a text")
    if scalar.tag in {PLAIN, TEXT}:
        return "" if is_null(scalar) else scalar.text
    value = resolve(scalar)
    if scalar.tag == "binary":
        return str(value)
    return "" if value is None else scalar.text


def decode_whole(node: Node, limits: tuple[int, int] = INT64) -> int:
    """A whole number; a fraction is cut off, a quoted number is none."""
    value = resolve(_scalar(node, "a whole number"))
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise wrong(node, "a whole number")
    if not limits[0] <= int(value) <= limits[1]:
        raise DecodeError(f"{_shown(node)} is out of range", node.line)
    return int(value)


def decode_float(node: Node) -> float:
    """A finite number."""
    value = resolve(_scalar(node, "a number"))
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise wrong(node, "a number")
    return float(value)


def decode_flag(node: Node) -> bool:
    """True or false, also in the words of YAML 1.1."""
    value = resolve(_scalar(node, "true or false"))
    if isinstance(value, bool) or value is None:
        return bool(value)
    if value in _TRUE or value in _FALSE:
        return value in _TRUE
    raise wrong(node, "true or false")


def decode_uuid(node: Node) -> str:
    """A UUID in its usual form, also when written with braces, as a URN or without dashes."""
    text = decode_text(node)
    bare = text[9:] if len(text) == 45 and text[:9].lower() == "urn:uuid:" else text
    bare = bare[1:-1] if len(bare) == 38 else bare
    if not _UUID.fullmatch(bare):
        raise wrong(node, "a UUID")
    digits = bare.replace("-", "").lower()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def decode_any(node: Node) -> Any:
    """Any JSON value."""
    if isinstance(node, Scalar):
        value = resolve(node)
        if isinstance(value, float) and not math.isfinite(value):
            raise DecodeError(f"{node.text} is no number that JSON knows", node.line)
        return value
    if isinstance(node, Items):
        return [decode_any(item) for item in node.items]
    return {name: decode_any(value) for name, value in node.values.items()}


def decode_map(node: Node) -> dict[str, Any]:
    """A mapping of anything; nothing is an empty one."""
    return {name: decode_any(value) for name, value in _members(node).values.items()}


@cache
def decoder_of(annotation: Any) -> Decoder:
    """The decoder for an annotation."""
    simple: dict[Any, Decoder] = {str: decode_text, int: decode_whole, float: decode_float, bool: decode_flag}
    simple |= {Any: decode_any, dict[str, Any]: decode_map}
    if annotation in simple:
        return simple[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        marker = next((found for found in arguments if isinstance(found, Marker)), None)
        return marker.decode if marker else decoder_of(arguments[0])
    if origin in {Union, UnionType}:
        inner = decoder_of(next(argument for argument in arguments if argument is not NoneType))
        return lambda node: None if is_null(node) else inner(node)
    if origin is list:
        entry = decoder_of(arguments[0])
        return lambda node: [value for _, value in _decoded((at, item, entry) for at, item in enumerate(_items(node)))]
    if origin is dict:
        member = decoder_of(arguments[1])
        return lambda node: dict(_decoded((name, value, member) for name, value in _members(node).values.items()))
    return _model_decoder(annotation)


def _model_decoder(model: type[BaseModel]) -> Decoder:
    """A decoder for a model; keys that it does not know are passed over."""
    fields = {name: _field_decoder(field) for name, field in model.model_fields.items()}

    def decode(node: Node) -> Any:
        values = _members(node).values
        known = ((name, value, fields[name]) for name, value in values.items() if name in fields)
        return model.model_construct(**dict(_decoded(known)))

    return decode


def _decoded(parts: Iterable[tuple[Any, Node, Decoder]]) -> Iterator[tuple[Any, Any]]:
    """Each part decoded; an error learns where it happened."""
    for name, node, decode in parts:
        try:
            yield name, decode(node)
        except DecodeError as error:
            raise error.under(name) from None


def _field_decoder(field: Any) -> Decoder:
    marker = next((found for found in field.metadata if isinstance(found, Marker)), None)
    return marker.decode if marker else decoder_of(field.annotation)


def wrong(node: Node, wanted: str) -> DecodeError:
    """The error for a node that is not what was wanted."""
    return DecodeError(f"{_shown(node)} should be {wanted}", node.line)


def _shown(node: Node) -> str:
    if isinstance(node, Scalar):
        return repr(node.text if len(node.text) <= 40 else node.text[:37] + "...")
    return "this list" if isinstance(node, Items) else "this mapping"


def _scalar(node: Node, wanted: str) -> Scalar:
    if not isinstance(node, Scalar):
        raise wrong(node, wanted)
    return node


def _items(node: Node) -> list[Node]:
    if isinstance(node, Items):
        return node.items
    if is_null(node):
        return []
    raise wrong(node, "a list")


def _members(node: Node) -> Members:
    if isinstance(node, Members):
        return node
    if is_null(node):
        return Members(node.line)
    raise wrong(node, "a mapping")
