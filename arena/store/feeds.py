"""Feeds: news of sessions and boards, by sharded pub/sub. A feed is only a nudge; what it lost is in the log.

One plain connection per primary, ours rather than redis-py's PubSub: it reconnects in silence, and we want to know.
"""

import asyncio
import logging
import math
from collections.abc import Callable
from typing import Any, cast

from redis.exceptions import RedisError

from arena.errors import StoreUnavailable
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
        self._asked: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self.task = asyncio.create_task(self._run(), name="store feed")

    def ask(self, *command: str) -> None:
        """Send a command when the connection stands; what is wanted is asked for again at each new connection."""
        self._asked.put_nowait(cast(tuple[str, str], command))

    async def _run(self) -> None:
        pause = 0.01
        while True:
            connection = cast(Any, self.node.client.connection_pool).make_connection()
            try:
                await connection.connect()
                pause = 0.01
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._write(connection), name="store feed writer")
                    group.create_task(self._read(connection), name="store feed reader")
            except* (RedisError, OSError) as lost:
                logger.warning("store feed lost reason=%s", type(lost.exceptions[0]).__name__)
            finally:
                await connection.disconnect(nowait=True)
            await asyncio.sleep(pause)
            pause = min(pause * 2, 1.0)

    async def _write(self, connection: Any) -> None:
        while not self._asked.empty():
            self._asked.get_nowait()
        for name in self.feeds.names_of(self.node):
            await connection.send_command("SSUBSCRIBE", name)
        while True:
            try:
                async with asyncio.timeout(BEAT):
                    command = await self._asked.get()
            except TimeoutError:
                command = ("PING", "")
            await connection.send_command(*command)

    async def _read(self, connection: Any) -> None:
        silence = BEAT * 3
        while True:
            try:
                async with asyncio.timeout(silence):
                    kind, name, *rest = await connection.read_response(timeout=math.inf, disable_decoding=True)
            except TimeoutError:
                raise ConnectionError("the store is silent") from None
            if kind != b"pong":
                self.feeds.take(kind, name.decode(), rest[0] if rest else None)
