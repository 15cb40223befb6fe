"""Who is on this very machine, and may do what a server that nobody else can reach allows."""

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from arena.settings import Settings, is_loopback
from arena.web.addresses import FORWARDED

FORWARDING = ("forwarded", "via", "x-forwarded-for", "x-real-ip")


def is_local(connection: HTTPConnection, settings: Settings) -> bool:
    """Whether this machine asks a server that only it can reach.

    A proxy on this machine asks for others, and so does a page whose name somebody pointed here.
    """
    if connection.client is None or not is_loopback(connection.client.host) or not is_loopback(settings.host):
        return False
    return is_loopback(connection.url.hostname or "") and not any(name in connection.headers for name in FORWARDING)


def is_own_page(connection: HTTPConnection, settings: Settings) -> bool:
    """Whether a browser comes from our own page or one that the settings allow; programs send no origin.

    On a loopback address the page's host has to be one too, or a name that somebody pointed here would pass for ours.
    """
    origin = connection.headers.get("origin")
    if origin is None or origin in settings.origins:
        return True
    try:
        where = urlsplit(origin)
    except ValueError:  # half an IPv6 address, for one
        return False
    if not where.netloc or where.netloc != connection.headers.get("host"):
        return False
    if FORWARDED in connection.scope and where.scheme != connection.scope["scheme"].replace("ws", "http"):
        return False
    return is_loopback(where.hostname or "") or not is_loopback(settings.host)
