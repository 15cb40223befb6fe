"""From models to JSON schemas: one component per model, each field with the words that explain it."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from arena.web.spec.words import WORDS

REFS = "#/components/schemas/{model}"

Schema = dict[str, Any]
Use = tuple[type[BaseModel], JsonSchemaMode]  # a model, and whether we read it or send it


class WireSchema(GenerateJsonSchema):
    """Schemas of what is on the wire: what we send leaves out what is None, and never says null for it."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """A field that may be absent."""
        inner = schema["schema"]
        if self.mode == "serialization" and schema.get("default", ...) is None and inner["type"] == "nullable":
            return self.generate_inner(inner["schema"])
        return super().default_schema(schema)

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        """Whether a field is always there."""
        if self.mode == "serialization":
            return field["schema"].get("default", ...) is not None
        return super().field_is_required(field, total)

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Names speak for themselves."""
        return False


def components(uses: Iterable[Use]) -> dict[str, Schema]:
    """The schemas of these models and of all that they are made of, by name."""
    _, schema = models_json_schema(list(uses), ref_template=REFS, schema_generator=WireSchema)
    found: dict[str, Schema] = schema["$defs"]
    for name, model in found.items():
        for field, shape in model.get("properties", {}).items():
            shape.setdefault("description", WORDS.get(f"{name}.{field}") or WORDS[field])
    return found


def ref(model: type[BaseModel]) -> Schema:
    """Where a model's schema lies."""
    return {"$ref": REFS.format(model=model.__name__)}
