"""A real Valkey and a real server for whoever asks."""

from collections.abc import AsyncIterator, Iterator

import pytest
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import HealthCheck, settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from arena import garbage
from tests import servers
from tests.callers import Caller, calling
from tests.servers import Served, served
from tests.valkeys import Valkey, connect

garbage.begin()

# The same examples in every run, and none too slow for a busy machine: a failure is always the fault of a change.
# `--hypothesis-profile default` looks for new ones.
settings.register_profile("arena", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("arena")

# The five seconds that httpx waits for an answer may be too short on such a machine too.
for phase in ("connect", "read", "write", "pool"):
    setattr(DEFAULT_TIMEOUT_CONFIG, phase, 60.0)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The same tests, over plain ASGI."""
    parser.addoption("--plain", action="store_true", help="run servers without our extensions of ASGI")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the way of the frames for all servers in this process."""
    if config.getoption("--plain"):
        servers.PROTOCOL, servers.HTTP = servers.PlainProtocol, HttpToolsProtocol


LONGEST = ["packaging", "counting", "contract", "cli", "doors", "demo", "pack_cli", "docs", "doctor", "crash"]
LONGEST += ["leaderboards", "evals", "board_commands", "archive", "recompute", "every_pack", "sse", "packs_served"]
PLACES = {f"test_{name}": place for place, name in enumerate(LONGEST)}


def pytest_collection_finish() -> None:
    """Search as seldom for garbage as a server does: thousands of tests live as long as their process."""
    garbage.settle()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no core waits for another at the end."""
    items.sort(key=lambda item: PLACES.get(item.path.stem, len(PLACES)))


@pytest.fixture(scope="session")
def valkey() -> Iterator[Valkey]:
    """One throw-away Valkey for the whole run; a test that breaks its store starts one of its own."""
    with Valkey() as running:
        yield running


@pytest.fixture
def store(valkey: Valkey) -> str:
    """The address of an empty store."""
    with connect(valkey.url) as redis:
        redis.flushall()
    return valkey.url


@pytest.fixture
async def arena(store: str) -> AsyncIterator[Served]:
    """A running server on an empty store."""
    async with served(store) as running:
        yield running


@pytest.fixture
async def caller(arena: Served) -> AsyncIterator[Caller]:
    """Somebody at the REST door of that server."""
    async with calling(arena) as someone:
        yield someone
