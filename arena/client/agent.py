"""Agent: handlers for what happens in a game; a handful of functions, or a class with a memory."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from arena.client.arena import HERE, Arena
from arena.client.feed import Ended, Started
from arena.client.game import Game
from arena.identity import Identity
from arena.models import ChatMessage

Name = Literal["start", "message", "end"]
Handler = TypeVar("Handler", bound=Callable[..., Any])


class Agent:
    """A player made of handlers, which may be coroutines or plain functions.

    Functions are registered with `@agent.on("message")`. An agent with a memory subclasses this and overrides
    `start`, `message` and `end`; make a new one for every game.
    """

    def __init__(self, user: str | None = None, identity: Identity | None = None) -> None:
        self.user = user
        self.identity = identity
        self._handlers: dict[str, list[Callable[..., Any]]] = {"start": [], "message": [], "end": []}

    def on(self, name: Name) -> Callable[[Handler], Handler]:
        """Have a function called: `start(game)`, `message(game, message)` or `end(game)`."""
        if name not in self._handlers:
            raise ValueError(f"An agent hears start, message and end, not {name!r}.")

        def register(handler: Handler) -> Handler:
            self._handlers[name].append(handler)
            return handler

        return register

    async def start(self, game: Game) -> None:
        """All seats are taken."""
        await self._tell("start", game)

    async def message(self, game: Game, message: ChatMessage) -> None:
        """Somebody else said something that this seat may read; the private data of the game comes this way too."""
        await self._tell("message", game, message)

    async def end(self, game: Game) -> None:
        """The game is over; `game.score` is this seat's."""
        await self._tell("end", game)

    async def _tell(self, name: Name, *what: Any) -> None:
        for handler in self._handlers[name]:
            told = handler(*what)
            if inspect.isawaitable(told):
                await told

    async def play(self, invite: str, url: str = HERE) -> Ended:
        """Play one game over a connection of its own."""
        async with Arena(url, identity=self.identity) as arena:
            return await self.sit(await arena.join(invite, self.user))

    async def sit(self, game: Game) -> Ended:
        """Play on a seat that was taken, to the end."""
        async for event in game.events():
            match event:
                case Started():
                    await self.start(game)
                case ChatMessage() if event.from_ != game.handle:
                    await self.message(game, event)
                case Ended():
                    await self.end(game)
                    return event
        raise ConnectionError("The game was left before it ended.")

    def run(self, invite: str, url: str = HERE) -> Ended:
        """Play one game and return when it is over: for scripts."""
        return asyncio.run(self.play(invite, url))
