from typing import Any

import pytest

from arena.packs.schemas import BadSchema, decode_schema


def is_valid(schema: Any, value: Any) -> bool:
    return decode_schema(schema).resolve().error(value) is None


@pytest.mark.parametrize(
    "schema",
    [
        5,
        "text",
        {"type": 7},
        {"type": None},
        {"type": ["string", 5]},
        {"minimum": "1"},
        {"minLength": 1.5},
        {"minLength": 2**31},
        {"required": "a"},
        {"items": [{}, {}]},
        {"properties": {"a": None}},
        {"allOf": [None]},
        {"enum": {}},
        {"uniqueItems": 1},
        {"dependentRequired": {"a": "b"}},
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        {"$schema": ["http://json-schema.org/draft-07/schema#"]},
        {"title": 5},
        {"$id": "http://["},
        {"properties": {"a": {"$id": "http://["}}},
    ],
)
def test_a_schema_of_the_wrong_shape_is_refused(schema: Any) -> None:
    with pytest.raises(BadSchema):
        decode_schema(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"$ref": "#/properties", "properties": {"a": {}}},
        {"$ref": "#/unknown/a", "unknown": {"a": {}}},
        {"properties": {"a": {"$ref": "#nowhere"}}},
        {"properties": {"a": {"pattern": "(?=x)"}}},
        {"patternProperties": {"(": {}}},
    ],
)
def test_a_reference_that_leads_nowhere_or_a_bad_pattern_is_found_before_any_value(schema: Any) -> None:
    decoded = decode_schema(schema)

    with pytest.raises(BadSchema):
        decoded.resolve()


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}, 1.0, 1.5),
        ({"$ref": "#word", "$defs": {"w": {"$anchor": "word", "type": "string"}}}, "x", 1),
        ({"$defs": {"t": True, "f": False}, "anyOf": [{"$ref": "#/$defs/f"}, {"minimum": 2}]}, 2, 1),
        ({"additionalProperties": False, "patternProperties": {"^x": True}}, {"xy": 1}, {"y": 1}),
        ({"unevaluatedProperties": False, "patternProperties": {"^x": True}}, {"xy": 1}, {"y": 1}),
        (
            {"if": {"required": ["a"]}, "then": {"properties": {"b": True}}, "properties": {"a": True}}
            | {"unevaluatedProperties": False},
            {"a": 1, "b": 1},
            {"b": 1},
        ),
        (
            {"$ref": "#/$defs/p", "$defs": {"p": {"properties": {"a": {}}}}, "unevaluatedProperties": False},
            {"a": 1},
            {"b": 1},
        ),
        (
            {"dependentSchemas": {"a": {"properties": {"b": {}}}}, "unevaluatedProperties": {"type": "null"}},
            {"a": None, "b": 1},
            {"b": 1},
        ),
        ({"prefixItems": [{}], "unevaluatedItems": False}, [1], [1, 2]),
        ({"multipleOf": 0.1}, 0.5, 0.3),
        ({"type": ["integer", "mystery"]}, 3, "x"),
        ({"const": None}, None, 0),
        ({"propertyNames": {"maxLength": 1}}, {"a": 1}, {"ab": 1}),
        ({"dependencies": {"a": ["b"]}, "minProperties": 1}, {"a": 1}, {}),
        ({"minimum": None, "maximum": 3}, 3, 4),
        ({"$dynamicAnchor": "n", "type": "array", "items": {"$dynamicRef": "#n"}}, [[], [[]]], [[], [1]]),
    ],
)
def test_keywords_hold_for_one_value_and_not_for_another(schema: Any, good: Any, bad: Any) -> None:
    assert is_valid(schema, good)
    assert not is_valid(schema, bad)


def test_the_first_error_is_told_with_its_place() -> None:
    schema = decode_schema({"properties": {"a": {"items": {"type": "string"}}}}).resolve()

    assert schema.error({"a": ["x", 5]}) == ("is number, not string", "/a/1")
