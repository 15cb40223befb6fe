"""Documents for tests: contracts of a server, and whether something keeps to them."""

from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema_rs

from tests.servers import Served

Document = dict[str, Any]


async def fetch(arena: Served, path: str = "/openapi.json", **headers: str) -> Document:
    """A document as the server gives it out."""
    async with httpx.AsyncClient(base_url=arena.url) as client:
        answer = await client.get(path, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    document: Document = answer.json()
    return document


def complaints(document: Document, schema: Document, data: Any) -> list[str]:
    """What is wrong with data by a schema of a document."""
    whole = jsonschema_rs.Draft202012Validator({**schema, "components": document["components"]})
    return [f"{'/'.join(map(str, error.instance_path))}: {error.message}" for error in whole.iter_errors(data)]


def refs(part: Any) -> Iterator[str]:
    """All references in a document."""
    match part:
        case dict():
            for name, value in part.items():
                if name == "$ref" and isinstance(value, str):
                    yield value
                else:
                    yield from refs(value)
        case list():
            for value in part:
                yield from refs(value)


def resolve(document: Document, ref: str) -> Any:
    """What a reference leads to."""
    found: Any = document
    for name in ref.removeprefix("#/").split("/"):
        found = found[name]
    return found


def operations(document: Document) -> Iterator[tuple[str, str, Document]]:
    """Method, path and description of every route of an OpenAPI document."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation
