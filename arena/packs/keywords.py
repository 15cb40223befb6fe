"""The keywords of JSON Schema where the contract differs from the library: RE2, float division, lenient types."""

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.exceptions import ValidationError  # type: ignore[import-untyped]
from jsonschema.validators import extend  # type: ignore[import-untyped]

from arena.packs.patterns import matches
from arena.packs.values import is_number

Errors = Iterator[ValidationError]


def json_type(value: Any) -> str:
    """The JSON name of a value's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int() | float():
            return "number"
        case Mapping():
            return "object"
        case _:
            return "array"


def _type(_validator: Any, names: list[str], value: Any, _schema: Any) -> Errors:
    kind = json_type(value)
    whole = kind == "number" and float(value).is_integer()
    if kind not in names and not (whole and "integer" in names):
        yield ValidationError(f"is {kind}, not {' or '.join(names)}")


def _multiple_of(_validator: Any, divisor: float, value: Any, _schema: Any) -> Errors:
    if is_number(value) and not (divisor and (value / divisor).is_integer()):
        yield ValidationError(f"{value} is not a multiple of {divisor}")


def _pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Errors:
    if isinstance(value, str) and not matches(pattern, value):
        yield ValidationError(f"does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: dict[str, Any], value: Any, _schema: Any) -> Errors:
    if isinstance(value, dict):
        for pattern, schema in patterns.items():
            for name in (name for name in value if matches(pattern, name)):
                yield from validator.descend(value[name], schema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, extra: Any, value: Any, schema: dict[str, Any]) -> Errors:
    if isinstance(value, dict):
        for name in value.keys() - _local(schema, value):
            yield from validator.descend(value[name], extra, path=name)


def _unevaluated_properties(validator: Any, extra: Any, value: Any, schema: dict[str, Any]) -> Errors:
    if isinstance(value, dict):
        siblings = {key: item for key, item in schema.items() if key != "unevaluatedProperties"}
        for name in value.keys() - _evaluated(validator, siblings, value):
            yield from validator.descend(value[name], extra, path=name)


def _local(schema: dict[str, Any], value: dict[str, Any]) -> set[str]:
    """The members that `properties` and `patternProperties` beside a keyword speak about."""
    patterns = schema.get("patternProperties", {})
    named = {name for name in value if any(matches(pattern, name) for pattern in patterns)}
    return named | {name for name in schema.get("properties", {}) if name in value}


def _evaluated(validator: Any, schema: dict[str, Any], value: dict[str, Any]) -> set[str]:
    """The members that a schema, which the value satisfies, has evaluated."""
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(value)
    names = _local(schema, value)
    for reference in (schema[key] for key in ("$ref", "$dynamicRef") if key in schema):
        found = validator._resolver.lookup(reference)
        inner = validator.evolve(schema=found.contents, _resolver=found.resolver)
        names |= _evaluated(inner, found.contents, value)
    for part in _applied(validator, schema, value):
        names |= _evaluated(validator, part, value)
    return names


def _applied(validator: Any, schema: dict[str, Any], value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas inside a schema that apply to the same value and hold for it."""
    for key in ("allOf", "anyOf", "oneOf"):
        yield from (part for part in schema.get(key, ()) if _holds(validator, part, value))
    yield from (part for name, part in schema.get("dependentSchemas", {}).items() if name in value)
    if "if" in schema:
        held = _holds(validator, schema["if"], value)
        yield from (schema[key] for key in (("if", "then") if held else ("else",)) if key in schema)


def _holds(validator: Any, schema: dict[str, Any], value: Any) -> bool:
    return next(iter(validator.descend(value, schema)), None) is None


Validator: Any = extend(
    Draft202012Validator,
    validators={
        "type": _type,
        "multipleOf": _multiple_of,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "unevaluatedProperties": _unevaluated_properties,
    },
)
