"""Where a request comes from: the peer's address, or what a proxy that we trust says of it."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple

from starlette.types import ASGIApp, Receive, Scope, Send

from arena.settings import UNIX

LOCAL = "local"  # a peer without an address
FORWARDED = "arena.forwarded"  # in a scope whose scheme a proxy has told

Address = IPv4Address | IPv6Address
Headers = Iterable[tuple[bytes, bytes]]


@lru_cache(maxsize=10_000)
def counted(host: str) -> str:
    """What limits count: an IPv4 address, or the /64 of an IPv6 one, since whoever has one of those has all of it."""
    address = parse(host)
    if not isinstance(address, IPv6Address):
        return str(address or host)
    return str(ip_network((int(address) >> 64 << 64, 64)))


def caller(scope: Scope) -> str:
    """Whom to count a request for."""
    client = scope.get("client")
    return counted(client[0]) if client else LOCAL


def parse(text: str) -> Address | None:
    """An address, perhaps with a port, in brackets or in quotes; None if it is something else."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


class Told(NamedTuple):
    """What forwarded headers say: who asked whom, the nearest last, and with which scheme the last one was asked."""

    hops: list[str]
    scheme: str


class TrustedProxies:
    """Puts the client's own address and scheme in place of those of a proxy that we trust.

    Only the header that the settings name is read: a proxy writes one, and lets the client's version of the other pass.
    """

    def __init__(self, app: ASGIApp, trusted: Sequence[str], header: str) -> None:
        self.app = app
        self.networks = [ip_network(network) for network in trusted if network != UNIX]
        self.unix = UNIX in trusted
        self.read = read_forwarded if header == "forwarded" else read_x_forwarded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as if the client had asked us itself."""
        if scope["type"] != "lifespan":
            client = scope.get("client")
            if self.trusts(parse(client[0]) if client else None):
                self._believe(scope, self.read(scope["headers"]))
        await self.app(scope, receive, send)

    def trusts(self, address: Address | None) -> bool:
        """Whether an address is one of our proxies; a unix socket has none."""
        return self.unix if address is None else any(address in network for network in self.networks)

    def _believe(self, scope: Scope, told: Told) -> None:
        for hop in reversed(told.hops):
            address = parse(hop)
            if address is None:
                break
            scope["client"] = (str(address), 0)
            if not self.trusts(address):
                break  # whatever stands before a stranger's address may be made up
        if told.scheme in {"http", "https"}:
            scope["scheme"] = told.scheme.replace("http", "ws") if scope["type"] == "websocket" else told.scheme
            scope[FORWARDED] = True


def _joined(headers: Headers, wanted: bytes) -> list[str]:
    return b",".join(value for name, value in headers if name == wanted).decode("latin-1").split(",")


def read_x_forwarded(headers: Headers) -> Told:
    """What `X-Forwarded-For` and `X-Forwarded-Proto` say."""
    scheme = _joined(headers, b"x-forwarded-proto")[-1]
    return Told(_joined(headers, b"x-forwarded-for"), scheme.strip().lower())


def read_forwarded(headers: Headers) -> Told:
    """What `Forwarded` of RFC 7239 says."""
    elements = [
        {name.strip().lower(): value.strip() for name, _, value in (pair.partition("=") for pair in element.split(";"))}
        for element in _joined(headers, b"forwarded")
    ]
    return Told([element.get("for", "") for element in elements], elements[-1].get("proto", "").strip('"').lower())
