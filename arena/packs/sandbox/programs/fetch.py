"""Fetch one address through the proxy of the sandbox: a request as JSON on stdin, an answer as JSON on stdout.

Redirects are told and not followed, so that headers meant for one host never go to another.
"""

import http.client
import json
import ssl
import sys
from typing import Any
from urllib.parse import urlsplit

PROXY = ("127.0.0.1", 3128)


def _connection(host: str, port: int | None, secure: bool, seconds: float) -> http.client.HTTPConnection:
    if not secure:
        return http.client.HTTPConnection(*PROXY, timeout=seconds)
    tunnel = http.client.HTTPSConnection(*PROXY, timeout=seconds, context=ssl.create_default_context())
    tunnel.set_tunnel(host, port or 443)
    return tunnel


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Status, headers and as much of the body as is asked for."""
    parts = urlsplit(request["url"])
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return {"error": "the url has to begin with http:// or https://"}
    secure = parts.scheme == "https"
    connection = _connection(parts.hostname, parts.port, secure, request["seconds"])
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    where = path if secure else f"http://{parts.netloc.rpartition('@')[2]}{path}"
    headers = {"User-Agent": "arena", "Accept-Encoding": "identity", **request["headers"]}
    if not secure and not any(name.lower() == "host" for name in headers):
        headers["Host"] = parts.netloc.rpartition("@")[2]
    connection.request(request["method"], where, request["body"].encode(), headers)
    response = connection.getresponse()
    body = response.read(request["bytes"] + 1)
    return {
        "status": response.status,
        "headers": {name.lower(): value for name, value in response.getheaders()[:100]},
        "body": body[: request["bytes"]].decode("utf-8", "replace"),
        "truncated": len(body) > request["bytes"],
    }


def main() -> None:
    """Answer one request."""
    try:
        told = answer(json.load(sys.stdin))
    except (http.client.HTTPException, OSError, ValueError) as error:
        told = {"error": f"{type(error).__name__}: {error}"}
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
