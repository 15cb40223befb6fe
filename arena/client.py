"""Client: a guest of the arena over WebSocket, like any player."""

import asyncio
import itertools
import secrets
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from arena.bots import Bot, Move, Moves, Talk
from arena.chat import may_read, player_channel
from arena.errors import Refused, StoreUnavailable
from arena.models import ChatMessage, SessionId
from arena.wire import JSON, Codec

Frame = dict[str, Any]
RESEND = 0.5  # seconds before a move is sent again to a server whose store is away
Pause = Callable[[], Awaitable[None]]


async def at_once() -> None:
    """The pause of a bot that is in a hurry."""


class Client:
    """A connection: `call` waits for the answer to a frame, `hear` for the next frame that nobody asked for."""

    def __init__(self, socket: ClientConnection, codec: Codec) -> None:
        self.socket = socket
        self.codec = codec
        self.welcome: Frame = {}
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Frame]] = {}
        self._heard: asyncio.Queue[Frame | None] = asyncio.Queue()

    async def call(self, type: str, **fields: Any) -> Frame:
        """Send a frame and wait for what comes of it; raises `Refused` with the server's code."""
        id_ = next(self._ids)
        answer = self._answers[id_] = asyncio.get_running_loop().create_future()
        try:
            given = {name: value for name, value in fields.items() if value is not None}
            await self.send({"type": type, "id": id_, **given})
            frame = await answer
        finally:
            del self._answers[id_]
        if frame["type"] == "error":
            raise Refused(frame["code"], frame["error"])
        result: Frame = frame["result"]
        return result

    async def send(self, frame: Mapping[str, Any]) -> None:
        """Send a frame as it is."""
        data = self.codec.encode(frame)
        await self.socket.send(data.decode() if self.codec.text else data)

    async def hear(self) -> Frame:
        """The next frame that nobody asked for; raises `ConnectionError` when there will be no more."""
        frame = await self._heard.get()
        if frame is None:
            self._heard.put_nowait(None)
            raise ConnectionError(f"closed with {self.socket.close_code}")
        return frame

    async def listen(self) -> None:
        """Sort what comes in, until the connection ends."""
        try:
            async for data in self.socket:
                frame = self.codec.decode(data.encode() if isinstance(data, str) else data)
                answer = self._answers.get(frame.get("id", 0)) if frame["type"] in {"reply", "error"} else None
                if answer is not None and not answer.done():
                    answer.set_result(frame)
                else:
                    self._heard.put_nowait(frame)
        finally:
            self._heard.put_nowait(None)
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(ConnectionError(f"closed with {self.socket.close_code}"))


@asynccontextmanager
async def client(url: str, codec: Codec = JSON) -> AsyncIterator[Client]:
    """Connect to an arena: `url` is that of its `/ws`."""
    protocol = Subprotocol(codec.protocol)
    async with connect(url, subprotocols=[protocol], max_size=None, compression=None, proxy=None) as socket:
        guest = Client(socket, codec)
        listening = asyncio.create_task(guest.listen(), name="client")
        try:
            guest.welcome = await guest.hear()
            yield guest
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


async def play(url: str, invite: str, bot: Bot, user: str | None = None, pause: Pause = at_once) -> Frame:
    """Let a bot play a game over a connection of its own, with a pause before each move.

    Returns what `game_ended` said.
    """
    async with client(url) as guest:
        joined = await guest.call("join", invite=invite, userId=user)
        session = SessionId(joined["ChallengeID"])
        begun = False
        while True:
            frame = await guest.hear()
            match frame["type"]:
                case "initial":
                    messages = [ChatMessage.model_validate(message) for message in frame["messages"]]
                case "new_message":
                    messages = [ChatMessage.model_validate(frame["message"])]
                case "game_ended":
                    data: Frame = frame["data"]
                    return data
                case "state" if frame["state"]["status"] == "active" and not begun:
                    begun = True
                    await _make(guest, session, pause, bot, bot.begin(invite, frame["state"]["players"]))
                    continue
                case _:
                    continue
            for message in messages:
                if may_read(message.from_, message.to, invite):
                    await _make(guest, session, pause, bot, bot.hear(message))


async def _make(guest: Client, session: SessionId, pause: Pause, bot: Bot, moves: Moves) -> None:
    waiting = deque(moves)
    while waiting:
        move = waiting.popleft()
        await pause()
        try:
            await _send(guest, session, move)
        except Refused as refusal:
            waiting.extendleft(reversed([*bot.refused(move, refusal.code)]))


async def _send(guest: Client, session: SessionId, move: Move | Talk) -> None:
    """Make a move once, however often it has to be sent while the store is away."""
    key = secrets.token_hex(8)
    while True:
        try:
            if isinstance(move, Move):
                await guest.call("message", challengeId=session, messageType=move.type, content=move.content, key=key)
            else:
                await guest.call("chat", channel=player_channel(session), content=move.content, to=move.to, key=key)
        except Refused as refusal:
            if refusal.code != StoreUnavailable.code:
                raise
            await asyncio.sleep(RESEND)
        else:
            return
