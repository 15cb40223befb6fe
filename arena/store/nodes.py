"""The primaries behind a store URL: one server or a cluster, with what waits together sent together.

Every command sent through here may be sent again: reads are harmless, and scripts carry a key or a tag that makes a
second copy do nothing. So a lost connection is retried here, for as long as the caller may be kept waiting.
"""

import asyncio
import hashlib
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, TypeVar, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,  # noqa: A004
    MovedError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TimeoutError,  # noqa: A004
    TryAgainError,
)

from arena.errors import CannotStart, StoreUnavailable
from arena.store.link import Link

logger = logging.getLogger(__name__)

SCRIPTS = {
    path.name.removesuffix(".lua"): path.read_text(encoding="utf-8")
    for path in files("arena.store").joinpath("lua").iterdir()
    if path.name.endswith(".lua")
}
DIGESTS = {name: hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest() for name, text in SCRIPTS.items()}

SLOTS = 16_384
OLDEST = (7, 0)  # sharded pub/sub
LOST = (ConnectionError, TimeoutError, BusyLoadingError, OSError)
MOVING = (MovedError, TryAgainError, ClusterDownError, ReadOnlyError)
UNWILLING = ("MISCONF", "NOREPLICAS", "MASTERDOWN")  # the disk is full, a replica is missing: refused before it is done

Reply = TypeVar("Reply")


class Node:
    """One primary, with a link for what is frequent and a plain client for what is rare."""

    def __init__(self, client: Redis, silence: float) -> None:
        self.client = client
        self.silence = silence
        self._link: Link | None = None
        self._opening = asyncio.Lock()

    def at_once(self, command: tuple[Any, ...]) -> asyncio.Future[Any] | None:
        """Send a command without waiting for anything; None if the link does not stand."""
        return None if self._link is None else self._link.send(command)

    async def send(self, *commands: tuple[Any, ...]) -> Any:
        """Carry out commands side by side; the reply is that to the last.

        All that is sent in one turn of the event loop travels together, and is carried out in that order.
        """
        link = self._link
        if link is None or link.lost.is_set():
            link = await self._open()
        for command in commands[:-1]:
            link.send(command).add_done_callback(_ignore)
        return await link.send(commands[-1])

    async def _open(self) -> Link:
        async with self._opening:
            if self._link is None or self._link.lost.is_set():
                self._link = await self.link()
            return self._link

    async def link(self, pushed: Callable[[Any], None] | None = None) -> Link:
        """A connection of its own."""
        pool: Any = self.client.connection_pool
        return await Link.open(pool.make_connection(), self.silence, pushed)

    async def close(self) -> None:
        """Let go of the connections."""
        if self._link is not None:
            self._link.close()
        await self.client.aclose(close_connection_pool=True)  # the pool is ours, which redis-py does not know


def _ignore(reply: asyncio.Future[Any]) -> None:
    """The reply to a command that only prepares the next, which tells whether that went well."""
    if not reply.cancelled():
        reply.exception()


class Nodes:
    """Routes commands to the primary that holds their key, and sends them again when an answer is lost."""

    def __init__(self, url: str, *, timeout: float, patience: float) -> None:
        self.url = url
        self.timeout = timeout
        self.patience = patience
        self.renewed: list[Callable[[], None]] = []  # told when a server turns out to be a new process
        self.failed: Callable[[], None] = lambda: None  # told of every attempt that failed
        self.timed: Mapping[str, Callable[[float], None]] = {}  # told the seconds that scripts of these names took
        self._nodes: dict[str, Node] = {}
        self._slots: dict[int, Node] = {}  # empty while there is only one server
        self._loading: dict[Node, asyncio.Lock] = {}
        self._refreshing = asyncio.Lock()
        self._refreshed = 0  # times

    async def connect(self) -> None:
        """Find out what the URL leads to, and whether it will do."""
        try:
            first = Node(self._client(self.url), self.timeout)
            self._nodes["first"] = first
            info = await first.client.info()
        except ValueError as error:
            raise CannotStart(f"The store URL {self.shown} is not understood: {error}") from None
        except AuthenticationError:
            raise CannotStart(f"The store at {self.shown} refuses the user name or password.") from None
        except LOST as error:
            raise CannotStart(f"The store at {self.shown} cannot be reached: {error}") from None
        version = str(info["redis_version"])
        if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
            raise CannotStart(f"The store at {self.shown} is version {version}; 7.0 or newer is needed.")
        if info.get("cluster_enabled") == 1 and not await self._refresh():
            raise CannotStart(f"The cluster at {self.shown} does not serve all slots.")

    @property
    def shown(self) -> str:
        """The URL without its password."""
        scheme, _, rest = self.url.partition("://")
        return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"

    @property
    def all(self) -> list[Node]:
        """Every primary, once."""
        return list(dict.fromkeys(self._slots.values())) or list(self._nodes.values())

    def of(self, key: str) -> Node:
        """The primary that holds a key."""
        if not self._slots:
            return self._nodes["first"]
        return self._slots[key_slot(key.encode())]

    def run(self, key: str, *command: Any) -> Coroutine[None, None, Any]:
        """Carry out a command on the primary that holds its key."""
        return self._ask(key, command)

    async def _ask(
        self,
        key: str,
        command: tuple[Any, ...],
        timed: Callable[[float], None] | None = None,
        reply: asyncio.Future[Any] | None = None,
    ) -> Any:
        """The reply to a command, sent the shortest way; if that cannot be, or fails, it is sent again."""
        begun = time.perf_counter()
        reply = reply or self.of(key).at_once(command)
        try:
            if reply is None:
                raise ConnectionError
            found = await reply
        except (RedisError, OSError):  # whatever it was, the next attempt will meet it
            found = await self._insist(lambda: self._once(key, command))
        if timed is not None:
            timed(time.perf_counter() - begun)
        return found

    def tell(self, key: str, *command: Any) -> None:
        """Send a command that may get lost: nobody waits for what becomes of it."""
        if (reply := self.of(key).at_once(command)) is not None:
            reply.add_done_callback(_ignore)

    async def run_all(self, commands: Iterable[tuple[str, tuple[Any, ...]]]) -> list[Any]:
        """Carry out many commands, each on the primary of its key."""
        asked = [(key, command, self.of(key).at_once(command)) for key, command in commands]
        for _, _, reply in asked:
            if reply is not None:
                reply.add_done_callback(_ignore)  # if another fails for good, nobody asks what became of this one
        return [await self._ask(key, command, reply=reply) for key, command, reply in asked]

    def script(self, name: str, keys: Sequence[str], *arguments: Any) -> Coroutine[None, None, Any]:
        """Carry out one of our scripts."""
        command = ("EVALSHA", DIGESTS[name], len(keys), *keys, *arguments)
        return self._ask(keys[0], command, self.timed.get(name))

    async def _once(self, key: str, command: tuple[Any, ...]) -> Any:
        try:
            return await self._send(self.of(key), command)
        except MovedError:  # to redis-py a kind of ASK, but this one is for good
            raise
        except AskError as error:
            return await self._send(self._node(*error.node_addr), ("ASKING",), command)

    async def _send(self, node: Node, *commands: tuple[Any, ...]) -> Any:
        """Carry out commands side by side on one primary; the reply is that to the last."""
        try:
            return await node.send(*commands)
        except NoScriptError:
            await self._load(node)
            return await node.send(*commands)

    async def _insist(self, attempt: Callable[[], Awaitable[Reply]]) -> Reply:
        until = time.monotonic() + self.patience
        pause = 0.01
        while True:
            try:
                return await attempt()
            except (RedisError, OSError) as error:
                self.failed()
                heed_cancellation()
                if not may_pass(error):
                    raise
                if time.monotonic() + pause > until:
                    raise StoreUnavailable("The store does not answer; send it again with the same key.") from error
                await asyncio.sleep(pause)
                pause = min(pause * 2, 0.5)
                await self.refresh()

    async def _load(self, node: Node) -> None:
        """Give a new server process our scripts, and tell everybody that it is one."""
        async with self._loading.setdefault(node, asyncio.Lock()):
            known = await node.client.script_exists(*DIGESTS.values())
            if all(known):
                return
            for text in SCRIPTS.values():
                await node.client.script_load(text)
        for callback in self.renewed:
            callback()

    async def refresh(self) -> None:
        """Ask the cluster, if it is one, who holds which slots; those who wait for the same answer share it."""
        asked = self._refreshed
        async with self._refreshing:
            if self._slots and asked == self._refreshed:
                await self._refresh()

    async def _refresh(self) -> bool:
        """Ask any node who holds which slots, and say whether all are held; one that is not keeps its last holder."""
        for node in dict.fromkeys([*self._slots.values(), *self._nodes.values()]):
            try:
                shards = await cast(Any, node.client).execute_command("CLUSTER", "SLOTS")
            except (RedisError, OSError):
                continue
            self._slots |= {
                slot: self._node(primary[0].decode() or "127.0.0.1", int(primary[1]))
                for first, last, primary, *_ in _slot_ranges(shards)
                for slot in range(first, last + 1)
            }
            self._refreshed += 1
            break
        return len(self._slots) == SLOTS

    def _node(self, host: str, port: int) -> Node:
        address = f"{host}:{port}"
        if address not in self._nodes:
            self._nodes[address] = Node(self._client(self.url, host=host, port=port), self.timeout)
        return self._nodes[address]

    def _client(self, url: str, **where: Any) -> Redis:
        # Retrying is ours: redis-py would send a pipeline again as a whole, and not tell.
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=16,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=self.timeout,
            socket_connect_timeout=self.timeout,
        )
        if where:
            pool.connection_kwargs |= where
        return Redis(connection_pool=pool)

    async def clock_offset(self) -> float:
        """Seconds that the store's clock is ahead of this process's."""
        best, offset = math.inf, 0.0
        for _ in range(3):
            sent = time.time()
            seconds, micros = await self.run("clock", "TIME")
            took = time.time() - sent
            if took < best:
                best, offset = took, int(seconds) + int(micros) / 1e6 - (sent + took / 2)
        return offset

    async def ping(self) -> str | None:
        """Why the store cannot be used right now, or None; everybody may ask, so it does not say where that is."""
        try:
            async with asyncio.timeout(self.timeout):
                for node in self.all:
                    await node.client.ping()
        except (RedisError, OSError) as error:
            return f"The store does not answer: {type(error).__name__}."
        return None

    async def close(self) -> None:
        """Let go of all connections."""
        for node in self._nodes.values():
            await node.close()


def heed_cancellation() -> None:
    """End a task that was told to: on Python 3.11 `asyncio.wait_for`, which redis-py sends with, may swallow that."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def may_pass(error: Exception) -> bool:
    """Whether a command that failed like this did nothing, or may be sent again, and may do better later."""
    if isinstance(error, (*LOST, *MOVING, OutOfMemoryError)):
        return True
    return isinstance(error, ResponseError) and str(error).startswith(UNWILLING)


def _slot_ranges(reply: Any) -> list[Any]:
    """CLUSTER SLOTS as redis-py gives it: a list of ranges, or a dict of them."""
    if isinstance(reply, dict):
        return [
            (first, last, (str(found["primary"][0]).encode(), found["primary"][1]))
            for (first, last), found in reply.items()
        ]
    return list(reply)
