"""The tools that other tests break stores with must themselves do what they say."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import redis
import redis.asyncio
from redis.backoff import NoBackoff
from redis.crc import key_slot
from redis.retry import Retry

from tests.valkeys import Cluster, Proxy, Valkey, connect, eventually, free_ports


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    with Valkey() as valkey:
        yield valkey


@pytest.fixture
async def proxy(valkey: Valkey) -> AsyncIterator[Proxy]:
    async with Proxy(valkey.url) as proxy:
        yield proxy


def client_of(proxy: Proxy, timeout: float = 5) -> "redis.asyncio.Redis":
    return redis.asyncio.Redis.from_url(proxy.url, socket_timeout=timeout, retry=Retry(NoBackoff(), 0))


@pytest.mark.parametrize("end", [Valkey.stop, Valkey.kill])
def test_a_store_that_ends_and_starts_again_has_lost_nothing(valkey: Valkey, end: Callable[[Valkey], None]) -> None:
    with connect(valkey.url) as client:
        client.set("a", 1)

    end(valkey)
    assert not valkey.answers()
    valkey.start()

    with connect(valkey.url) as client:
        assert client.get("a") == b"1"


def test_a_store_can_also_listen_on_tcp() -> None:
    [port] = free_ports(1)

    with (
        Valkey(port) as valkey,
        connect(f"redis://127.0.0.1:{port}") as client,
        connect(f"unix://{valkey.socket}") as c,
    ):
        client.set("a", 1)
        assert c.get("a") == b"1"
        assert valkey.url == f"redis://127.0.0.1:{port}"


def test_rewinding_loses_exactly_what_came_after_the_mark(valkey: Valkey) -> None:
    with connect(valkey.url) as client:
        client.set("before", 1)
        mark = valkey.mark()
        client.set("after", 1)
        client.incr("before")

    valkey.kill()
    valkey.rewind(mark)
    valkey.start()

    with connect(valkey.url) as client:
        assert client.keys() == [b"before"]
        assert client.get("before") == b"1"


def test_a_store_goes_on_after_a_rewind(valkey: Valkey) -> None:
    with connect(valkey.url) as client:
        mark = valkey.mark()
        client.set("lost", 1)
    valkey.stop()
    valkey.rewind(mark)
    valkey.start()

    with connect(valkey.url) as client:
        client.set("kept", 1)
    valkey.kill()
    valkey.start()

    with connect(valkey.url) as client:
        assert client.keys() == [b"kept"]


def test_cutting_the_tail_loses_that_many_commands(valkey: Valkey) -> None:
    with connect(valkey.url) as client:
        for number in range(5):
            client.rpush("list", f"{number}\r\n*1")

    valkey.kill()
    valkey.cut_tail(2)
    valkey.start()

    with connect(valkey.url) as client:
        assert client.lrange("list", 0, -1) == [b"0\r\n*1", b"1\r\n*1", b"2\r\n*1"]


def test_a_running_store_cannot_be_robbed(valkey: Valkey) -> None:
    mark = valkey.mark()

    with pytest.raises(AssertionError, match="running"):
        valkey.rewind(mark)


def test_a_cluster_takes_writes_in_every_slot_and_shares_them_evenly() -> None:
    keys = {key_slot(key): key for key in (b"%d" % number for number in range(250_000))}
    assert len(keys) == 16384

    with Cluster() as cluster, redis.RedisCluster.from_url(cluster.url) as client:
        pipeline = client.pipeline()
        for key in keys.values():
            pipeline.set(key, 1)
        pipeline.execute()

        sizes = []
        for node in cluster.nodes:
            with connect(node.url) as single:
                assert single.info("cluster")["cluster_enabled"] == 1
                sizes.append(single.dbsize())

    assert sorted(sizes) == [5461, 5461, 5462]


async def test_the_proxy_passes_on_what_nobody_asked_it_to_break(proxy: Proxy) -> None:
    async with client_of(proxy) as client:
        await client.set("a", "x" * 300_000)

        assert await client.strlen("a") == 300_000
        assert await client.get("a") == b"x" * 300_000
        assert proxy.cuts == 0


async def test_the_proxy_cuts_after_the_command_was_carried_out(proxy: Proxy, valkey: Valkey) -> None:
    async with client_of(proxy) as client:
        await client.set("other", 1)
        proxy.cut_after_next(b"counter")
        await client.incr("other")

        with pytest.raises(redis.ConnectionError):
            await client.incr("counter")

        assert proxy.cuts == 1
        with connect(valkey.url) as direct:
            assert direct.get("counter") == b"1"
        assert await client.incr("counter") == 2
        assert proxy.cuts == 1


@pytest.mark.parametrize("is_transaction", [False, True])
async def test_a_pipeline_larger_than_any_buffer_is_carried_out_whole_before_the_cut(
    proxy: Proxy, valkey: Valkey, is_transaction: bool
) -> None:
    async with client_of(proxy) as client:
        proxy.cut_after_next(b"needle")

        pipeline = client.pipeline(transaction=is_transaction)
        pipeline.set("needle", "x" * 200_000)
        pipeline.set("big", "y" * 200_000)
        with pytest.raises(redis.ConnectionError):
            await pipeline.execute()

        with connect(valkey.url) as direct:
            assert proxy.cuts == 1
            assert direct.strlen("needle") == 200_000
            assert direct.exists("big") or not is_transaction


async def test_cutting_all_drops_open_connections_and_new_ones_work(proxy: Proxy, valkey: Valkey) -> None:
    async with client_of(proxy) as client:
        waiting = asyncio.ensure_future(client.blpop(["empty"], timeout=30))
        with connect(valkey.url) as direct:
            await asyncio.to_thread(eventually, lambda: direct.info("clients")["blocked_clients"], "it waits")

        proxy.cut_all()

        with pytest.raises(redis.ConnectionError):
            await asyncio.wait_for(waiting, 60)
        assert await client.ping()


async def test_the_proxy_refuses_new_connections_while_told_to(proxy: Proxy) -> None:
    async with client_of(proxy) as old, client_of(proxy) as new:
        await old.ping()
        proxy.refuse = True

        with pytest.raises(redis.ConnectionError):
            await new.ping()
        assert await old.ping()
        proxy.refuse = False
        assert await new.ping()


async def test_a_frozen_proxy_holds_everything_back_until_it_thaws(proxy: Proxy, valkey: Valkey) -> None:
    async with client_of(proxy) as patient, client_of(proxy, timeout=0.2) as hasty:
        await patient.ping()
        await hasty.ping()
        proxy.freeze()

        answer = asyncio.ensure_future(patient.incr("a"))
        with pytest.raises(redis.TimeoutError):
            await hasty.ping()
        with connect(valkey.url) as direct:
            assert direct.get("a") is None
        assert not answer.done()

        proxy.thaw()
        assert await asyncio.wait_for(answer, 60) == 1


async def test_a_proxy_before_a_dead_store_drops_its_clients(proxy: Proxy, valkey: Valkey) -> None:
    async with client_of(proxy) as client:
        await client.ping()

        valkey.kill()

        with pytest.raises(redis.ConnectionError):
            await client.ping()
        valkey.start()
        assert await client.ping()
