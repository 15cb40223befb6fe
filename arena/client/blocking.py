"""The SDK for programs that know nothing of coroutines: the same calls, each of which waits."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from pydantic import JsonValue

from arena.client.arena import HERE, PATIENCE
from arena.client.arena import Arena as AsyncArena
from arena.client.feed import Ended, Event, Feed
from arena.client.feed import Watched as AsyncWatched
from arena.client.game import Game as AsyncGame
from arena.identity import Identity
from arena.models import Challenge, ChallengeMetadata, ChatMessage, RankedEntry, Score, SessionId, UserProfile

Value = TypeVar("Value")


class Arena:
    """An arena whose calls wait for their answer; the connection lives in a thread of its own."""

    def __init__(self, url: str = HERE, *, identity: Identity | None = None, patience: float = PATIENCE) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="arena link", daemon=True)
        self._arena = AsyncArena(url, identity=identity, patience=patience)

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
        doing = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return doing.result()
        except KeyboardInterrupt:
            doing.cancel()
            raise

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

    def resume(self, session: str, session_key: str) -> "Game":
        """Come back to a seat that was taken before; it hears the game from its beginning."""
        return Game(self, self.wait(self._arena.resume(session, session_key)))

    def watch(self, session: str) -> "Watched":
        """Follow a session without a seat."""
        return Watched(self, self.wait(self._arena.watch(session)))

    def challenges(self) -> dict[str, ChallengeMetadata]:
        """What can be played: rules, moves and options, by type."""
        return self.wait(self._arena.challenges())

    def sessions(
        self, challenge: str | None = None, status: Literal["open", "active", "ended"] | None = None, *, limit: int = 50
    ) -> list[Challenge]:
        """The sessions of a challenge, or of all, newest first."""
        return self.wait(self._arena.sessions(challenge, status, limit=limit))

    def leaderboard(self, challenge: str | None = None, strategy: str | None = None) -> list[RankedEntry]:
        """The top of a board, best first."""
        return self.wait(self._arena.leaderboard(challenge, strategy))

    def announce(self, invite: str) -> None:
        """Offer a seat to anybody: its invite is shown to all."""
        self.wait(self._arena.announce(invite))

    def announced(self) -> list[str]:
        """The invites that were offered to anybody, newest last."""
        return self.wait(self._arena.announced())

    def profile(self, user: str) -> UserProfile:
        """Who somebody is."""
        return self.wait(self._arena.profile(user))

    def introduce(
        self, user: str | None = None, *, username: str | None = None, model: str | None = None
    ) -> UserProfile:
        """Say who you are."""
        return self.wait(self._arena.introduce(user, username=username, model=model))


class Watched:
    """A session that is watched, whose calls wait. Iterate over it to hear what is said; it ends with the game."""

    def __init__(self, arena: Arena, feed: Feed) -> None:
        self._arena = arena
        self._feed = feed

    @property
    def id(self) -> SessionId:
        """The id of the session."""
        return self._feed.id

    @property
    def players(self) -> list[str]:
        """The handles of all players, in seat order."""
        return self._feed.players

    @property
    def ended(self) -> Ended | None:
        """How the game ended, if it has."""
        return self._feed.ended

    def seconds_left(self, player: str) -> float | None:
        """What is left on a player's clock; None if there is no limit."""
        return self._feed.seconds_left(player)

    def next(self, within: float | None = None) -> Event | None:
        """The next event; None if there is none for so many seconds."""
        return self._arena.wait(self._feed.next(within))

    def wait_for_start(self) -> None:
        """Wait until all seats are taken."""
        self._arena.wait(self._feed.wait_for_start())

    def play_out(self) -> Ended:
        """Wait for the end of the game and let everything else pass."""
        return self._arena.wait(self._feed.play_out())

    def __iter__(self) -> Iterator[ChatMessage]:
        while not self._feed.is_over or self._feed.has_more:
            event = self.next()
            if isinstance(event, ChatMessage) and not self._feed.is_own(event):
                yield event

    def leave(self) -> None:
        """Watch no more."""
        if isinstance(self._feed, AsyncWatched):
            self._arena.wait(self._feed.leave())


class Game(Watched):
    """A seat whose calls wait. Iterate over it to hear what others say to it; it ends with the game."""

    def __init__(self, arena: Arena, game: AsyncGame) -> None:
        super().__init__(arena, game)
        self._game = game
        self.info, self.seat, self.handle, self.session_key = game.info, game.seat, game.handle, game.session_key

    @property
    def private(self) -> list[ChatMessage]:
        """What the operator has told this seat alone."""
        return self._game.private

    @property
    def rivals(self) -> list[str]:
        """The handles of the other players, in seat order."""
        return self._game.rivals

    @property
    def time_left(self) -> float | None:
        """Seconds on this seat's clock; None if there is no limit."""
        return self._game.time_left

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
