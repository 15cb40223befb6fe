"""The JSON Schema of a bundle, for editors: it completes and explains keys, the validator has the last word."""

from typing import Any

from arena.packs.blocks import Bundle
from arena.packs.words import SPEC_WORDS

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = ["string", "number", "boolean"]  # any single value serves as a text


def bundle_schema() -> dict[str, Any]:
    """The schema of the whole bundle."""
    raw = Bundle.model_json_schema()
    parts = {name: _part(name, part) for name, part in sorted(raw.pop("$defs").items())}
    parts["Dimension"] = {"anyOf": [{"type": "string"}, parts["Dimension"]]}
    return {"$schema": DRAFT, "title": "Challenge pack", **_part("Bundle", raw), "$defs": parts}


def _part(name: str, raw: dict[str, Any]) -> dict[str, Any]:
    words = SPEC_WORDS.get(name)
    fields = {key: _field(field) for key, field in raw["properties"].items()}
    if words is None:
        needed = [key for key, field in raw["properties"].items() if field.get("needed")]
    else:
        needed = [key for key in fields if words[key].needed]
        fields = {key: _told(field, words[key]) for key, field in fields.items()}
    part = {"type": "object", "description": raw["description"], "properties": fields}
    if needed:
        part["required"] = needed
    return part | ({"additionalProperties": False} if words else {})


def _field(raw: dict[str, Any]) -> dict[str, Any]:
    field = {key: value for key, value in raw.items() if key not in {"title", "default", "needed"}}
    if field.get("type") == "string" and "enum" not in field:
        field["type"] = _TEXT
    return field


def _told(field: dict[str, Any], words: Any) -> dict[str, Any]:
    told = {**field, "description": words.text}
    if told.get("type") == _TEXT:
        told["type"] = "string"
    return told | ({"enum": list(words.among)} if words.among else {})
