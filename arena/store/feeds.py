"""Feeds: news of sessions and boards, by sharded pub/sub. A feed is only a nudge; what it lost is in the log.

One plain connection per primary, ours rather than redis-py's PubSub: it reconnects in silence, and we want to know.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from redis.exceptions import RedisError

from arena.errors import StoreUnavailable
from arena.store.link import Link
from arena.store.nodes import Node, Nodes

logger = logging.getLogger(__name__)

BEAT = 5.0  # seconds between signs of life on a feed connection


class Feeds:
    """What this process listens to. Callbacks run in the order in which the store sent the news."""

    def __init__(self, nodes: Nodes, heard: Callable[[str, bytes], None], confirmed: Callable[[str], None]) -> None:
        self.nodes = nodes
        self.heard = heard
        self.confirmed = confirmed  # a subscription has begun, or begun anew: what came before may be missing
        self._wanted: dict[str, asyncio.Event] = {}
        self._listeners: dict[Node, _Listener] = {}

    async def subscribe(self, name: str) -> None:
        """Listen to a feed; returns when the store has confirmed it."""
        begun = self._wanted.get(name)
        if begun is None:
            begun = self._wanted[name] = asyncio.Event()
            self._listener(name).ask("SSUBSCRIBE", name)
        try:
            async with asyncio.timeout(self.nodes.patience):
                await begun.wait()
        except TimeoutError:
            raise StoreUnavailable("The store does not answer; send it again with the same key.") from None

    def unsubscribe(self, name: str) -> None:
        """Stop listening."""
        if self._wanted.pop(name, None) is not None:
            self._listener(name).ask("SUNSUBSCRIBE", name)

    def _listener(self, name: str) -> "_Listener":
        node = self.nodes.of(name)
        if node not in self._listeners:
            self._listeners[node] = _Listener(self, node)
        return self._listeners[node]

    def names_of(self, node: Node) -> list[str]:
        """The feeds that this primary is to send."""
        return [name for name in self._wanted if self.nodes.of(name) is node]

    def take(self, kind: bytes, name: str, payload: Any) -> None:
        """One push from the store."""
        if kind == b"smessage":
            self.heard(name, payload)
        elif kind == b"ssubscribe" and name in self._wanted:
            self._wanted[name].set()
            self.confirmed(name)
        elif kind == b"sunsubscribe" and name in self._wanted:
            # The slot has moved to another primary.
            self._listener(name).ask("SSUBSCRIBE", name)

    async def close(self) -> None:
        """Stop listening to anything."""
        for listener in self._listeners.values():
            listener.task.cancel()
        await asyncio.gather(*(listener.task for listener in self._listeners.values()), return_exceptions=True)


class _Listener:
    """The feed connection to one primary: reconnects for ever, and subscribes again to all that is wanted."""

    def __init__(self, feeds: Feeds, node: Node) -> None:
        self.feeds = feeds
        self.node = node
        self._link: Link | None = None
        self._answered = True
        self.task = asyncio.create_task(self._run(), name="store feed")

    def ask(self, *command: str) -> None:
        """Send a command if the connection stands; what is wanted is asked for again at each new one."""
        if self._link is not None and not self._link.lost.is_set():
            self._link.tell(*command)

    async def _run(self) -> None:
        pause = 0.01
        while True:
            try:
                self._link = await self.node.link(self._take)
                pause = 0.01
                for name in self.feeds.names_of(self.node):
                    self._link.tell("SSUBSCRIBE", name)
                await self._stay(self._link)
            except (RedisError, OSError) as error:
                logger.warning("store feed not reached reason=%s", type(error).__name__)
            else:
                logger.warning("store feed lost")
            finally:
                if self._link is not None:
                    self._link.close()
            await asyncio.sleep(pause)
            pause = min(pause * 2, 1.0)

    async def _stay(self, link: Link) -> None:
        """Returns when the connection is lost, or silent for too long."""
        self._answered = True
        while self._answered and not link.lost.is_set():
            self._answered = False
            link.tell("PING")
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT):
                    await link.lost.wait()

    def _take(self, push: list[Any]) -> None:
        self._answered = True
        if isinstance(push, list) and push[0] != b"pong":
            self.feeds.take(push[0], push[1].decode(), push[2])
