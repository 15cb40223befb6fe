"""Game: one seat, from its first private message to the scores."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import JsonValue

from arena.chat import may_read, player_channel
from arena.client.connection import Client, Frame, new_key
from arena.models import ChallengeMetadata, ChallengeOperatorState, ChatMessage, Score, SessionId, Status, UserProfile

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


class Game:
    """A seat in a session. Iterate over it to hear what others say to it; it ends with the game."""

    def __init__(self, arena: Arena, told: Frame, invite: str, *, raw: bool = False) -> None:
        self.arena = arena
        self.told = told  # the answer to `join` or `resume`, as it came
        self.id = SessionId(told["ChallengeID"])
        self.info = ChallengeMetadata.from_wire(told["ChallengeInfo"])  # name, prompt and methods of the challenge
        self.seat: int = told["playerIndex"]
        self.session_key: str = told["sessionKey"]
        self.handle = invite  # what others see in `from`
        self.players: list[str] = []
        self.clocks: dict[str, Any] = {}  # what each player has left, if there are limits
        self._clocked_at = 0.0  # when that was so
        self.ended: Ended | None = None
        self.carrier: Client | None = None  # the connection that has this seat
        self.recovered = True  # False once the server lost the end of its log
        self.cursors: dict[str, dict[str, Any]] = {}
        self._resumed: set[str] = set()  # channels whose history a new connection still owes us
        self._status = Status.OPEN
        self._events: asyncio.Queue[Event | Exception] = asyncio.Queue()
        self._frames: asyncio.Queue[Frame | Exception] | None = asyncio.Queue() if raw else None
        self._is_over = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be heard."""
        return self._is_over

    @property
    def has_more(self) -> bool:
        """Whether something was heard that nobody has asked for yet."""
        return not self._events.empty()

    @property
    def score(self) -> Score | None:
        """What this seat got, after the end."""
        return self.ended.state.scores[self.seat] if self.ended else None

    @property
    def is_on_clock(self) -> bool:
        """Whether this seat's time is running."""
        return self.handle in self.clocks.get("running", ())

    @property
    def time_left(self) -> float | None:
        """The seconds that this seat has left; none if there is no limit."""
        left = self.clocks.get(self.handle)
        if left is None:
            return None
        return float(left) / 1000 - (time.monotonic() - self._clocked_at if self.is_on_clock else 0)

    # What a player does

    async def act(self, type: str, content: JsonValue = "", *, key: str | None = None) -> None:
        """Make a move; raises `Refused` if the operator does not take it. Anything but text is sent as JSON."""
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        await self.arena.play(
            self, "message", challengeId=self.id, messageType=type, content=text, key=key or new_key()
        )

    async def say(self, content: str, to: str | None = None, *, key: str | None = None) -> None:
        """Talk to the players, or to one of them alone."""
        channel = player_channel(self.id)
        await self.arena.play(self, "chat", channel=channel, content=content, to=to, key=key or new_key())

    async def resign(self) -> None:
        """Give the game up."""
        await self.act("resign")

    # What a player hears

    def __aiter__(self) -> AsyncIterator[ChatMessage]:
        return self.messages()

    async def messages(self) -> AsyncIterator[ChatMessage]:
        """What others say that this seat may read, each once and in order, until the end."""
        async for event in self.events():
            if isinstance(event, ChatMessage) and event.from_ != self.handle:
                yield event

    async def events(self) -> AsyncIterator[Event]:
        """Everything this seat may know: messages, own ones included, and the start and the end of the game."""
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
        """What the server says to this seat, as it says it, each message once; of seats that were taken as `raw`."""
        if self._frames is None:
            raise RuntimeError("Frames are kept for seats that are taken with `raw=True`.")
        while True:
            frame = await self._frames.get()
            if isinstance(frame, Exception):
                raise frame
            yield frame
            if frame["type"] == "game_ended":
                return

    async def play_out(self) -> Ended:
        """Wait for the end of the game and let everything else pass."""
        async for _ in self.events():
            pass
        if self.ended is None:
            raise RuntimeError("The game was left before it ended.")
        return self.ended

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
                self._see(ChallengeOperatorState.from_wire(frame["state"]))
                self._pass_on(frame)
            case "game_ended" if not self._is_over:
                self._end(dict(frame["data"]))
                self._pass_on(frame)
        return False

    def back(self) -> dict[str, Any]:
        """What to ask a new connection for."""
        self._resumed = set(self.cursors)
        return {"challengeId": self.id, "sessionKey": self.session_key, "cursors": self.cursors}

    def lose(self, reason: Exception) -> None:
        """Nothing more will be heard of this game."""
        if not self._is_over:
            self._is_over = True
            self._offer(reason)
            if self._frames is not None:
                self._frames.put_nowait(reason)

    def _begin(self, frame: Frame) -> bool:
        channel, known = frame["channel"], self.cursors.get(frame["channel"])
        if known is None:
            self._pass_on(frame)
        elif channel in self._resumed and not frame["recovered"]:
            self.recovered = False
            known["index"] = min(known["index"], frame["next"])
            self._pass_on(frame)
        self._resumed.discard(channel)
        gap = False
        for raw in frame["messages"]:
            gap |= self._take(raw, frame["epoch"], is_known=known is None)
        at = self.cursors.setdefault(channel, {"index": 1, "epoch": frame["epoch"]})
        if at["index"] == frame["next"]:
            at["epoch"] = frame["epoch"]
        return gap

    def _take(self, raw: Frame, epoch: str, *, is_known: bool = False) -> bool:
        message = ChatMessage.from_wire(raw)
        at = self.cursors.setdefault(message.channel, {"index": 1, "epoch": ""})
        if message.index < at["index"]:
            return False
        if message.index > at["index"]:
            return True
        at.update(index=message.index + 1, epoch=epoch)
        if not is_known:
            self._pass_on({"type": "new_message", "message": raw, "epoch": epoch})
        if not message.redacted and may_read(message.from_, message.to, self.handle):
            self._offer(message)
        return False

    def _offer(self, event: Event | Exception) -> None:
        if self._frames is None:
            self._events.put_nowait(event)

    def _pass_on(self, frame: Frame) -> None:
        if self._frames is not None:
            self._frames.put_nowait(frame)

    def _see(self, state: ChallengeOperatorState) -> None:
        self.players = list(state.players)
        if state.status is Status.ACTIVE and self._status is Status.OPEN:
            self._offer(Started(self.players))
        self._status = state.status

    def _end(self, data: dict[str, Any]) -> None:
        told = data.pop("profiles", {})
        profiles = {user: UserProfile.from_wire(profile) for user, profile in told.items()}
        state = ChallengeOperatorState.from_wire(data)
        self.players = list(state.players)
        self.ended = Ended(state, profiles)
        self._is_over = True
        self._offer(self.ended)
