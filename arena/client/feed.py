"""Feed: a session as somebody hears it, over connections that come and go; each message once and in order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from arena.client.connection import Client, Frame
from arena.models import ChallengeOperatorState, ChatMessage, SessionId, Status, UserProfile

if TYPE_CHECKING:
    from arena.client.arena import Arena


@dataclass(frozen=True, slots=True)
class Started:
    """All seats are taken: the game is on."""

    players: list[str]  # handles as they stand in `from` and `to`, in seat order


@dataclass(frozen=True, slots=True)
class Ended:
    """The game is over."""

    state: ChallengeOperatorState
    profiles: dict[str, UserProfile]


Event: TypeAlias = Started | ChatMessage | Ended


class Feed:
    """What can be heard of a session: messages, the start and the end."""

    again: ClassVar[str]  # the frame that asks a new connection for the rest

    def __init__(self, id_: SessionId, *, raw: bool = False) -> None:
        self.id = id_
        self.players: list[str] = []
        self.clocks: dict[str, Any] = {}  # milliseconds that each player has left, if there are limits, and who runs
        self.spectators = 0
        self.ended: Ended | None = None
        self.carrier: Client | None = None  # the connection that has this session
        self.recovered = True  # False once the server lost the end of its log
        self.cursors: dict[str, dict[str, Any]] = {}
        self.seen = asyncio.Event()  # set once it is known who plays, or that nobody will tell
        self._clocked_at = 0.0
        self._marks: dict[str, list[tuple[int, str, str | None]]] = {}  # by which a message is known again
        self._resumed: set[str] = set()  # channels whose history a new connection still owes us
        self._begun = asyncio.Event()
        self._status = Status.OPEN
        self._events: asyncio.Queue[Event | Exception] = asyncio.Queue()
        self._frames: asyncio.Queue[Frame | Exception] | None = asyncio.Queue() if raw else None
        self._is_over = False

    @property
    def status(self) -> Status:
        """Whether the game is open, active or ended."""
        return Status.ENDED if self.ended else self._status

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be heard."""
        return self._is_over

    @property
    def has_more(self) -> bool:
        """Whether something was heard that nobody has asked for yet."""
        return not self._events.empty()

    def seconds_left(self, player: str) -> float | None:
        """What is left on a player's clock; None if there is no limit."""
        if player not in self.clocks:
            return None
        runs = player in self.clocks.get("running", ())
        gone = time.monotonic() - self._clocked_at if runs else 0.0
        return max(0.0, float(self.clocks[player]) / 1000 - gone)

    # What can be heard

    def __aiter__(self) -> AsyncIterator[ChatMessage]:
        return self.messages()

    async def messages(self) -> AsyncIterator[ChatMessage]:
        """What is said, each message once and in order, until the end."""
        async for event in self.events():
            if isinstance(event, ChatMessage) and not self.is_own(event):
                yield event

    async def events(self) -> AsyncIterator[Event]:
        """Everything there is to know: messages, own ones included, and the start and the end of the game."""
        while self.has_more or not self._is_over:
            if (event := await self.next()) is not None:
                yield event

    async def next(self, within: float | None = None) -> Event | None:
        """The next event; None if there is none for so many seconds. Raises what ended the game too early."""
        try:
            async with asyncio.timeout(within):
                event = await self._events.get()
        except TimeoutError:
            return None
        if isinstance(event, Exception):
            self._events.put_nowait(event)  # for whoever asks again
            raise event
        return event

    async def frames(self) -> AsyncIterator[Frame]:
        """What the server says, as it says it, each message once; of what was asked for as `raw`."""
        if self._frames is None:
            raise RuntimeError("Frames are kept for what is asked for with `raw=True`.")
        while True:
            frame = await self._frames.get()
            if isinstance(frame, Exception):
                raise frame
            yield frame
            if frame["type"] == "game_ended":
                return

    async def wait_for_start(self) -> None:
        """Wait until all seats are taken; what is said meanwhile can be heard afterwards."""
        await self._begun.wait()

    async def play_out(self) -> Ended:
        """Wait for the end of the game and let everything else pass."""
        async for _ in self.events():
            pass
        if self.ended is None:
            raise RuntimeError("The game was left before it ended.")
        return self.ended

    def is_own(self, message: ChatMessage) -> bool:
        """Whether whoever listens has said it."""
        return False

    # What the link does

    def hear(self, frame: Frame) -> bool:
        """Take a frame of this session; True if messages before it are missing."""
        match frame["type"]:
            case "initial":
                return self._begin(frame)
            case "new_message":
                return self._take(frame["message"], frame["epoch"])
            case "state":
                self.clocks, self._clocked_at = frame.get("clocks", {}), time.monotonic()
                self.spectators = frame.get("spectators", 0)
                self._see(ChallengeOperatorState.from_wire(frame["state"]))
                self._pass_on(frame)
            case "game_ended" if not self._is_over:
                self._end(dict(frame["data"]))
                self._pass_on(frame)
        return False

    def back(self) -> dict[str, Any]:
        """What to ask a new connection for."""
        self._resumed = set(self.cursors)
        return {"challengeId": self.id, "cursors": self.cursors}

    def lose(self, reason: Exception) -> None:
        """Nothing more will be heard of this game."""
        if not self._is_over:
            self._close()
            self._offer(reason)
            if self._frames is not None:
                self._frames.put_nowait(reason)

    def _close(self) -> None:
        self._is_over = True
        self.seen.set()
        self._begun.set()

    def _begin(self, frame: Frame) -> bool:
        channel = frame["channel"]
        is_new = channel not in self.cursors
        is_lost = channel in self._resumed and not frame["recovered"]
        if is_lost:
            self.recovered = False
        if is_new or is_lost:
            self._pass_on(frame)
        self._resumed.discard(channel)
        gap = False
        for raw in frame["messages"]:
            gap |= self._take(raw, frame["epoch"], is_known=is_new or is_lost)
        at = self.cursors.setdefault(channel, {"index": 1, "epoch": frame["epoch"]})
        if at["index"] == frame["next"]:
            at["epoch"] = frame["epoch"]
        return gap

    def _take(self, raw: Frame, epoch: str, *, is_known: bool = False) -> bool:
        message = ChatMessage.from_wire(raw)
        at = self.cursors.setdefault(message.channel, {"index": 1, "epoch": ""})
        marks, mark = self._marks.setdefault(message.channel, []), (message.timestamp, message.from_, message.to)
        if message.index < at["index"] and marks[message.index - 1] == mark:
            return False
        if message.index > at["index"]:
            return True
        # Below the cursor it is another one than was heard there: the server has lost the end of its log and goes on.
        del marks[message.index - 1 :]
        marks.append(mark)
        at.update(index=message.index + 1, epoch=epoch)
        if not is_known:
            self._pass_on({"type": "new_message", "message": raw, "epoch": epoch})
        self._listen_to(message)
        return False

    def _listen_to(self, message: ChatMessage) -> None:
        """Keep a message for whoever asks."""
        self._offer(message)

    def _offer(self, event: Event | Exception) -> None:
        if self._frames is None:
            self._events.put_nowait(event)

    def _pass_on(self, frame: Frame) -> None:
        if self._frames is not None:
            self._frames.put_nowait(frame)

    def _see(self, state: ChallengeOperatorState) -> None:
        self._know(state)
        if state.status is Status.ACTIVE and self._status is Status.OPEN:
            self._offer(Started(self.players))
        self._status = state.status
        if state.status is not Status.OPEN:
            self._begun.set()

    def _know(self, state: ChallengeOperatorState) -> None:
        self.players = list(state.players)
        self.seen.set()

    def _end(self, data: dict[str, Any]) -> None:
        told = data.pop("profiles", {})
        profiles = {user: UserProfile.from_wire(profile) for user, profile in told.items()}
        state = ChallengeOperatorState.from_wire(data)
        self._know(state)
        self.ended = Ended(state, profiles)
        self._close()
        self._offer(self.ended)


class Watched(Feed):
    """A session that is watched: others' direct messages are `redacted`, and nobody can be spoken to."""

    again = "watch"

    def __init__(self, arena: Arena, id_: SessionId, *, raw: bool = False) -> None:
        super().__init__(id_, raw=raw)
        self.arena = arena

    async def leave(self) -> None:
        """Watch no more."""
        await self.arena.leave(self)
