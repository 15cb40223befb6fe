"""The WebSocket door: agents play through it, spectators watch through it. Speaks `arena.v1`."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from arena import auth, chat, wire
from arena.errors import (
    ArenaError,
    BadFrame,
    Internal,
    NotFound,
    RateLimited,
    StoreUnavailable,
    trace,
)
from arena.models import SessionId
from arena.runtime import Arena
from arena.web.desk import Desk
from arena.web.handshake import NO_SUCH, POLICY, close_code, query_commands, welcome
from arena.web.limits import Bucket
from arena.web.outlet import Direct, Outlet, Queued
from arena.web.protocol import EXTENSION, STALLED, ArenaProtocol
from arena.wire import Codec

logger = logging.getLogger(__name__)

GOING_AWAY, WRONG_KIND, UNDECODABLE = 1001, 1003, 1007
MOST_BAD = 10  # undecodable frames in a row
MOST_REFUSED = 100  # frames above the rate limit in a row
AT_ONCE = 64  # commands of one connection that may be under way
FLUSH = 2.0  # seconds that the last words of a connection may take


class Slot:
    """The place of an answer among the answers: they leave in the order of the questions."""

    __slots__ = ("frame", "id", "then")

    def __init__(self) -> None:
        self.id: wire.FrameId = None
        self.frame: Mapping[str, Any] | None = None
        self.then: Callable[[], None] | None = None


class Connection:
    """One socket. Moves and talk are carried out side by side and in order; every other command waits its turn.

    An idle connection has one task, which waits for its end; what it has to do is done in tasks of the moment.
    """

    push: Callable[[bytes], None]

    def __init__(self, socket: WebSocket, arena: Arena, codec: Codec, address: str) -> None:
        self.socket = socket
        self.arena = arena
        self.desk = Desk(arena, self, auth.origin(arena.secret, address))
        self._asked: set[SessionId] = set()  # sessions that the query asked for
        self._protocol: ArenaProtocol | None = socket.scope.get("extensions", {}).get(EXTENSION)
        self._text = codec.text
        self.codec = codec if self._protocol is None else wire.FRAMED[codec.protocol]
        self.outlet: Outlet = (
            Queued(self._send_message, arena.settings.outbox_bytes)
            if self._protocol is None
            else Direct(self._protocol)
        )
        self.push = self.outlet.push
        self._bucket = Bucket(arena.settings.limit_frames_per_second)
        self._waiting: deque[tuple[Slot, wire.Command]] = deque()
        self._slots: deque[Slot] = deque()  # of commands that are not answered yet
        self._tasks: set[asyncio.Task[None]] = set()
        self._worker: asyncio.Task[None] | None = None
        self._pump: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._given_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lagging = False
        self._bad = 0
        self._refused = 0

    # The life of a connection

    async def run(self) -> None:
        """Serve the connection until either side ends it."""
        offered = bool(self.socket.scope.get("subprotocols"))
        await self.socket.accept(subprotocol=self.codec.protocol if offered else None)
        self.send(welcome(self.arena))
        try:
            if await self._follow_query():
                await self._read()
            elif self._ending is not None:
                await self._ending
        finally:
            self.desk.clear()
            self.outlet.close()
            for task in [*self._tasks, *filter(None, (self._worker, self._pump))]:
                task.cancel()

    async def _read(self) -> None:
        """Take messages as they come: straight from the socket if we can, else through ASGI."""
        if self._protocol is not None:
            self._protocol.attach(self)
        receive = self.socket.receive if self._protocol is not None else self._receive
        while (message := await receive())["type"] != "websocket.disconnect":
            text = message.get("text")
            self.take(text.encode() if text is not None else message["bytes"], text=text is not None)
            while self._is_full:
                await asyncio.wait([*self._tasks, *filter(None, [self._worker])], return_when=asyncio.FIRST_COMPLETED)
            await self.outlet.emptied()

    async def _receive(self) -> MutableMapping[str, Any]:
        """The next ASGI event; a connection that we could not even close counts as gone."""
        receiving = asyncio.ensure_future(self.socket.receive())
        events: list[asyncio.Future[Any]] = [receiving, self._given_up]
        try:
            await asyncio.wait(events, return_when=asyncio.FIRST_COMPLETED)
            return receiving.result() if receiving.done() else {"type": "websocket.disconnect"}
        finally:
            receiving.cancel()

    def end(self, code: int, reason: str) -> None:
        """Close the connection: what is under way is answered if we are going away, what is queued is sent."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(code, reason), name="connection end")

    async def _end(self, code: int, reason: str) -> None:
        if self._protocol is not None:
            self._protocol.read(False)
        for slot, _ in self._waiting:
            self._slots.remove(slot)
        self._waiting.clear()
        patience = self.arena.settings.store_patience_seconds if code == GOING_AWAY else 0
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=FLUSH + patience)
        self._send_answers()
        self.desk.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH):
                await self.outlet.emptied()
        self.outlet.close()
        self.push = lambda data: None
        if self._protocol is not None and not self.outlet.has_room:
            self._protocol.fail(code, reason)
            return
        with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            async with asyncio.timeout(FLUSH):
                await self.socket.close(code, reason)
            return
        self._given_up.set_result(None)

    def go_away(self) -> asyncio.Task[None] | None:
        """The server is about to stop."""
        self.end(GOING_AWAY, "the server is restarting")
        return self._ending

    def stalled(self) -> None:
        """The socket has taken nothing for too long."""
        if self._ending is not None:
            return
        logger.info("connection closed code=%d reason=stalled", STALLED)
        if self._protocol is not None:
            self._protocol.fail(STALLED, "the socket takes nothing")
        else:
            self.end(STALLED, "the socket takes nothing")

    # Out

    async def _send_message(self, data: bytes) -> None:
        if self._text:
            await self.socket.send_text(data.decode())
        else:
            await self.socket.send_bytes(data)

    def send(self, frame: Mapping[str, Any]) -> None:
        """Send one frame to this connection alone."""
        self.push(self.codec.encode(frame))

    @property
    def has_room(self) -> bool:
        """Whether it keeps up."""
        return self.outlet.has_room

    def stuck(self) -> None:
        """The socket takes no more for now: nothing is read from it, and it is served from the log."""
        self.outlet.stuck()
        if self._protocol is not None:
            self._protocol.read(False)
        asyncio.get_running_loop().call_soon(self.arena.hub.demote, self.desk.following.values())

    def flowing(self) -> None:
        """The socket takes more again."""
        self.outlet.flowing()
        self._ease()

    def lag(self) -> None:
        """Something for this connection waits in the log."""
        self._lagging = True
        if self._pump is None and self._ending is None:
            self._pump = asyncio.create_task(self._catch_up(), name="pump")

    def removed(self, session: SessionId) -> None:
        """A session that it followed is gone."""
        self.desk.drop(session)
        if session in self._asked:
            self.end(NO_SUCH, "the session was removed")
        else:
            gone = wire.error(NotFound("The session was removed."))
            self.send({**gone, "challengeId": session})

    async def _catch_up(self) -> None:
        """Bring what lags, one page at a time, whenever the socket has taken the last one."""
        try:
            while self._lagging:
                self._lagging = False
                try:
                    while await self._bring_all():
                        pass
                except NotFound:
                    continue  # it was removed, and its room will say so
                except StoreUnavailable:
                    await asyncio.sleep(0.5)
                    self._lagging = True
        finally:
            self._pump = None

    async def _bring_all(self) -> bool:
        moved = False
        for subscription in list(self.desk.following.values()):
            if subscription.lags:
                await self.outlet.emptied()
                moved |= await self.arena.hub.bring(subscription)
        await self.outlet.emptied()
        return await self.arena.lobby.bring(self) or moved

    # In

    def take(self, data: bytes, *, text: bool) -> None:
        """One message from the peer."""
        if self._ending is not None:
            return
        if text != self._text:
            self.end(WRONG_KIND, f"{self.codec.protocol} has {'text' if self._text else 'binary'} frames")
            return
        slot = Slot()
        self._slots.append(slot)
        try:
            wait = self._take_token()
            frame = self._decode(data)
            slot.id = wire.frame_id(frame)
            if wait > 0:
                raise RateLimited("Too many frames.", round(wait, 3))
            command = wire.parse(frame)
        except ArenaError as error:
            self._answer(slot, wire.error(error, slot.id))
            return
        if self._worker is None and isinstance(command, wire.Chat | wire.Message):
            self._start(slot, command)
        else:
            self._waiting.append((slot, command))
            if self._worker is None:
                self._worker = asyncio.create_task(self._work_through(), name="commands")
        if self._is_full and self._protocol is not None:
            self._protocol.read(False)

    @property
    def _is_full(self) -> bool:
        return len(self._slots) >= AT_ONCE

    def _ease(self) -> None:
        if self._protocol is not None and self.outlet.has_room and not self._is_full and self._ending is None:
            self._protocol.read(True)

    def _start(self, slot: Slot, command: wire.Command) -> None:
        task = asyncio.create_task(self._carry_out(slot, command), name="command")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _answer(self, slot: Slot, frame: Mapping[str, Any], then: Callable[[], None] | None = None) -> None:
        """Answer a command, once all that came before it are answered."""
        slot.frame, slot.then = frame, then
        self._send_answers()
        self._ease()

    def _send_answers(self) -> None:
        while self._slots and (frame_ := self._slots[0].frame) is not None:
            done = self._slots.popleft()
            self.send(frame_)
            if done.then is not None:
                done.then()

    async def _work_through(self) -> None:
        """Carry out what waits: a command that is neither move nor talk begins when all before it are done."""
        try:
            while self._waiting:
                await self.outlet.emptied()
                if not self._waiting:
                    return
                slot, command = self._waiting.popleft()
                if not isinstance(command, wire.Chat | wire.Message) and self._tasks:
                    await asyncio.wait(self._tasks)
                self._start(slot, command)
                if not isinstance(command, wire.Chat | wire.Message):
                    await asyncio.wait(self._tasks)
        finally:
            self._worker = None

    async def _carry_out(self, slot: Slot, command: wire.Command) -> None:
        try:
            answer = await self.desk.handle(command)
        except ArenaError as error:
            self._answer(slot, wire.error(error, slot.id))
        except Exception as error:
            logger.error("frame failed type=%s %s", command.type, trace(error))
            self._answer(slot, wire.error(Internal("Something went wrong on our side."), slot.id))
        else:
            self._answer(slot, wire.reply(slot.id, answer.result), answer.then)

    def _take_token(self) -> float:
        """Seconds that this frame is too early."""
        wait = self._bucket.take()
        self._refused = self._refused + 1 if wait > 0 else 0
        if self._refused >= MOST_REFUSED:
            self.end(POLICY, "rate limit exceeded again and again")
        return wait

    def _decode(self, data: bytes) -> dict[str, Any]:
        try:
            frame = self.codec.decode(data)
        except BadFrame:
            self._bad += 1
            if self._bad >= MOST_BAD:
                self.end(UNDECODABLE, "too many undecodable frames")
            raise
        self._bad = 0
        return frame

    async def _follow_query(self) -> bool:
        """Do what the address asked for; what it asked for in vain closes the connection."""
        try:
            for command in query_commands(self.socket):
                if isinstance(command, wire.Join):
                    self._asked.add(await self.arena.engine.session_of(command.invite))
                else:
                    self._asked.add(chat.session_of(command.challenge_id))
                answer = await self.desk.handle(command)
                self.send(wire.reply(None, answer.result))
                answer.then()
        except ArenaError as error:
            self.send(wire.error(error))
            self.end(close_code(error), error.code)
            return False
        return True
