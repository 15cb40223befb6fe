"""Feeds: news of sessions and boards, by sharded pub/sub. A feed is only a nudge; what it lost is in the log.

One plain connection per primary, ours rather than redis-py's PubSub: it reconnects in silence, and we want to know.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from redis.crc import key_slot
from redis.exceptions import MovedError, RedisError

from arena.errors import StoreUnavailable
from arena.store.link import Link
from arena.store.nodes import Node, Nodes, heed_cancellation

logger = logging.getLogger(__name__)

BEAT = 5.0  # seconds between signs of life on a feed connection
REROUTE_PAUSE = 0.05  # seconds between two questions for where a slot has gone


class Feeds:
    """What this process listens to. Callbacks run in the order in which the store sent the news."""

    def __init__(self, nodes: Nodes, heard: Callable[[str, bytes], None], confirmed: Callable[[str], None]) -> None:
        self.nodes = nodes
        self.heard = heard
        self.confirmed = confirmed  # a subscription has begun, or begun anew: what came before may be missing
        self._wanted: dict[str, asyncio.Event] = {}
        self._homes: dict[str, Node] = {}  # the primary that was asked for a feed
        self._listeners: dict[Node, _Listener] = {}
        self._rerouting: asyncio.Task[None] | None = None

    async def subscribe(self, name: str) -> None:
        """Listen to a feed; returns when the store has confirmed it."""
        begun = self._wanted.get(name)
        if begun is None:
            begun = self._wanted[name] = asyncio.Event()
            self._ask(name)
        try:
            async with asyncio.timeout(self.nodes.patience):
                await begun.wait()
        except TimeoutError:
            raise StoreUnavailable("The store does not answer; send it again with the same key.") from None

    def unsubscribe(self, name: str) -> None:
        """Stop listening."""
        if self._wanted.pop(name, None) is not None and (home := self._homes.pop(name, None)) is not None:
            self._listener(home).ask("SUNSUBSCRIBE", name)

    def _ask(self, name: str) -> None:
        home = self._homes[name] = self.nodes.of(name)
        self._listener(home).ask("SSUBSCRIBE", name)

    def _listener(self, node: Node) -> "_Listener":
        if node not in self._listeners:
            self._listeners[node] = _Listener(self, node)
        return self._listeners[node]

    def names_of(self, node: Node) -> list[str]:
        """The feeds that this primary is to send."""
        return [name for name, home in self._homes.items() if home is node]

    def take(self, kind: bytes, name: str, payload: Any) -> None:
        """One push from the store."""
        if kind == b"smessage":
            self.heard(name, payload)
        elif name not in self._wanted:
            return
        elif kind == b"ssubscribe":
            self._wanted[name].set()
            self.confirmed(name)
        elif kind == b"sunsubscribe":
            # The slot has moved to another primary, or we came back before we had left.
            self.lose([name])

    def lose(self, names: list[str]) -> None:
        """These feeds come no longer from where they were asked for."""
        for name in names:
            self._homes.pop(name, None)
        if self._rerouting is None or self._rerouting.done():
            self._rerouting = asyncio.create_task(self._reroute(), name="store feed routes")

    async def _reroute(self) -> None:
        while True:
            await self.nodes.refresh()
            lost = [name for name in self._wanted if self._homes.get(name) is not self.nodes.of(name)]
            if not lost:
                return
            for name in lost:
                self._ask(name)
            await asyncio.sleep(REROUTE_PAUSE)

    def drop(self, listener: "_Listener") -> bool:
        """Do without a listener that has nothing to listen to; False if it has."""
        if self.names_of(listener.node):
            return False
        self._listeners.pop(listener.node, None)
        return True

    async def close(self) -> None:
        """Stop listening to anything."""
        tasks = [listener.task for listener in self._listeners.values()]
        tasks += [self._rerouting] if self._rerouting else []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Listener:
    """The feed connection to one primary: reconnects for ever, and subscribes again to all that is wanted."""

    def __init__(self, feeds: Feeds, node: Node) -> None:
        self.feeds = feeds
        self.node = node
        self._link: Link | None = None
        self._answered = True
        self._pause = 0.01
        self.task = asyncio.create_task(self._run(), name="store feed")

    def ask(self, *command: str) -> None:
        """Send a command if the connection stands; what is wanted is asked for again at each new one."""
        if self._link is not None and not self._link.lost.is_set():
            self._link.tell(command)

    async def _run(self) -> None:
        while True:
            try:
                self._link = await self.node.link(self._take)
                heed_cancellation()
                for name in self.feeds.names_of(self.node):
                    self._link.tell(("SSUBSCRIBE", name))
                await self._stay(self._link)
                logger.warning("store feed lost")
            except (RedisError, OSError) as error:
                logger.warning("store feed not reached reason=%s", type(error).__name__)
            finally:
                if self._link is not None:
                    self._link.close()
            heed_cancellation()
            self.feeds.lose([])  # in a cluster somebody else may have the slots by now
            await asyncio.sleep(self._pause)
            self._pause = min(self._pause * 2, 1.0)
            if self.feeds.drop(self):
                return

    async def _stay(self, link: Link) -> None:
        """Return when the connection is lost, or silent for too long."""
        self._answered = True
        while self._answered and not link.lost.is_set():
            self._answered = False
            link.tell(("PING",))
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT):
                    await link.lost.wait()

    def _take(self, push: Any) -> None:
        self._answered, self._pause = True, 0.01
        if isinstance(push, MovedError):
            self.feeds.lose([n for n in self.feeds.names_of(self.node) if key_slot(n.encode()) == push.slot_id])
        # Without any subscription the answer to a ping is a plain one.
        elif isinstance(push, list) and push[0] != b"pong":
            self.feeds.take(push[0], push[1].decode(), push[2])
