"""The way to the store: what will not do is said at the start, and what is lost on the way is sent again."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from arena import catalog
from arena.errors import CannotStart, StoreUnavailable
from arena.runtime import open_arena
from arena.settings import Settings
from arena.store import keys
from arena.store.link import Link
from arena.store.nodes import DIGESTS, Nodes
from tests.valkeys import Proxy, Valkey, connect, free_ports

PAGE = (["{x}:m"], 1, "", 100)
EMPTY = [1, 1, b"", 0, []]


@pytest.fixture
async def nodes(store: str) -> AsyncIterator[Nodes]:
    made = Nodes(store, timeout=1, patience=1)
    await made.connect()
    yield made
    await made.close()


async def start(url: str) -> None:
    async with open_arena(Settings(), catalog.Catalog(), url):
        pass


# At the start


async def test_data_of_another_schema_are_refused_and_left_alone(store: str) -> None:
    with connect(store) as redis:
        redis.hset(keys.META, "schema", "99")

    with pytest.raises(CannotStart, match="schema 99, this arena needs schema 1"):
        await start(store)

    with connect(store) as redis:
        assert redis.hget(keys.META, "schema") == b"99"


async def test_all_workers_get_the_same_secret_whoever_comes_first(store: str) -> None:
    async def secret() -> bytes:
        async with open_arena(Settings(), catalog.Catalog(), store) as arena:
            return arena.secret

    secrets = await asyncio.gather(*(secret() for _ in range(5)))

    assert len(set(secrets)) == 1
    assert len(secrets[0]) == 32
    assert await secret() == secrets[0]


async def test_a_server_that_is_too_old_is_refused_by_its_version(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.store.nodes.OLDEST", (99, 0))

    with pytest.raises(CannotStart, match=r"is version \d+\.\d+\.\d+; .* or newer is needed"):
        await start(store)


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("redis://:secret@127.0.0.1:{port}", r"redis://127.0.0.1:\d+ cannot be reached"),
        ("unix:///nowhere/s", "unix:///nowhere/s cannot be reached"),
        ("http://localhost", "http://localhost is not understood"),
        ("nonsense", "is not understood"),
    ],
)
async def test_a_store_that_cannot_be_reached_is_named_without_its_password(url: str, complaint: str) -> None:
    with pytest.raises(CannotStart, match=complaint) as refused:
        await start(url.format(port=free_ports(1)[0]))

    assert "secret" not in str(refused.value)


async def test_a_wrong_password_is_told_as_such() -> None:
    [port] = free_ports(1)
    with Valkey(port, {}) as valkey:
        with connect(f"unix://{valkey.socket}") as redis:
            redis.config_set("requirepass", "right")
        with pytest.raises(CannotStart, match="refuses the user name or password"):
            await start(f"redis://:wrong@127.0.0.1:{port}")
        await start(f"redis://:right@127.0.0.1:{port}")


# On the way


async def test_a_server_without_our_scripts_gets_them_and_everybody_is_told_once(nodes: Nodes, store: str) -> None:
    told: list[str] = []
    assert await nodes.script("page", *PAGE) == EMPTY
    nodes.renewed.append(lambda: told.append("new"))
    with connect(store) as redis:
        redis.script_flush()

    replies = await asyncio.gather(*(nodes.script("page", *PAGE) for _ in range(20)))

    assert replies == [EMPTY] * 20
    assert told == ["new"]
    with connect(store) as redis:
        assert all(redis.script_exists(*DIGESTS.values()))


async def test_commands_that_wait_together_keep_their_order(nodes: Nodes) -> None:
    await asyncio.gather(*(nodes.run("list", "RPUSH", "list", n) for n in range(200)))

    assert await nodes.run("list", "LRANGE", "list", 0, -1) == [str(n).encode() for n in range(200)]


class Wire(asyncio.Transport):
    """Keeps each write to a store that never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []

    def write(self, data: Any) -> None:
        self.writes.append(data)

    def is_closing(self) -> bool:
        return False


async def test_commands_that_wait_together_travel_together() -> None:
    link, wire = Link(1), Wire()
    link._transport = wire

    for number in range(3):
        link.send(("PING", number))
    await asyncio.sleep(0)

    assert [data.count(b"PING") for data in wire.writes] == [3]


async def test_a_command_that_the_store_refuses_fails_alone(nodes: Nodes) -> None:
    await nodes.run("list", "RPUSH", "list", 1)

    replies = await asyncio.gather(
        nodes.run("list", "LLEN", "list"),
        nodes.run("list", "GET", "list"),
        nodes.run("list", "LLEN", "list"),
        return_exceptions=True,
    )

    assert [replies[0], replies[2]] == [1, 1]
    assert "WRONGTYPE" in str(replies[1])


async def test_a_command_that_cannot_be_sent_does_not_leave_anybody_waiting(nodes: Nodes) -> None:
    async with asyncio.timeout(60):
        replies = await asyncio.gather(
            nodes.run("x", "SET", "x", "\ud800"), nodes.run("x", "GET", "x"), return_exceptions=True
        )
        assert isinstance(replies[0], UnicodeEncodeError)
        assert await nodes.run("x", "GET", "x") is None


async def test_reads_and_scripts_are_sent_again_over_a_new_connection(store: str) -> None:
    async with Proxy(store) as proxy:
        nodes = Nodes(proxy.url, timeout=1, patience=2)
        await nodes.connect()
        for needle in (b"LRANGE", DIGESTS["page"].encode()):
            proxy.cut_after_next(needle)
            assert await nodes.run("x", "LRANGE", "x", 0, -1) == []
            assert await nodes.script("page", *PAGE) == EMPTY
        assert proxy.cuts == 2
        proxy.refuse = True
        proxy.cut_all()
        with pytest.raises(StoreUnavailable):
            await nodes.run("x", "GET", "x")
        assert "does not answer" in (await nodes.ping() or "")
        proxy.refuse = False
        assert await nodes.ping() is None
        await nodes.close()


async def test_the_clock_of_the_store_is_nearly_ours_on_the_same_machine(nodes: Nodes) -> None:
    assert abs(await nodes.clock_offset()) < 0.5
