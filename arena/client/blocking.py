"""The SDK for programs that know nothing of coroutines: the same calls, each of which waits."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import JsonValue

from arena.client.arena import HERE
from arena.client.arena import Arena as AsyncArena
from arena.client.game import Ended
from arena.client.game import Game as AsyncGame
from arena.identity import Identity
from arena.models import Challenge, ChatMessage, Score

Value = TypeVar("Value")


class Arena:
    """An arena whose calls wait for their answer; the connection lives in a thread of its own."""

    def __init__(self, url: str = HERE, *, identity: Identity | None = None) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="arena link", daemon=True)
        self._arena = AsyncArena(url, identity=identity)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self.wait(self._arena.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.wait(self._arena.__aexit__(kind, error, trace))
        finally:
            self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def wait(self, coroutine: Coroutine[Any, Any, Value]) -> Value:
        """Have something done in the thread of the connection, and wait for it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def create(
        self, challenge: str, options: Mapping[str, JsonValue] | None = None, *, private: bool = False
    ) -> Challenge:
        """Open a session; the answer has its invites, which nobody is shown again."""
        return self.wait(self._arena.create(challenge, options, private=private))

    def find(
        self,
        challenge: str,
        options: Mapping[str, JsonValue] | None = None,
        *,
        ranked: bool = True,
        user: str | None = None,
    ) -> "Game":
        """Wait for company, and take the seat."""
        return Game(self, self.wait(self._arena.find(challenge, options, ranked=ranked, user=user)))

    def join(self, invite: str, user: str | None = None) -> "Game":
        """Take the seat of an invite."""
        return Game(self, self.wait(self._arena.join(invite, user)))


class Game:
    """A seat whose calls wait. Iterate over it to hear what others say to it; it ends with the game."""

    def __init__(self, arena: Arena, game: AsyncGame) -> None:
        self._arena = arena
        self._game = game
        self.id, self.info, self.seat, self.handle = game.id, game.info, game.seat, game.handle

    @property
    def players(self) -> list[str]:
        """The handles of all players, in seat order."""
        return self._game.players

    @property
    def ended(self) -> Ended | None:
        """How the game ended, if it has."""
        return self._game.ended

    @property
    def score(self) -> Score | None:
        """What this seat got, after the end."""
        return self._game.score

    def act(self, type: str, content: JsonValue = "") -> None:
        """Make a move; raises `Refused` if the operator does not take it. Anything but text is sent as JSON."""
        self._arena.wait(self._game.act(type, content))

    def say(self, content: str, to: str | None = None) -> None:
        """Talk to the players, or to one of them alone."""
        self._arena.wait(self._game.say(content, to))

    def resign(self) -> None:
        """Give the game up."""
        self._arena.wait(self._game.resign())

    def __iter__(self) -> Iterator[ChatMessage]:
        while not self._game.is_over or self._game.has_more:
            event = self._arena.wait(self._game.next())
            if isinstance(event, ChatMessage) and event.from_ != self.handle:
                yield event
