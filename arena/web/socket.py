"""The WebSocket door: agents play through it, spectators watch through it. Speaks `arena.v1`."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from arena import auth, chat, wire
from arena.errors import (
    ArenaError,
    BadFrame,
    Internal,
    InviteAlreadyUsed,
    NotFound,
    RateLimited,
    StoreUnavailable,
    Unauthorized,
    trace,
)
from arena.models import SessionId
from arena.runtime import Arena
from arena.web.desk import Desk
from arena.web.limits import Bucket
from arena.web.outlet import Outlet
from arena.web.protocol import EXTENSION, STALLED, ArenaProtocol
from arena.wire import CODECS, JSON, Codec

logger = logging.getLogger(__name__)

GOING_AWAY, WRONG_KIND, UNDECODABLE, POLICY, NO_STORE = 1001, 1003, 1007, 1008, 1013
BAD_KEY, NO_SUCH, TAKEN = 4401, 4404, 4409
MOST_BAD = 10  # undecodable frames in a row
MOST_REFUSED = 100  # frames above the rate limit in a row
FLUSH = 2.0  # seconds that the last words of a connection may take


class Closed(Exception):
    """The connection is to end, with this code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Connection(Outlet):
    """One socket: the seats it holds, the sessions it follows."""

    def __init__(self, socket: WebSocket, arena: Arena, codec: Codec, address: str) -> None:
        super().__init__(self._send_frame, codec, arena.settings.outbox_bytes)
        self.socket = socket
        self.arena = arena
        self.desk = Desk(arena, self, auth.origin(arena.secret, address))
        self.asked: set[SessionId] = set()  # sessions that the query asked for
        self._protocol: ArenaProtocol | None = socket.scope.get("extensions", {}).get(EXTENSION)
        self._lagging = asyncio.Event()
        self._ending: asyncio.Future[Closed] = asyncio.get_running_loop().create_future()
        self._bucket = Bucket(arena.settings.limit_frames_per_second)
        self._bad = 0
        self._refused = 0
        self._busy = False  # with a frame
        self._draining = False  # takes no more frames

    # The life of a connection

    async def run(self) -> None:
        """Serve the connection until either side ends it."""
        await self.socket.accept(subprotocol=self.socket_protocol)
        self.send(welcome(self.arena))
        if self._protocol is not None:
            self._protocol.on_shutdown = lambda: self.end(GOING_AWAY, "the server is restarting")
        tasks = [
            asyncio.create_task(work, name=name)
            for name, work in {"writer": self.write(), "reader": self._read(), "pump": self._catch_up()}.items()
        ]
        if stall := self.arena.settings.limit_stall_seconds:
            tasks.append(asyncio.create_task(self._watch(stall), name="stall watch"))
        try:
            await self._until_done(tasks)
        finally:
            self.desk.clear()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def socket_protocol(self) -> str | None:
        """The subprotocol to answer with: none if none was offered."""
        return self.codec.protocol if self.socket.scope.get("subprotocols") else None

    async def _until_done(self, tasks: list[asyncio.Task[None]]) -> None:
        writer, reader = tasks[:2]
        waiting: list[asyncio.Future[Any]] = [*tasks, self._ending]
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if self._ending.done():
            closed = self._ending.result()
            reader.cancel() if closed.code != GOING_AWAY else await self._finish_frame(reader)
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH):
                    await self.emptied()
            await self._close(closed, writer)
            return
        for task in tasks:
            error = task.exception() if task in done and not task.cancelled() else None
            if error is not None and not isinstance(error, WebSocketDisconnect):
                logger.error("connection failed task=%s %s", task.get_name(), trace(error))

    async def _finish_frame(self, reader: asyncio.Task[None]) -> None:
        """Let the reader answer the frame it is working on, and take no other."""
        self._draining = True
        if not self._busy:
            reader.cancel()
        await asyncio.wait([reader], timeout=FLUSH + self.arena.settings.store_patience_seconds)

    async def _close(self, closed: Closed, writer: asyncio.Task[None]) -> None:
        writer.cancel()
        if self._protocol is not None and self._protocol.buffered:
            self._protocol.fail(closed.code, closed.reason)
            return
        with suppress(Exception):
            await self.socket.close(closed.code, closed.reason)

    def end(self, code: int, reason: str) -> None:
        """Close the connection after what is queued is sent."""
        if not self._ending.done():
            self._ending.set_result(Closed(code, reason))

    async def _watch(self, stall: float) -> None:
        await self.watch(stall, self._protocol)
        logger.info("connection closed code=%d reason=stalled", STALLED)
        if self._protocol is not None:
            self._protocol.fail(STALLED, "the socket takes nothing")
        else:
            self.end(STALLED, "the socket takes nothing")

    # Out

    async def _send_frame(self, data: bytes) -> None:
        if self.codec.text:
            await self.socket.send_text(data.decode())
        else:
            await self.socket.send_bytes(data)

    def send(self, frame: Mapping[str, Any], *, reply: bool = False) -> None:
        """Queue one frame for this connection alone."""
        self.push(self.codec.encode(frame), reply=reply)

    def lag(self) -> None:
        """Something for this connection waits in the log."""
        self._lagging.set()

    def removed(self, session: SessionId) -> None:
        """A session that it followed is gone."""
        self.desk.drop(session)
        if session in self.asked:
            self.end(NO_SUCH, "the session was removed")
        else:
            gone = wire.error(NotFound("The session was removed."))
            self.send({**gone, "challengeId": session})

    async def _catch_up(self) -> None:
        """Bring what lags, one page at a time, whenever the socket has taken the last one."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0 if self._lags else None):
                    await self._lagging.wait()
            self._lagging.clear()
            try:
                while await self._bring_all():
                    pass
            except NotFound:
                continue  # it was removed, and its room will say so
            except StoreUnavailable:
                await asyncio.sleep(0.5)
                self._lagging.set()

    @property
    def _lags(self) -> bool:
        return any(subscription.behind for subscription in self.desk.following.values())

    async def _bring_all(self) -> bool:
        moved = False
        for subscription in list(self.desk.following.values()):
            if subscription.lags:
                await self.emptied()
                moved |= await self.arena.hub.bring(subscription)
        await self.emptied()
        return await self.arena.lobby.bring(self) or moved

    # In

    async def _read(self) -> None:
        if not await self._follow_query():
            return
        while not self._draining:
            message = await self.socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            self._busy = True
            await self._take(message)
            await self.replied()
            self._busy = False

    async def _take(self, message: Mapping[str, Any]) -> None:
        text = message.get("text")
        if (text is not None) != self.codec.text:
            self.end(WRONG_KIND, f"{self.codec.protocol} has {'text' if self.codec.text else 'binary'} frames")
            return
        data: bytes = text.encode() if text is not None else message["bytes"]
        id_: wire.FrameId = None
        try:
            wait = self._take_token()
            frame = self._decode(data)
            id_ = wire.frame_id(frame)
            if wait > 0:
                raise RateLimited("Too many frames.", round(wait, 3))
            answer = await self.desk.handle(wire.parse(frame))
        except ArenaError as error:
            self.send(wire.error(error, id_), reply=True)
        except Exception as error:
            logger.error("frame failed %s", trace(error))
            self.send(wire.error(Internal("Something went wrong on our side."), id_), reply=True)
        else:
            self.send(wire.reply(id_, answer.result), reply=True)
            answer.then()

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
                    self.asked.add(await self.arena.engine.session_of(command.invite))
                else:
                    self.asked.add(chat.session_of(command.challenge_id))
                answer = await self.desk.handle(command)
                self.send(wire.reply(None, answer.result), reply=True)
                answer.then()
        except ArenaError as error:
            self.send(wire.error(error))
            self.end(close_code(error), error.code)
            return False
        return True


def choose_codec(socket: WebSocket) -> Codec | None:
    """The codec of the first subprotocol we know; JSON if none is offered, none if only strange ones are."""
    offered = socket.scope.get("subprotocols") or []
    if not offered:
        return JSON
    return next((CODECS[protocol] for protocol in offered if protocol in CODECS), None)


def query_commands(socket: WebSocket) -> list[wire.Join | wire.Resume | wire.Watch]:
    """What the address asks for."""
    # Cut to the longest that a frame may say, which no name of ours reaches: more is unknown, not invalid.
    query = {name: value[:64] if name != "key" else value[:256] for name, value in socket.query_params.items()}
    commands = list[wire.Join | wire.Resume | wire.Watch]()
    scheme, _, bearer = socket.headers.get("authorization", "").partition(" ")
    key = bearer[:256] if scheme.lower() == "bearer" else query.get("key")
    if "challenge" in query or "key" in query:
        if not key or "challenge" not in query:
            raise Unauthorized("A session key and a challenge are needed.")
        frame = {"type": "resume", "challengeId": query["challenge"], "sessionKey": key}
        commands.append(wire.as_command(wire.Resume, frame))
    if "invite" in query:
        commands.append(wire.as_command(wire.Join, {"type": "join", "invite": query["invite"]}))
    if "watch" in query:
        commands.append(wire.as_command(wire.Watch, {"type": "watch", "challengeId": query["watch"]}))
    return commands


def close_code(error: ArenaError) -> int:
    """How a connection ends whose address asked for something in vain."""
    match error:
        case Unauthorized():
            return BAD_KEY
        case NotFound():
            return NO_SUCH
        case InviteAlreadyUsed():
            return TAKEN
        case StoreUnavailable():
            return NO_STORE
        case _:
            return POLICY


def welcome(arena: Arena) -> dict[str, Any]:
    """The first frame of every connection."""
    limits = arena.settings.announced
    time = arena.clock.now()
    return {"type": "welcome", "protocol": "arena.v1", "server": arena.settings.server, "time": time, "limits": limits}
