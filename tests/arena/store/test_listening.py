"""Listening to the store: a feed survives whatever becomes of its connection, and ends when it is told to."""

import asyncio

from arena.store.feeds import Feeds
from tests.servers import Served
from tests.valkeys import connect


async def test_a_feed_that_is_cut_again_and_again_still_takes_new_wishes(arena: Served, store: str) -> None:
    confirmed: list[str] = []
    feeds = Feeds(arena.arena.nodes, lambda name, payload: None, confirmed.append)

    with connect(store) as redis:
        for number in range(100):
            redis.client_kill_filter(_type="pubsub")
            for _ in range(number % 40):
                await asyncio.sleep(0)
            await feeds.subscribe(f"{{s01}}:f:{number}")
    await feeds.close()

    assert set(confirmed) == {f"{{s01}}:f:{number}" for number in range(100)}


async def test_a_feed_ends_when_told_whatever_it_is_doing(arena: Served) -> None:
    for turns in range(60):
        feeds = Feeds(arena.arena.nodes, lambda name, payload: None, lambda name: None)
        wish = asyncio.create_task(feeds.subscribe("{idx}:f"))
        for _ in range(turns):
            await asyncio.sleep(0)

        closing = asyncio.create_task(feeds.close())
        done, _ = await asyncio.wait([closing], timeout=60)
        wish.cancel()

        assert done, turns
