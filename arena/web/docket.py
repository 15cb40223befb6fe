"""Docket: the commands of one connection that are under way, and their answers in the order of the questions."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context
from typing import Any, Protocol

from arena import wire
from arena.errors import ArenaError, Internal, trace
from arena.web.desk import Answer

logger = logging.getLogger(__name__)

AT_ONCE = 64  # commands of one connection that may be under way
MOVES = (wire.Message, wire.Chat)  # carried out side by side; every other command waits its turn


class Client(Protocol):
    """The connection whose commands these are."""

    def carry_out(self, command: wire.Command) -> Awaitable[Answer]:
        """Do what a command says."""

    def send(self, frame: Mapping[str, Any]) -> None:
        """Send one frame."""

    async def emptied(self) -> None:
        """Wait until the socket has taken what there was."""

    def ease(self) -> None:
        """There is one command less."""


class Slot:
    """The place of an answer among the answers."""

    __slots__ = ("frame", "id", "task", "then")

    def __init__(self) -> None:
        self.id: wire.FrameId = None
        self.frame: Mapping[str, Any] | None = None
        self.then: Callable[[], None] | None = None
        self.task: asyncio.Task[None] | None = None


class Docket:
    """Carries commands out in order, moves and talk side by side, each in a task of its own."""

    __slots__ = ("_client", "_context", "_slots", "_waiting", "_worker")

    def __init__(self, client: Client, context: Context) -> None:
        self._client = client
        self._context = context
        # Lists, though they are queues: they are short, and an empty deque takes ten times the memory.
        self._slots: list[Slot] = []  # of commands that are not answered yet
        self._waiting: list[tuple[Slot, wire.Command]] = []
        self._worker: asyncio.Task[None] | None = None

    # In

    def begin(self, first: Callable[[], Awaitable[None]]) -> None:
        """Have something done before any command is."""
        self._worker = asyncio.create_task(self._work_through(first), name="commands", context=self._context)

    def open(self) -> Slot:
        """A place for the answer to what has just come."""
        slot = Slot()
        self._slots.append(slot)
        return slot

    def take(self, slot: Slot, command: wire.Command) -> None:
        """Carry a command out, when its turn has come."""
        if self._worker is None and isinstance(command, MOVES):
            self._start(slot, command)
            return
        self._waiting.append((slot, command))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work_through(), name="commands", context=self._context)

    @property
    def is_full(self) -> bool:
        """Whether as many as may be are under way."""
        return len(self._slots) >= AT_ONCE

    # Work

    async def _work_through(self, first: Callable[[], Awaitable[None]] | None = None) -> None:
        """Carry out what waits: a command that is neither move nor talk begins when all before it are done."""
        try:
            if first is not None:
                await first()
            while self._waiting:
                await self._client.emptied()
                if not self._waiting:
                    return
                slot, command = self._waiting.pop(0)
                alone = not isinstance(command, MOVES)
                if alone:
                    await self.finish()
                self._start(slot, command)
                if alone:
                    await self.finish()
        finally:
            self._worker = None

    def _start(self, slot: Slot, command: wire.Command) -> None:
        slot.task = asyncio.create_task(self._carry_out(slot, command), name="command", context=self._context)

    async def _carry_out(self, slot: Slot, command: wire.Command) -> None:
        try:
            answer = await self._client.carry_out(command)
        except ArenaError as error:
            self.answer(slot, wire.error(error, slot.id))
        except Exception as error:
            logger.error("frame failed type=%s %s", command.type, trace(error))
            self.answer(slot, wire.error(Internal("Something went wrong on our side."), slot.id))
        else:
            self.answer(slot, wire.reply(slot.id, answer.result), answer.then)

    @property
    def _running(self) -> list[asyncio.Task[None]]:
        return [slot.task for slot in self._slots if slot.task is not None and not slot.task.done()]

    async def finish(self, seconds: float | None = None) -> None:
        """Wait until everything that has begun is done, or for so long."""
        if running := self._running:
            await asyncio.wait(running, timeout=seconds)

    async def progress(self) -> None:
        """Wait until something is done."""
        await asyncio.wait([*self._running, *filter(None, [self._worker])], return_when=asyncio.FIRST_COMPLETED)

    # Out

    def answer(self, slot: Slot, frame: Mapping[str, Any], then: Callable[[], None] | None = None) -> None:
        """Answer a command, once all that came before it are answered."""
        slot.frame, slot.then = frame, then
        self.send_answers()
        self._client.ease()

    def send_answers(self) -> None:
        """Send what is ready and has nothing before it."""
        while self._slots and (frame := self._slots[0].frame) is not None:
            done = self._slots.pop(0)
            self._client.send(frame)
            if done.then is not None:
                done.then()

    # The end

    def refuse(self) -> None:
        """What has not begun never will."""
        for slot, _ in self._waiting:
            self._slots.remove(slot)
        self._waiting.clear()

    def cancel(self) -> None:
        """Nobody waits for answers any more, nor is there anybody who could be told."""
        for task in [*self._running, *filter(None, [self._worker])]:
            task.cancel()
        self._slots.clear()
        self._waiting.clear()
        del self._client
