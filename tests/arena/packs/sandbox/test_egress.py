from ipaddress import ip_address

import pytest

from arena.packs.sandbox.keeper.egress import Egress, Forbidden, is_own, plain
from arena.packs.sandbox.keeper.proxy import BadRequest, target

ANYWHERE = Egress.read((), private=False)
HIDDEN = [
    *("127.0.0.1", "127.8.9.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    *("100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "192.0.2.1"),
]


@pytest.mark.parametrize("address", HIDDEN)
def test_addresses_that_are_not_public_are_out_of_reach(address: str) -> None:
    with pytest.raises(Forbidden, match="no public address"):
        ANYWHERE.check(ip_address(address))
    with pytest.raises(Forbidden):
        Egress.read(["0.0.0.0/0", "::/0"], private=True).check(ip_address(address))


def test_public_addresses_are_in_reach_unless_a_list_leaves_them_out() -> None:
    ANYWHERE.check(ip_address("8.8.8.8"))
    ANYWHERE.check(ip_address("2001:4860:4860::8888"))
    Egress.read(["8.8.8.0/24"], private=False).check(ip_address("::ffff:8.8.8.8"))

    with pytest.raises(Forbidden, match="allow-list"):
        Egress.read(["8.8.8.0/24"], private=False).check(ip_address("8.8.9.1"))


def test_a_private_address_has_to_be_listed_by_a_private_network_and_permitted() -> None:
    Egress.read(["10.0.0.0/8"], private=True).check(ip_address("10.1.2.3"))

    with pytest.raises(Forbidden):
        Egress.read(["10.0.0.0/8"], private=False).check(ip_address("10.1.2.3"))
    with pytest.raises(Forbidden):
        Egress.read(["10.0.0.0/8"], private=True).check(ip_address("127.0.0.1"))
    with pytest.raises(Forbidden):
        Egress.read([], private=True).check(ip_address("10.1.2.3"))


def test_a_public_address_of_this_very_machine_is_no_way_in() -> None:
    with pytest.raises(Forbidden):
        ANYWHERE.check(ip_address("8.8.8.8"), own=True)

    assert is_own(ip_address("127.0.0.1"))
    assert not is_own(ip_address("8.8.8.8"))


def test_disguised_addresses_are_seen_through() -> None:
    assert plain(ip_address("::ffff:10.0.0.1")) == ip_address("10.0.0.1")
    assert plain(ip_address("64:ff9b::a00:1")) == ip_address("10.0.0.1")
    assert plain(ip_address("2002:a00:1::")) == ip_address("10.0.0.1")


def test_a_tunnel_names_its_host_and_passes_nothing_on() -> None:
    assert target(b"CONNECT example.org:8443 HTTP/1.1\r\nHost: example.org") == ("example.org", 8443, None)
    assert target(b"CONNECT [2001:db8::1]:443 HTTP/1.1") == ("2001:db8::1", 443, None)


def test_a_plain_request_goes_on_without_what_was_meant_for_the_proxy() -> None:
    lines = (
        b"GET http://example.org:81/a?b=c HTTP/1.1",
        b"Host: example.org",
        b"Proxy-Authorization: x",
        b"Connection: x",
    )
    head = b"\r\n".join(lines)

    assert target(head) == (
        "example.org",
        81,
        b"GET /a?b=c HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n",
    )


@pytest.mark.parametrize(
    "head",
    [b"", b"GET / HTTP/1.1", b"GET ftp://x/ HTTP/1.1", b"GET http:// HTTP/1.1", b"\xff\xfe", b"CONNECT x:y HTTP/1.1"],
)
def test_what_is_no_request_is_refused(head: bytes) -> None:
    with pytest.raises(BadRequest):
        target(head)
