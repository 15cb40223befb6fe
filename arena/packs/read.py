"""From YAML text to a bundle: decoded, normalised, and refused with everything that is wrong with it."""

from arena.packs.blocks import Bundle
from arena.packs.errors import DecodeError, FieldError, InvalidPack
from arena.packs.nodes import Node, compose
from arena.packs.normal import normalise_bundle
from arena.packs.rules import validate_bundle
from arena.packs.shapes import decoder_of
from arena.packs.text import is_blank


def parse_bundle(text: str | bytes) -> Bundle:
    """The normalised bundle of a YAML text; raises DecodeError or InvalidPack."""
    bundle = decode_bundle(compose_text(text))
    errors = validate_bundle(bundle)
    if errors:
        raise InvalidPack(errors)
    return bundle


def compose_text(text: str | bytes) -> Node | None:
    """The nodes of a YAML text that is not blank."""
    if isinstance(text, bytes):
        text = _decoded(text)
    if is_blank(text):
        raise InvalidPack([FieldError("bundle", "is required")])
    return compose(text)


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DecodeError("a pack must be UTF-8", raw[: error.start].count(b"\n") + 1) from None


def decode_bundle(root: Node | None) -> Bundle:
    """The normalised bundle of a tree, not validated; no tree at all is an empty bundle."""
    bundle: Bundle = Bundle() if root is None else decoder_of(Bundle)(root)
    return normalise_bundle(bundle)
