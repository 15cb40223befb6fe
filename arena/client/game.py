"""Game: one seat, from its first private message to the scores."""

from __future__ import annotations

import json
from typing import Any, Protocol

from pydantic import JsonValue

from arena.chat import may_read, player_channel
from arena.client.connection import Frame, new_key
from arena.client.feed import Feed
from arena.models import OPERATOR, ChallengeMetadata, ChallengeOperatorState, ChatMessage, Score, SessionId


class Carrier(Protocol):
    """What brings the moves of a seat to the server."""

    async def play(self, game: Game, type: str, **fields: Any) -> Frame:
        """Send a frame from the seat of a game, until it is answered."""


class Game(Feed):
    """A seat in a session. Iterate over it to hear what others say to it; it ends with the game."""

    again = "resume"

    def __init__(self, arena: Carrier, told: Frame, invite: str, *, raw: bool = False) -> None:
        super().__init__(SessionId(told["ChallengeID"]), raw=raw)
        self.arena = arena
        self.told = told  # the answer to `join` or `resume`, as it came
        self.info = ChallengeMetadata.from_wire(told["ChallengeInfo"])  # name, prompt and methods of the challenge
        self.seat: int = told["playerIndex"]
        self.session_key: str = told["sessionKey"]
        self.handle = invite  # what others see in `from`
        self.private: list[ChatMessage] = []  # what the operator has told this seat alone

    @property
    def score(self) -> Score | None:
        """What this seat got, after the end."""
        return self.ended.state.scores[self.seat] if self.ended else None

    @property
    def rivals(self) -> list[str]:
        """The handles of the other players, in seat order."""
        return [player for player in self.players if player != self.handle]

    @property
    def time_left(self) -> float | None:
        """Seconds on this seat's clock; None if there is no limit."""
        return self.seconds_left(self.handle)

    @property
    def is_on_clock(self) -> bool:
        """Whether this seat's time is running."""
        return self.handle in self.clocks.get("running", ())

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

    def is_own(self, message: ChatMessage) -> bool:
        """Whether this seat has said it."""
        return message.from_ == self.handle

    # What the link does

    def back(self) -> dict[str, Any]:
        """What to ask a new connection for."""
        return {**super().back(), "sessionKey": self.session_key}

    def _listen_to(self, message: ChatMessage) -> None:
        """Keep what this seat may read; after the end others' private messages can be read too, which is no news."""
        if message.redacted or (self.handle and not may_read(message.from_, message.to, self.handle)):
            return
        if message.from_ == OPERATOR and message.to:
            self.private.append(message)
        self._offer(message)

    def _know(self, state: ChallengeOperatorState) -> None:
        self.handle = self.handle or state.players[self.seat]
        super()._know(state)
