"""Where a request comes from, and which forwarded headers are believed."""

import logging
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send
from websockets.exceptions import InvalidStatus

from arena import server
from arena.settings import Settings
from arena.web.addresses import TrustedProxies, caller, counted
from tests.guests import guest_at, visit
from tests.servers import served

PROXIES = ("10.0.0.0/8", "2001:db8:aa::/48")


async def seen(header: str, told: list[tuple[str, str]], peer: str | None, *trusted: str, kind: str = "http") -> Scope:
    """The scope that an app behind these proxies gets."""
    scope: dict[str, Any] = {
        "type": kind,
        "scheme": "ws" if kind == "websocket" else "http",
        "client": (peer, 5) if peer else None,
        "headers": [(name.lower().encode(), value.encode()) for name, value in told],
    }

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        pass

    await TrustedProxies(app, trusted or PROXIES, header)(scope, None, None)  # type: ignore[arg-type]
    return scope


@pytest.mark.parametrize(
    ("peer", "told", "client"),
    [
        ("10.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("203.0.113.9", ["203.0.113.7"], "203.0.113.9"),  # a stranger may say what it likes
        ("10.0.0.1", ["198.51.100.1, 203.0.113.7"], "203.0.113.7"),  # what the client made up is left of it
        ("10.0.0.1", ["198.51.100.1, 203.0.113.7, 10.9.9.9"], "203.0.113.7"),
        ("10.0.0.1", ["198.51.100.1", "203.0.113.7"], "203.0.113.7"),  # two lines are one list
        ("10.0.0.1", ["10.1.1.1, 10.2.2.2"], "10.1.1.1"),
        ("10.0.0.1", ["203.0.113.7:4711"], "203.0.113.7"),
        ("10.0.0.1", ["[2001:db8::7]:4711"], "2001:db8::7"),
        ("::ffff:10.0.0.1", ["::ffff:203.0.113.7"], "203.0.113.7"),
        ("2001:db8:aa::1", ["2001:db8::7"], "2001:db8::7"),
        ("10.0.0.1", ["203.0.113.7, nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.7, nonsense, 10.2.2.2"], "10.2.2.2"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", [], "10.0.0.1"),
    ],
)
async def test_the_nearest_stranger_is_the_client(peer: str, told: list[str], client: str) -> None:
    scope = await seen("x-forwarded-for", [("X-Forwarded-For", value) for value in told], peer)

    assert scope["client"][0] == client


@pytest.mark.parametrize(
    ("told", "client"),
    [
        ("for=203.0.113.7", "203.0.113.7"),
        ('for=198.51.100.1, For="[2001:db8::7]:4711";proto=https;by=10.0.0.1', "2001:db8::7"),
        ("for=203.0.113.7, for=10.2.2.2", "203.0.113.7"),
        ("for=203.0.113.7, for=_hidden", "10.0.0.1"),
        ("for=203.0.113.7, proto=https", "10.0.0.1"),
        (";;=,=", "10.0.0.1"),
    ],
)
async def test_the_standard_header_is_read_the_same_way(told: str, client: str) -> None:
    scope = await seen("forwarded", [("Forwarded", told)], "10.0.0.1")

    assert scope["client"][0] == client


@pytest.mark.parametrize(("read", "sent"), [("forwarded", "X-Forwarded-For"), ("x-forwarded-for", "Forwarded")])
async def test_a_header_that_the_proxy_does_not_write_is_not_believed(read: str, sent: str) -> None:
    scope = await seen(read, [(sent, "for=203.0.113.7" if sent == "Forwarded" else "203.0.113.7")], "10.0.0.1")

    assert scope["client"][0] == "10.0.0.1"


async def test_a_unix_socket_is_trusted_by_name() -> None:
    told = [("X-Forwarded-For", "203.0.113.7")]

    assert (await seen("x-forwarded-for", told, None, "unix"))["client"][0] == "203.0.113.7"
    assert (await seen("x-forwarded-for", told, None, "10.0.0.0/8"))["client"] is None
    assert (await seen("x-forwarded-for", told, "10.0.0.1", "unix"))["client"][0] == "10.0.0.1"


@pytest.mark.parametrize(("kind", "scheme"), [("http", "https"), ("websocket", "wss")])
async def test_the_scheme_is_the_one_that_the_proxy_was_asked_with(kind: str, scheme: str) -> None:
    told = [("X-Forwarded-Proto", "https")]

    assert (await seen("x-forwarded-for", told, "10.0.0.1", kind=kind))["scheme"] == scheme
    assert (await seen("forwarded", [("Forwarded", "proto=https")], "10.0.0.1", kind=kind))["scheme"] == scheme
    assert (await seen("x-forwarded-for", told, "203.0.113.9", kind=kind))["scheme"] != scheme
    assert (await seen("x-forwarded-for", [("X-Forwarded-Proto", "gopher")], "10.0.0.1"))["scheme"] == "http"


@pytest.mark.parametrize(
    ("host", "as_"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1%eth0", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_ipv6_client_counts_with_its_network(host: str, as_: str) -> None:
    assert counted(host) == as_


def test_a_client_without_address_counts_as_local() -> None:
    assert caller({"client": None}) == "local"


async def test_connections_are_counted_by_the_address_that_a_trusted_proxy_tells(store: str) -> None:
    async with served(store, limit_connections_per_address=1, trusted_proxies="127.0.0.1") as arena:
        ada = await visit(arena, additional_headers={"X-Forwarded-For": "203.0.113.7"})
        ben = await visit(arena, additional_headers={"X-Forwarded-For": "203.0.113.8"})
        with pytest.raises(InvalidStatus, match="429"):
            await visit(arena, additional_headers={"X-Forwarded-For": "127.0.0.1, 203.0.113.8"})

        assert (await ada.ask("ping"))["type"] == (await ben.ask("ping"))["type"] == "reply"


async def test_a_page_has_to_come_by_the_scheme_that_a_trusted_proxy_tells(store: str) -> None:
    async with served(store, trusted_proxies="127.0.0.1") as arena:
        host = arena.url.removeprefix("http://")
        told = {"X-Forwarded-Proto": "https"}

        async with guest_at(arena.ws, origin=f"https://{host}", additional_headers=told) as guest:
            assert (await guest.ask("ping"))["type"] == "reply"
        with pytest.raises(InvalidStatus, match="403"):
            async with guest_at(arena.ws, origin=f"http://{host}", additional_headers=told):
                pass


@pytest.mark.parametrize("origins", [(), ("https://arena.example",)])
async def test_behind_a_proxy_a_server_on_loopback_knows_its_name_from_the_settings(
    store: str, origins: tuple[str, ...]
) -> None:
    async with served(store, trusted_proxies="127.0.0.1", origins=origins) as arena:
        port = int(arena.url.rpartition(":")[2])
        told = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
        page = guest_at(
            "ws://arena.example/ws",
            host="127.0.0.1",
            port=port,
            origin="https://arena.example",
            additional_headers=told,
        )
        async with httpx.AsyncClient(base_url=arena.url, headers={**told, "Host": "arena.example"}) as client:
            guides = [(await client.get(path)).text for path in ("/skill.md", "/llms.txt", "/openapi.json")]

        if origins:
            async with page as guest:
                assert (await guest.ask("ping"))["type"] == "reply"
        else:
            with pytest.raises(InvalidStatus, match="403"):
                async with page:
                    pass

    assert {"https://arena.example" in guide for guide in guides} == {bool(origins)}


@pytest.mark.parametrize(
    ("settings", "lines"),
    [
        ({"trusted_proxies": "127.0.0.1"}, 1),
        ({"trusted_proxies": "127.0.0.1", "origins": "https://arena.example"}, 0),
        ({"trusted_proxies": "127.0.0.1", "host": "0.0.0.0"}, 0),
        ({}, 0),
    ],
)
def test_proxies_of_a_server_that_knows_no_name_of_its_own_are_worth_a_line(
    settings: dict[str, Any], lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.warn(Settings(**settings))

    assert [record.levelno for record in caplog.records] == [logging.WARNING] * lines


async def test_without_a_trusted_proxy_nobody_is_believed_not_even_on_this_machine(store: str) -> None:
    async with served(store, limit_connections_per_address=1) as arena:
        ada = await visit(arena, additional_headers={"X-Forwarded-For": "203.0.113.7"})
        with pytest.raises(InvalidStatus, match="429"):
            await visit(arena, additional_headers={"X-Forwarded-For": "203.0.113.8"})

        assert (await ada.ask("ping"))["type"] == "reply"
