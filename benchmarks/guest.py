"""Guest: a peer that asks questions, for what has to be set up before there is something to measure."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson

from benchmarks.peer import PATIENCE, Peer


class Guest(Peer):
    """Sends frames and waits for the replies; everything else it hears goes to `told`."""

    def __init__(self, port: int, path: str = "/ws") -> None:
        super().__init__(path, port)
        self.hear = self._hear
        self.told: list[dict[str, Any]] = []
        self._ids = itertools.count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._ends: dict[str, asyncio.Future[None]] = {}

    async def ask(self, type: str, **fields: Any) -> Any:
        """The result of a command."""
        number = next(self._ids)
        self._asked[number] = answer = asyncio.get_running_loop().create_future()
        self.send(orjson.dumps({"type": type, "id": number, **fields}))
        async with asyncio.timeout(PATIENCE):
            return await answer

    def end_of(self, session: str) -> "asyncio.Future[None]":
        """Done when we are told that the game has ended."""
        self._ends[session] = end = asyncio.get_running_loop().create_future()
        return end

    def _hear(self, payload: bytes) -> None:
        heard = orjson.loads(payload)
        answer = self._asked.pop(heard.get("id", 0), None)
        if answer is None:
            self.told.append(heard)
            if heard["type"] == "game_ended" and (end := self._ends.pop(heard["challengeId"], None)) is not None:
                end.set_result(None)
        elif heard["type"] == "reply":
            answer.set_result(heard["result"])
        else:
            answer.set_exception(RuntimeError(heard["error"]))


@asynccontextmanager
async def guest(port: int) -> AsyncIterator[Guest]:
    """A guest, connected."""
    one = Guest(port)
    await one.open(port)
    try:
        yield one
    finally:
        one.transport.close()


async def create(port: int, many: int) -> list[dict[str, Any]]:
    """So many sessions of tally."""
    async with guest(port) as one:
        return [await one.ask("create", challengeType="tally") for _ in range(many)]
