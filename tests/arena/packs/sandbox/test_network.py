"""The way out of a sandbox: through the proxy or not at all."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from arena.packs.read import parse_bundle
from arena.packs.sandbox.bubblewrap import Bubblewrap
from arena.packs.sandbox.provider import Way
from arena.packs.sandbox.toolbox import Toolbox
from tests.bundles import small
from tests.sandboxes import SMALL, linux_only, python, run

pytestmark = linux_only

HOST = Way(("127.0.0.0/8",))


@dataclass
class Web:
    """A server on the host that notes what it is asked."""

    port: int = 0
    asked: list[str] = field(default_factory=list)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head)
        body = b"hello from the host"
        if head.startswith("GET /away"):
            writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    """That server."""
    running = Web()
    server = await asyncio.start_server(running.answer, "127.0.0.1", 0)
    running.port = server.sockets[0].getsockname()[1]
    async with server:
        yield running


def fetch(url: str) -> str:
    return python(
        f"import urllib.request, urllib.error\n"
        f"try: print(urllib.request.urlopen({url!r}, timeout=10).read().decode())\n"
        f"except urllib.error.HTTPError as error: print(error.code, error.read().decode())"
    )


async def test_a_listed_network_is_reached_through_the_proxy(web: Web) -> None:
    done = await run(fetch(f"http://127.0.0.1:{web.port}/x"), way=HOST, network="private")

    assert done.stdout.text == "hello from the host\n", done.stderr.text
    assert web.asked[0].startswith("GET /x HTTP/1.1")


@pytest.mark.parametrize(
    ("way", "network", "host"),
    [
        (HOST, "public", "127.0.0.1"),
        (Way(), "public", "127.0.0.1"),
        (Way(), "private", "127.0.0.1"),
        (Way(("0.0.0.0/0", "::/0")), "private", "127.0.0.1"),
        (Way(("10.0.0.0/8",)), "private", "127.0.0.1"),
        (Way(), "public", "localhost"),
        (Way(), "public", "127.1"),
        (Way(), "public", "2130706433"),
        (Way(), "public", "[::ffff:127.0.0.1]"),
    ],
)
async def test_the_host_itself_is_out_of_reach_unless_listed_and_permitted(
    web: Web, way: Way, network: str, host: str
) -> None:
    done = await run(fetch(f"http://{host}:{web.port}/x"), way=way, network=network)

    assert done.stdout.text.startswith("403 "), done.stderr.text
    assert web.asked == []


async def test_there_is_no_way_around_the_proxy(web: Web) -> None:
    direct = f"""
import socket
for place in ("127.0.0.1", "192.0.2.1", "8.8.8.8"):
    try: socket.create_connection((place, {web.port}), 3); print("reached", place)
    except OSError: pass
tunnel = socket.create_connection(("127.0.0.1", 3128), 5)
tunnel.sendall(b"CONNECT 10.0.0.1:80 HTTP/1.1\\r\\n\\r\\n")
print(tunnel.recv(100).split()[1].decode())
"""
    done = await run(python(direct), way=HOST, network="private")

    assert done.stdout.text == "403\n", done.stderr.text
    assert web.asked == []


async def test_a_tunnel_is_opened_to_a_listed_address(web: Web) -> None:
    code = f"""
import socket
tunnel = socket.create_connection(("127.0.0.1", 3128), 5)
tunnel.sendall(b"CONNECT 127.0.0.1:{web.port} HTTP/1.1\\r\\n\\r\\n")
print(tunnel.recv(100).split()[1].decode())
tunnel.sendall(b"GET /inside HTTP/1.1\\r\\n\\r\\n")
print(tunnel.recv(1000).split()[1].decode())
"""
    done = await run(python(code), way=HOST, network="private")

    assert done.stdout.text.split() == ["200", "200"], done.stderr.text


def networked(**sandbox: object) -> Toolbox:
    given = {"network_access": True, "network_allowlist": ["127.0.0.0/8"], **sandbox}
    bundle = parse_bundle(json.dumps(small(version__sandbox=given)))
    return Toolbox(bundle, bundle.input_sets[0].cases[0])


async def test_http_request_tells_status_headers_and_body(web: Web) -> None:
    sandbox = Bubblewrap(SMALL, network="private")
    arguments = {"url": f"http://127.0.0.1:{web.port}/y?z=1", "headers": {"X-Key": "k"}}

    outcome = await networked().call(sandbox, b"", "http_request", arguments)

    answer = json.loads(outcome.result["content"])
    assert (answer["status"], answer["body"], answer["truncated"]) == (200, "hello from the host", False)
    assert "X-Key: k" in web.asked[0]


async def test_http_request_does_not_follow_redirects(web: Web) -> None:
    sandbox = Bubblewrap(SMALL, network="private")

    outcome = await networked().call(sandbox, b"", "http_request", {"url": f"http://127.0.0.1:{web.port}/away"})

    answer = json.loads(outcome.result["content"])
    assert (answer["status"], answer["headers"]["location"]) == (302, "http://127.0.0.1:1/")
    assert len(web.asked) == 1


async def test_http_request_to_a_forbidden_address_is_told_as_such(web: Web) -> None:
    sandbox = Bubblewrap(SMALL, network="public")

    outcome = await networked().call(sandbox, b"", "http_request", {"url": f"http://localhost:{web.port}/"})

    assert json.loads(outcome.result["content"])["status"] == 403
    assert web.asked == []


async def test_without_network_access_http_request_is_against_the_policy(web: Web) -> None:
    toolbox = networked(network_access=False)

    outcome = await toolbox.call(None, b"", "http_request", {"url": f"http://127.0.0.1:{web.port}/"})

    assert outcome.events[-1]["payload"]["failure_origin"] == "policy"
    assert "http_request" not in {tool["name"] for tool in toolbox.offer()}
    assert web.asked == []
