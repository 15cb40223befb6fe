"""HTTP without ceremony: a request read whole, an answer sent whole. What every JSON route needs and no more."""

import gzip
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from arena.auth import Credential

Header = tuple[bytes, bytes]

JSON: Header = (b"content-type", b"application/json")
TEXT: Header = (b"content-type", b"text/plain; charset=utf-8")
FIELDS = 100  # in a query
QUICK = 3  # how hard is tried to make it short, of 9


def query_of(scope: Scope) -> dict[str, str]:
    """The query; of a field that comes twice, the first."""
    text = scope["query_string"]
    if not text:
        return {}
    pairs = parse_qsl(text.decode("latin-1"), keep_blank_values=True)[:FIELDS]
    return dict(reversed(pairs))


def header(headers: Iterable[Header], name: bytes) -> str | None:
    """The first value of a header, which ASGI has in lower case."""
    for each, value in headers:
        if each == name:
            return value.decode("latin-1")
    return None


def bearer_of(headers: Iterable[Header]) -> str | None:
    """The token in the header of a request."""
    scheme, _, bearer = (header(headers, b"authorization") or "").partition(" ")
    return (bearer.strip() or None) if scheme.lower() == "bearer" else None


def credential_of(scope: Scope, query: dict[str, str], body: Any = None) -> Credential:
    """What a request shows of its sender: a key as a bearer or in its query, a handle in its query or body."""
    bearer = bearer_of(scope["headers"])
    handle = query.get("from") or (body.get("from") if isinstance(body, dict) else None)
    return Credential(bearer or query.get("key") or None, handle if isinstance(handle, str) else None, bearer)


async def read_body(receive: Receive) -> bytes:
    """The whole body, which the limit at the door has found small enough."""
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        body: bytes = message.get("body", b"")
        return body
    chunks = []
    while message["type"] == "http.request":
        chunks.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(chunks)
        message = await receive()
    raise ClientDisconnect


async def send_json(send: Send, status: int, data: Any, headers: Iterable[Header] = ()) -> None:
    """Answer with JSON."""
    await send_bytes(send, status, orjson.dumps(data), (JSON, *headers))


async def send_packed(send: Send, scope: Scope, status: int, data: Any, headers: Iterable[Header] = ()) -> None:
    """Answer with JSON, compressed for those who can read that."""
    body, told = orjson.dumps(data), [JSON, (b"vary", b"accept-encoding"), *headers]
    if "gzip" in (header(scope["headers"], b"accept-encoding") or ""):
        body = gzip.compress(body, QUICK, mtime=0)
        told.append((b"content-encoding", b"gzip"))
    await send_bytes(send, status, body, told)


async def send_bytes(send: Send, status: int, body: bytes, headers: Iterable[Header]) -> None:
    """Answer with bytes."""
    sized = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": sized})
    await send({"type": "http.response.body", "body": body})


async def send_not_found(send: Send) -> None:
    """No such page, or not by this method."""
    await send_bytes(send, 404, b"404 Not Found", (TEXT,))
