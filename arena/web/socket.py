"""The WebSocket door: agents play through it, spectators watch through it. Speaks `arena.v1`."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from arena import auth, chat, wire
from arena.auth import Credential
from arena.errors import ArenaError, BadFrame, NotFound, RateLimited, trace
from arena.models import SessionId
from arena.runtime import Arena
from arena.web.desk import Answer, Desk
from arena.web.docket import Docket
from arena.web.handshake import NO_SUCH, POLICY, close_code, query_commands, welcome
from arena.web.http import bearer_of
from arena.web.limits import Bucket
from arena.web.outlet import Direct, Outlet, Queued, nowhere
from arena.web.protocol import EXTENSION, STALLED, ArenaProtocol
from arena.web.pump import Pump
from arena.wire import Codec

logger = logging.getLogger(__name__)

GOING_AWAY, WRONG_KIND, UNDECODABLE, BROKEN = 1001, 1003, 1007, 1011
MOST_BAD = 10  # undecodable frames in a row
MOST_REFUSED = 100  # frames above the rate limit in a row
FLUSH = 2.0  # seconds that the last words of a connection may take


class Connection:
    """One socket. While nothing happens it has no task, unless ASGI is all there is; then one waits for its end."""

    __slots__ = (
        "_asked",
        "_bad",
        "_bucket",
        "_context",
        "_docket",
        "_ending",
        "_given_up",
        "_loop",
        "_protocol",
        "_pump",
        "_refused",
        "_socket",
        "_text",
        "arena",
        "codec",
        "desk",
        "outlet",
        "push",
    )

    def __init__(self, socket: WebSocket, arena: Arena, codec: Codec, address: str) -> None:
        self.arena = arena
        shown = auth.viewer_of(arena.ring, Credential(bearer=bearer_of(socket.scope["headers"])))
        self.desk = Desk(arena, self, auth.origin(arena.secret, address), shown)
        self._asked: tuple[SessionId, ...] = ()  # sessions that the query asked for
        self._loop = asyncio.get_running_loop()
        self._text = codec.text
        self._protocol: ArenaProtocol | None = socket.scope.get("extensions", {}).get(EXTENSION)
        self._socket = socket if self._protocol is None else None
        self._given_up = self._loop.create_future() if self._protocol is None else None
        self.codec = codec if self._protocol is None else wire.FRAMED[codec.protocol]
        self.outlet: Outlet = (
            Queued(self._send_message, arena.settings.outbox_bytes)
            if self._protocol is None
            else Direct(self._protocol)
        )
        self.push: Callable[[bytes], None] = self.outlet.push
        self._context = copy_context()  # log lines of what is done for this connection have its id
        self._bucket = Bucket(arena.settings.limit_frames_per_second)
        self._docket = Docket(self, self._context)
        self._pump = Pump(self._bring_all, self._context)
        self._ending: asyncio.Task[None] | None = None
        self._bad = 0
        self._refused = 0

    # The life of a connection

    async def run(self, socket: WebSocket) -> None:
        """Begin; over plain ASGI, serve until either side ends it. Otherwise that is done by calls of the protocol."""
        offered = bool(socket.scope.get("subprotocols"))
        await socket.accept(subprotocol=self.codec.protocol if offered else None)
        self.send(welcome(self.arena))
        self._docket.begin(lambda: self._follow_query(socket))
        if self._protocol is not None:
            self._protocol.attach(self)
            return
        try:
            await self._read(socket)
        finally:
            self.over()

    async def _read(self, socket: WebSocket) -> None:
        """Take messages as they come through ASGI."""
        while (message := await self._receive(socket))["type"] != "websocket.disconnect":
            text = message.get("text")
            self.take(text.encode() if text is not None else message["bytes"], text=text is not None)
            while self._docket.is_full:
                await self._docket.progress()
            await self.outlet.emptied()

    async def _receive(self, socket: WebSocket) -> MutableMapping[str, Any]:
        """The next ASGI event; a connection that we could not even close counts as gone."""
        receiving = asyncio.ensure_future(socket.receive())
        events: list[asyncio.Future[Any]] = [receiving, *filter(None, [self._given_up])]
        try:
            await asyncio.wait(events, return_when=asyncio.FIRST_COMPLETED)
            return receiving.result() if receiving.done() else {"type": "websocket.disconnect"}
        finally:
            receiving.cancel()

    def over(self) -> None:
        """Nothing more is heard or said: whoever has something for us goes on."""
        self.desk.clear()
        self.outlet.drop()
        self.push = self.outlet.push
        self._pump.stop()
        self._docket.cancel()

    def end(self, code: int, reason: str) -> None:
        """Close the connection: what is under way is answered if we are going away, what is queued is sent."""
        if self._ending is None:
            self._docket.refuse()
            end = self._end(code, reason)
            self._ending = asyncio.create_task(end, name="connection end", context=self._context)

    async def _end(self, code: int, reason: str) -> None:
        if self._protocol is not None:
            self._protocol.read(False)
        patience = self.arena.settings.store_patience_seconds if code == GOING_AWAY else 0
        await self._docket.finish(FLUSH + patience)
        self._docket.send_answers()
        self.desk.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH):
                await self.outlet.emptied()
        self.outlet.close()
        self.push = nowhere
        if self._protocol is not None:
            farewell = self._protocol.close if self.outlet.has_room else self._protocol.fail
            farewell(code, reason)
        elif self._socket is not None and self._given_up is not None:
            with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
                async with asyncio.timeout(FLUSH):
                    await self._socket.close(code, reason)
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
        self._context.run(logger.info, "connection closed code=%d reason=stalled", STALLED)
        if self._protocol is not None:
            self._protocol.fail(STALLED, "the socket takes nothing")
        else:
            self.end(STALLED, "the socket takes nothing")

    # Out

    async def _send_message(self, data: bytes) -> None:
        if self._socket is None:
            return
        if self._text:
            await self._socket.send_text(data.decode())
        else:
            await self._socket.send_bytes(data)

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
        self._loop.call_soon(self.arena.hub.demote, self.desk.following.values())

    def flowing(self) -> None:
        """The socket takes more again."""
        self.outlet.flowing()
        self.ease()

    async def emptied(self) -> None:
        """Wait until the socket has taken what there was."""
        await self.outlet.emptied()

    def lag(self) -> None:
        """Something for this connection waits in the log."""
        if self._ending is None:
            self._pump.start()

    def seated(self) -> None:
        """A player gets replies and news at the same moment: one write for both."""
        self.outlet.gather()
        self.push = self.outlet.push

    def removed(self, session: SessionId) -> None:
        """A session that it followed is gone."""
        self.desk.drop(session)
        if session in self._asked:
            self.end(NO_SUCH, "the session was removed")
        else:
            gone = wire.error(NotFound("The session was removed."))
            self.send({**gone, "challengeId": session})

    async def _bring_all(self) -> bool:
        """Bring what lags, one page at a time, whenever the socket has taken the last one."""
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
        slot = self._docket.open()
        try:
            wait = self._take_token()
            frame = self._decode(data)
            slot.id = wire.frame_id(frame)
            if wait > 0:
                self.arena.leases.refused("frames")
                raise RateLimited("Too many frames.", round(wait, 3))
            command = wire.parse(frame)
        except ArenaError as error:
            self._docket.answer(slot, wire.error(error, slot.id))
            return
        self._docket.take(slot, command)
        if self._protocol is not None and self._docket.is_full:
            self._protocol.read(False)

    def carry_out(self, command: wire.Command) -> Awaitable[Answer]:
        """Do what a command says."""
        return self.desk.handle(command)

    def ease(self) -> None:
        """Read on, if there is room for more."""
        if self._protocol is not None and self.outlet.has_room and not self._docket.is_full and self._ending is None:
            self._protocol.read(True)

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

    async def _follow_query(self, socket: WebSocket) -> None:
        """Do what the address asked for; what it asked for in vain closes the connection."""
        try:
            for command in query_commands(socket, signed=self.arena.ring.required):
                if isinstance(command, wire.Join):
                    asked = await self.arena.engine.session_of(command.invite)
                else:
                    asked = chat.session_of(command.challenge_id)
                self._asked = (*self._asked, asked)
                answer = await self.desk.handle(command)
                self.send(wire.reply(None, answer.result))
                answer.then()
        except ArenaError as error:
            self.send(wire.error(error))
            self.end(close_code(error), error.code)
        except Exception as error:
            logger.error("connection failed %s", trace(error))
            self.end(BROKEN, "something went wrong on our side")
