"""Moves: what agents send, read leniently where plain text makes sense."""

import base64
import binascii
from typing import Any

import orjson

from arena.errors import Refused
from arena.packs.values import canonical_json

MOST_NAME = 1_000  # characters


def read_text(content: str, name: str, *more: str) -> tuple[str, dict[str, Any]]:
    """A text that is sent as it is, or as `{name: …}` with some more members beside it."""
    try:
        found = orjson.loads(content) if content.lstrip().startswith("{") else None
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict) or name not in found or not found.keys() <= {name, *more}:
        return content, {}
    beside = {key: value for key, value in found.items() if key != name}
    if not all(isinstance(value, str) for value in beside.values()):
        raise Refused("VALIDATION", f"{' and '.join(more)} must be text.")
    value = found[name]
    return value if isinstance(value, str) else canonical_json(value), beside


def read_file(path: str, content: str | None, encoded: str | None) -> bytes:
    """The bytes of a file that is sent as text, or in base64."""
    if not path or len(path) > MOST_NAME or "\x00" in path:
        raise Refused("VALIDATION", "A file has a path.")
    if (content is None) == (encoded is None):
        raise Refused("VALIDATION", "A file has content, or base64.")
    if content is not None:
        return content.encode()
    try:
        return base64.b64decode(encoded or "", validate=True)
    except (binascii.Error, ValueError):
        raise Refused("VALIDATION", "This is not base64.") from None
