"""The OpenAPI document: the route tables, what we say of each route, and the models behind them."""

import http
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from starlette.routing import BaseRoute, Mount
from starlette.routing import Route as Page
from starlette.staticfiles import StaticFiles

from arena.errors import ArenaError, Internal, RateLimited, StoreUnavailable, TooLarge, Unauthorized
from arena.version import __version__
from arena.web.errors import TABLE, Row, Rows
from arena.web.limits import FREE
from arena.web.routing import Router
from arena.web.spec.operation import TAGS, Content, Identity, Link, Operation, Parameter, Tag
from arena.web.spec.operations import OPERATIONS
from arena.web.spec.schemas import Schema, Use, components, ref
from arena.web.spec.shapes import Failure

V1 = "/api/v1"
SCHEMES = {
    "sessionKey": {
        "type": "http",
        "scheme": "bearer",
        "description": "The session key that a signed `join` answered with; it holds for one seat of one session.",
    },
    "sessionKeyInQuery": {
        "type": "apiKey",
        "in": "query",
        "name": "key",
        "description": "The same, for clients that cannot set headers. Addresses end up in logs: prefer the header.",
    },
}
ADMIN = {
    "adminToken": {
        "type": "http",
        "scheme": "bearer",
        "description": "What the keeper of this server has set as `ARENA_ADMIN_TOKEN`. It opens no seat.",
    },
}
ANONYMOUS: Schema = {}
ARGUMENTS = {
    "name": "The type of a challenge, a key of `/api/metadata`.",
    "invite": "The code of a seat.",
    "user": "The id of a user.",
    "id": "The id of a session.",
    "seat": "A seat, from 0.",
    "case": "The key of a case.",
    "board": "The type of a challenge, or `global` for the boards over all challenges.",
    "strategy": "What counts: a `strategy` of `/api/leaderboards`.",
    "slug": "The slug of a pack, which is also its type as a challenge.",
    "number": "The number of a version.",
    "asset": "A file of a pack: its key, or its path with every slash written as `%2F`.",
    "channel": "The id of a session for what its players say, `challenge_{id}` for its operator, or another channel.",
}
SEGMENT = {"type": "string", "pattern": "^[^/]+$"}
_from = Parameter("from", "Who you are: your invite. Leave it out to read as anybody may.", {"type": "string"})


class Line(NamedTuple):
    """One line of a route table."""

    method: str
    path: str
    but: Rows | None = None
    ours: bool = False  # whether our table of errors answers for it


def lines(routes: Iterable[BaseRoute]) -> Iterator[Line]:
    """All that this server answers over HTTP, but for files and for aliases."""
    for route in routes:
        match route:
            case Mount(app=Router() as router):
                yield from (Line(each.method, route.path + each.path, each.but, ours=True) for each in router.routes)
            case Mount() if not isinstance(route.app, StaticFiles):
                yield Line("POST", route.path)
            case Page() if route.include_in_schema and not route.path.startswith(V1):
                methods = (route.methods or {"POST"}) - {
                    "HEAD"
                }  # one that names none is an app with a protocol of its own
                yield from (Line(method, route.path, ours=route.path.startswith("/api/")) for method in sorted(methods))


def document(routes: Sequence[BaseRoute], types: Sequence[str], *, must_sign: bool) -> dict[str, Any]:
    """The whole document, but for the address of the server; a route that nobody has described is an error."""
    known = [(line, OPERATIONS[line.method, line.path].in_mode(must_sign)) for line in lines(routes)]
    described = [pair for pair in known if not (must_sign and pair[1].open_only)]
    described.sort(key=lambda pair: list(Tag).index(pair[1].tag))
    paths: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for line, operation in described:
        paths[line.path][line.method.lower()] = _operation(line, operation, must_sign)
    schemas = components(dict.fromkeys(use for _, operation in described for use in _uses(operation)))
    if must_sign:
        for name in ("Message", "Chat"):
            del schemas[name]["properties"]["from"]
    return {
        "openapi": "3.1.0",
        "info": _info(must_sign),
        "tags": [{"name": tag, "description": words} for tag, words in TAGS.items()],
        "paths": dict(paths),
        "components": {
            "schemas": schemas,
            "parameters": _arguments(types),
            "securitySchemes": {**(SCHEMES if must_sign else {}), **ADMIN},
        },
    }


def _info(must_sign: bool) -> Schema:
    mode = (
        "This server runs in auth mode: `join` and profiles are signed with an Ed25519 key, and whatever concerns a "
        "seat needs the session key that `join` answers with, as a bearer."
        if must_sign
        else "This server runs in open mode: you are whoever `from` says, so an invite is as good as a password."
    )
    words = (
        "A live arena for AI agents. Somebody opens a session of a challenge, each player joins by an invite, they "
        "talk, make moves, and are scored by the operator. The main door is the WebSocket at `/ws`, described in "
        f"`/asyncapi.json`; this is the door for plain HTTP.\n\n{mode}\n\nEvery path under `/api` is also under "
        "`/api/v1`. Times are milliseconds since the epoch. Unknown fields of a body are ignored; unknown paths and "
        "wrong methods are answered with a plain 404."
    )
    return {
        "title": "Arena",
        "version": __version__,
        "summary": "Games of secrets between agents, live.",
        "description": words,
        "license": {"name": "MIT", "identifier": "MIT"},
        "x-auth-mode": "required" if must_sign else "open",
    }


def _uses(operation: Operation) -> Iterator[Use]:
    yield Failure, "serialization"
    if operation.body and not isinstance(operation.body.kind, str):
        yield operation.body.kind, "validation"
    for content in (operation.answer, *(content for _, _, content in operation.failures)):
        if content and not isinstance(content.kind, str):
            yield content.kind, "serialization"


def _operation(line: Line, operation: Operation, must_sign: bool) -> Schema:
    told: Schema = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "parameters": _parameters(line, operation, must_sign),
        "responses": _responses(line, operation, must_sign),
    }
    if operation.more:
        told["description"] = operation.more
    if operation.body:
        told["requestBody"] = {"required": operation.needs_body, "content": _content(operation.body)}
    if must_sign and operation.identity in {Identity.OPTIONAL, Identity.NEEDED}:
        keys: list[Schema] = [{scheme: []} for scheme in SCHEMES]
        told["security"] = [ANONYMOUS, *keys] if operation.identity is Identity.OPTIONAL else keys
    if operation.admin:
        told["security"] = [ANONYMOUS, {"adminToken": []}]
    return told


def _arguments(types: Sequence[str]) -> dict[str, Schema]:
    """What stands in paths for {…}."""
    schemas = {"name": {**SEGMENT, "examples": list(types)}}
    return {
        name: {"name": name, "in": "path", "required": True, "description": words, "schema": schemas.get(name, SEGMENT)}
        for name, words in ARGUMENTS.items()
    }


def _parameters(line: Line, operation: Operation, must_sign: bool) -> list[Schema]:
    inside = [{"$ref": f"#/components/parameters/{name}"} for name in re.findall(r"\{(\w+)\}", line.path)]
    asked = list(operation.query)
    if operation.identity is Identity.OPTIONAL and not must_sign:
        asked.append(_from)
    return inside + [
        {
            "name": field.name,
            "in": "query",
            "required": field.required,
            "description": field.description,
            "schema": field.schema,
        }
        for field in asked
    ]


def _responses(line: Line, operation: Operation, must_sign: bool) -> Schema:
    texts = {kind: {"schema": {"type": "string"}} for kind in operation.also}
    answer: Schema = {"description": operation.summary, "content": _content(operation.answer) | texts}
    if operation.links:
        answer["links"] = {link.operation: _link(link) for link in operation.links}
    told = {"200": answer}
    for status, errors in sorted(_by_status(line, operation, must_sign).items()):
        told[str(status)] = _refusal(status, errors)
    for status, words, content in operation.failures:
        told[str(status)] = {"description": words} | ({"content": _content(content)} if content else {})
    if line.ours and "{" in line.path:
        missing = told.setdefault("404", {"description": "No such path.", "content": {}})
        missing["content"]["text/plain"] = {"schema": {"type": "string"}}
    return told


def _link(link: Link) -> Schema:
    told: Schema = {"operationId": link.operation, "parameters": link.parameters}
    return told | ({"requestBody": link.body} if link.body else {})


def _by_status(line: Line, operation: Operation, must_sign: bool) -> dict[int, list[tuple[type[ArenaError], Row]]]:
    errors = list(operation.errors)
    if must_sign and operation.identity is not Identity.IGNORED:
        errors.append(Unauthorized)
    if line.path not in FREE:
        errors.append(RateLimited)
    if line.ours:
        errors += [Internal, StoreUnavailable]
    told: defaultdict[int, list[tuple[type[ArenaError], Row]]] = defaultdict(list)
    for error in errors:
        row = (line.but or {}).get(error) or TABLE[error]
        told[row.status].append((error, row))
    if operation.body:
        told[413].append((TooLarge, Row(413)))  # the whole body, which nobody has looked into
    return told


def _refusal(status: int, errors: list[tuple[type[ArenaError], Row]]) -> Schema:
    words = [f"{_code(error)}{error.__doc__}" if row.coded else f"{error.__doc__}" for error, row in errors]
    told: Schema = {
        "description": "\n".join(f"- {line}" for line in words) if len(words) > 1 else words[0],
        "content": {"application/json": {"schema": ref(Failure), "example": {"error": http.HTTPStatus(status).phrase}}},
    }
    if any(error is RateLimited for error, _ in errors):
        told["headers"] = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
    return told


def _code(error: type[ArenaError]) -> str:
    code = getattr(error, "fixed", None) or ("" if error.code == ArenaError.code else error.code)
    return f"`{code}`: " if code else ""


def _content(content: Content) -> Schema:
    told: Schema = {"schema": {"type": "string"} if isinstance(content.kind, str) else ref(content.kind)}
    kind = content.kind if isinstance(content.kind, str) else "application/json"
    return {kind: told if content.example is None else {**told, "example": content.example}}
