"""Which addresses a sandbox may reach: decided for each address that is really connected to, never for a name."""

import encodings.idna  # noqa: F401 - else looked for at the first name, when our own library is out of reach
import socket
from collections.abc import Iterable, Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import NamedTuple

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_TRANSLATED = ip_network("64:ff9b::/96")  # an IPv4 address behind a translator


class Forbidden(Exception):
    """An address that the sandbox may not reach, and why."""


class Egress(NamedTuple):
    """Networks that may be reached; none at all means every public one."""

    networks: tuple[Network, ...] = ()
    private: bool = False

    @classmethod
    def read(cls, networks: Iterable[str], *, private: bool) -> "Egress":
        """The rules from what a pack lists and the server permits."""
        return cls(tuple(ip_network(each, strict=False) for each in networks), private)

    def check(self, address: Address, *, own: bool = False) -> None:
        """Raise unless the address may be reached; `own` says that it is one of this very machine."""
        address = plain(address)
        within = [each for each in self.networks if address.version == each.version and address in each]
        if self.networks and not within:
            raise Forbidden(f"{address} is not in the network allow-list")
        if is_public(address) and not own:
            return
        if not self.private:
            raise Forbidden(f"{address} is no public address")
        if not any(not each.is_global for each in within):
            raise Forbidden(
                f"{address} is no public address and has to be listed by a network that is not public either"
            )


def plain(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else address)


def is_public(address: Address) -> bool:
    """Whether an address belongs to the internet at large."""
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def is_own(address: Address) -> bool:
    """Whether packets to an address would come back to this machine."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(address), 9))
        except OSError:
            return False
        return ip_address(probe.getsockname()[0].partition("%")[0]) == address


def resolve(host: str, port: int) -> Sequence[Address]:
    """The addresses of a name, or the address itself."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Forbidden(f"{host!r:.100} has no address") from None
    return [ip_address(str(row[4][0]).partition("%")[0]) for row in found]


def connect(egress: Egress, host: str, port: int, seconds: float) -> socket.socket:
    """Connect to a host by an address that was checked; no second look-up can change it."""
    trouble: Exception = Forbidden(f"{host!r:.100} has no address")
    for address in resolve(host, port):
        try:
            egress.check(address, own=is_own(plain(address)))
            return socket.create_connection((str(address), port), timeout=seconds)
        except (Forbidden, OSError) as error:
            trouble = error
    raise trouble
