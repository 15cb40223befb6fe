"""A running server, asked over HTTP by the command line."""

import json
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, quote, urlencode, urlsplit
from urllib.request import Request, urlopen

from arena.errors import CannotStart

PATIENCE = 30.0  # seconds
LOCAL = "http://localhost:3001"
BYTES = "application/octet-stream"


class Answer(NamedTuple):
    """What a server said."""

    status: int
    content: bytes

    @property
    def ok(self) -> bool:
        """Whether it did what it was asked for."""
        return 200 <= self.status < 300

    @property
    def json(self) -> Any:
        """The content as JSON, or an error in the shape of ours if it is none."""
        try:
            return json.loads(self.content)
        except ValueError:
            return {"error": f"The server answered {self.status} with something that is no JSON."}


def parts_of(url: str, *schemes: str) -> SplitResult:
    """The parts of a server's address; raises `ValueError` in words for whoever wrote it."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{url} is no address of an arena: {error}.") from None
    if parts.scheme not in schemes:
        *others, last = (f"{scheme}://" for scheme in schemes)
        raise ValueError(f"The address of an arena begins with {', '.join(others)} or {last}.")
    if not parts.hostname:
        raise ValueError(f"{url} names no server.")
    return parts


def check_address(url: str) -> str:
    """The address of a server as a person gave it; raises `CannotStart` if there can be none."""
    try:
        parts_of(url, "http", "https")
    except ValueError as error:
        raise CannotStart(str(error)) from None
    return url


def get(url: str, path: Sequence[str], query: Mapping[str, object]) -> tuple[int, Any]:
    """Status and JSON of a route below `/api/v1`."""
    answer = ask("GET", url, path, query)
    return answer.status, answer.json


def ask(
    method: str,
    url: str,
    path: Sequence[str],
    query: Mapping[str, object] | None = None,
    body: bytes | None = None,
    *,
    token: str | None = None,
    patience: float = PATIENCE,
    kind: str = BYTES,
) -> Answer:
    """Ask for a route below `/api/v1`; a token is shown as a bearer."""
    asked = urlencode({name: value for name, value in (query or {}).items() if value is not None})
    where = "api/v1/" + "/".join(quote(part, safe="") for part in path)
    return fetch(url, f"{where}?{asked}" if asked else where, method, body, token=token, patience=patience, kind=kind)


def fetch(
    url: str,
    where: str,
    method: str = "GET",
    body: bytes | None = None,
    *,
    token: str | None = None,
    patience: float = PATIENCE,
    kind: str = BYTES,
) -> Answer:
    """Ask for any address of a server."""
    check_address(url)
    headers = {"Accept": "*/*", "Content-Type": kind}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = Request(f"{url.rstrip('/')}/{where}", body, headers, method=method)  # noqa: S310
    try:
        with urlopen(request, timeout=patience) as answer:  # noqa: S310
            return Answer(answer.status, answer.read())
    except HTTPError as refused:
        return Answer(refused.code, refused.read())
    except (URLError, HTTPException, TimeoutError, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise CannotStart(f"No arena answers at {url}: {reason}") from None
