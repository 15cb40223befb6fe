"""JSON Schemas that authors write: decoded strictly, resolved locally, applied with float64 numbers and RE2."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from arena.packs.keywords import Validator, json_type
from arena.packs.patterns import BadPattern, compile_pattern
from arena.packs.values import is_number

DRAFT = "https://json-schema.org/draft/2020-12/schema"
DRAFTS = frozenset({DRAFT, "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema#"})

_ONE = frozenset(
    [
        "not",
        "if",
        "then",
        "else",
        "items",
        "contains",
        "additionalProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "contentSchema",
    ]
)
_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_NUMBERS = frozenset({"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_COUNTS = frozenset(
    ["minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties", "maxProperties"]
)
_TEXTS = frozenset(
    [
        "$id",
        "$ref",
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$comment",
        "title",
        "description",
        "pattern",
        "format",
        "contentEncoding",
        "contentMediaType",
    ]
)
_FLAGS = frozenset({"uniqueItems", "deprecated", "readOnly", "writeOnly"})
_LISTS = frozenset({"enum", "examples"})
_UNUSED = frozenset(
    [
        "$schema",
        "$vocabulary",
        "$comment",
        "title",
        "description",
        "default",
        "examples",
        "format",
        "deprecated",
        "readOnly",
        "writeOnly",
    ]
)


def nothing() -> dict[str, Any]:
    """A schema that no value satisfies."""
    return {"not": {}}


class BadSchema(ValueError):
    """A schema that cannot be used."""


class Schema(NamedTuple):
    """A decoded schema: its keywords cleaned, and the draft that it names."""

    root: dict[str, Any]
    draft: str

    def resolve(self) -> "Schema":
        """Check that every reference and pattern inside can be used, and return the schema."""
        known = {id(part) for part in _parts(self.root)}
        resource = DRAFT202012.create_resource(self.root)
        _check_links(self.root, self._registry().resolver_with_root(resource), known)
        return self

    def error(self, value: Any) -> tuple[str, str] | None:
        """The first thing wrong with a value and where, or nothing if it is valid."""
        validator = Validator(self.root, registry=self._registry())
        found = next(iter(validator.iter_errors(value)), None)
        if found is None:
            return None
        return str(found.message)[:500], "".join(f"/{part}" for part in found.absolute_path)

    def _registry(self) -> "Registry[Any]":
        """The schema alone, with every name in it found once: else each reference would search all of it again."""
        resource = DRAFT202012.create_resource(self.root)
        registry: Registry[Any] = Registry().with_resource(resource.id() or "", resource)
        return registry.crawl()


def decode_schema(raw: Any) -> Schema:
    """Decode a schema; every keyword must have its type, unknown ones are ignored."""
    draft = (raw.get("$schema") or None) if isinstance(raw, Mapping) else None
    if draft is not None and not (isinstance(draft, str) and draft in DRAFTS):
        raise BadSchema(f"unsupported JSON schema draft {draft!r:.80}")
    return Schema(_decode(raw), draft or DRAFT)


def _decode(raw: Any) -> dict[str, Any]:
    if raw is True:
        return {}
    if raw is None or raw is False:
        return nothing()
    if not isinstance(raw, Mapping):
        raise BadSchema(f"a schema is an object or a boolean, not {json_type(raw)}")
    kept = (key for key in raw if raw[key] is not None or key in {"const", "type"})
    clean = {key: _keyword(key, raw[key]) for key in kept}
    return {key: value for key, value in clean.items() if value is not Ellipsis}


def _keyword(key: str, value: Any) -> Any:
    """The cleaned value of a keyword; an ellipsis for one that says nothing about validity."""
    if key in _ONE:
        return _decode(value)
    if key in _MANY:
        return [_child(item) for item in _typed(key, value, list)]
    if key in _NAMED:
        return {name: _child(item) for name, item in _typed(key, value, Mapping).items()}
    if key == "const":
        return value
    _check_scalar(key, value)
    if key in _UNUSED or not _is_known(key):
        return ...
    return _names(key, value) if key in {"type", "required", "dependentRequired"} else value


def _child(raw: Any) -> dict[str, Any]:
    if raw is None:
        raise BadSchema("a schema in a list or a map must not be null")
    return _decode(raw)


def _is_known(key: str) -> bool:
    return key in _NUMBERS | _COUNTS | _TEXTS | _FLAGS | _LISTS | {"type", "required", "dependentRequired"}


def _check_scalar(key: str, value: Any) -> None:
    if key in _NUMBERS and not is_number(value):
        raise _wrong(key, "a number")
    if key in _COUNTS and not (is_number(value) and float(value).is_integer() and abs(value) < 2**31):
        raise _wrong(key, "an integer")
    if key in _TEXTS | {"$schema"}:
        _typed(key, value, str)
    if key == "$id" and not _is_uri(value):
        raise _wrong(key, "a URI")
    if key in _FLAGS:
        _typed(key, value, bool)
    if key in _LISTS:
        _typed(key, value, list)
    if key == "$vocabulary" and not all(isinstance(flag, bool) for flag in _typed(key, value, Mapping).values()):
        raise _wrong(key, "a map of booleans")


def _is_uri(text: str) -> bool:
    try:
        urlsplit(text)
    except ValueError:
        return False
    return True


def _names(key: str, value: Any) -> Any:
    if key == "type":
        return _texts(key, [value] if isinstance(value, str) else value)
    if key == "required":
        return _texts(key, value)
    return {name: _texts(key, [] if item is None else item) for name, item in _typed(key, value, Mapping).items()}


def _texts(key: str, value: Any) -> list[str]:
    items = ["" if item is None else item for item in _typed(key, value, list)]
    if not all(isinstance(item, str) for item in items):
        raise _wrong(key, "a list of strings")
    return items


def _typed(key: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise _wrong(key, {str: "a string", bool: "a boolean", list: "a list"}.get(kind, "an object"))
    return value


def _wrong(key: str, wanted: str) -> BadSchema:
    return BadSchema(f'invalid value for "{key}": it must be {wanted}')


def _children(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key, value in schema.items():
        if key in _ONE:
            yield value
        elif key in _MANY:
            yield from value
        elif key in _NAMED:
            yield from value.values()


def _parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for child in _children(schema):
        yield from _parts(child)


def _check_links(schema: dict[str, Any], resolver: Any, known: set[int]) -> None:
    inner = resolver.in_subresource(Resource.from_contents(schema, default_specification=DRAFT202012))
    for key in ("$ref", "$dynamicRef"):
        if key in schema and id(_target(schema[key], inner)) not in known:
            raise BadSchema(f"{schema[key]!r:.200} does not lead to a schema")
    _check_patterns(schema)
    for child in _children(schema):
        _check_links(child, inner, known)


def _target(reference: str, resolver: Any) -> Any:
    try:
        return resolver.lookup(reference).contents
    except (Unresolvable, ValueError, LookupError, TypeError):
        raise BadSchema(f"the reference {reference!r:.200} leads nowhere") from None


def _check_patterns(schema: dict[str, Any]) -> None:
    for pattern in (schema.get("pattern", ""), *schema.get("patternProperties", {})):
        try:
            compile_pattern(pattern)
        except BadPattern as error:
            raise BadSchema(f"invalid pattern {pattern!r:.80}: {error}") from None
