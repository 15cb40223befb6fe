"""The address under which somebody found this server, as far as it can be believed."""

import re
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from arena.settings import Settings, is_loopback

_HOST = re.compile(
    r"(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*)(?::[0-9]{1,5})?"
)
LONGEST = 255  # characters of a host


def own_address(connection: HTTPConnection, settings: Settings) -> str:
    """Scheme and host of a request; a host that cannot be ours is not repeated."""
    host = connection.headers.get("host", "").lower()
    scheme: str = connection.scope["scheme"]
    return f"{scheme}://{host if _is_ours(host, settings) else _bound(connection)}"


def _is_ours(host: str, settings: Settings) -> bool:
    """Whether a host may be ours: a server on a loopback address has no other names than the settings tell."""
    if len(host) > LONGEST or not _HOST.fullmatch(host):
        return False
    if not is_loopback(settings.host) or any(urlsplit(origin).netloc == host for origin in settings.origins):
        return True
    return is_loopback(urlsplit(f"//{host}").hostname or "")


def _bound(connection: HTTPConnection) -> str:
    """Where the request came in."""
    name, port = connection.scope.get("server") or ("localhost", None)
    shown = f"[{name}]" if ":" in name else name
    return f"{shown}:{port}" if port else shown
