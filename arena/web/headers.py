"""Headers that every answer of ours has."""

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
UNUSED = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")

Headers = Sequence[tuple[bytes, bytes]]

ALL: Headers = (
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
DATA: Headers = (*ALL, (b"cache-control", b"no-store"))
PAGE: Headers = (
    *ALL,
    (b"cache-control", b"no-cache"),  # always ask, so that a page never mixes modules of two versions
    (b"content-security-policy", POLICY.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", ", ".join(f"{feature}=()" for feature in UNUSED).encode()),
    (b"x-frame-options", b"DENY"),
)
MCP = ("mcp-method", "mcp-name", "mcp-protocol-version")  # what a client of one era or the other sends
PRIVATE = (b"application/json", b"text/event-stream")  # what may depend on who asks; the rest is the page and its parts


def complete(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer and ours; one that a route has set itself stays."""
    given = dict(headers)
    ours = DATA if given.get(b"content-type", b"").startswith(PRIVATE) else PAGE
    return [*headers, *(header for header in ours if header[0] not in given)]


def cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Lets pages of these origins, and no others, use the app."""
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=("GET", "POST", "DELETE"),
        allow_headers=("authorization", "content-type", "last-event-id", *MCP, "x-request-id"),
        expose_headers=("retry-after", "x-request-id"),
    )
