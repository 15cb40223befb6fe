"""Runner: plays for the agents of a tournament that are programs or models, on the machine of whoever holds it."""

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from arena.client import Arena, Disconnected, Game, Place, Started
from arena.errors import ArenaError, CannotStart
from arena.identity import Identity
from arena.players import Player, player_of
from arena.tournament.games import rng_of
from arena.tournament.setup import Agent, Setup

logger = logging.getLogger(__name__)

POLL = 0.3  # seconds between looks for games that wait for us

Ask = Callable[..., Awaitable[Any]]  # a route of the server, and what it answers


@dataclass(frozen=True)
class Turn(Place):
    """A place that is taken when its turn has come: seats go by the order of joining."""

    before: asyncio.Event = field(default_factory=asyncio.Event)
    after: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def taken(self, *, raw: bool = False) -> AsyncIterator[Game]:
        """The seat; it is given up if whoever plays on it fails."""
        await self.before.wait()
        async with Arena(self.url, identity=self.identity) as arena:
            game = await arena.join(self.invite, self.user, raw=raw)
            self.after.set()
            try:
                yield game
            except Exception:
                if not game.is_over:
                    await game.resign()
                raise


def players_of(setup: Setup, load: tuple[str, ...]) -> dict[str, Player]:
    """Who plays for each agent; what makes no sense is refused before the first game."""
    return {agent.name: _player(setup, agent, load) for agent in setup.agents}


def _player(setup: Setup, agent: Agent, load: tuple[str, ...]) -> Player:
    told: dict[str, Any] = {"load": load}
    if agent.bot is not None:
        told["bot"] = f"{setup.challenge}/{agent.bot_of(setup.challenge)}"
    elif agent.cmd is not None:
        told["cmd"] = agent.cmd
    elif "model" in inspect.signature(player_of).parameters:
        told["model"] = agent.model
    else:
        raise CannotStart(f"{agent.name}: this arena has no players that are models.")
    return player_of(**told)


class Runner:
    """Sits down wherever a game waits for one of our agents, until the tournament stops."""

    def __init__(self, url: str, id_: str, setup: Setup, players: dict[str, Player], *, signs: bool = False) -> None:
        self.url = url
        self.id = id_
        self.setup = setup
        self.players = players
        self.identities = {name: Identity.new() for name in players} if signs else {}
        self._begun: set[tuple[str, int]] = set()

    async def run(self, ask: Ask) -> None:
        """Play until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                told = await ask("GET", "tournaments", self.id, "seats")
                for game in told["games"]:
                    mark = (game["key"], game["attempt"])
                    if mark not in self._begun:
                        self._begun.add(mark)
                        group.create_task(self._play(game), name=f"game {game['key']}")
                await asyncio.sleep(POLL)

    async def _play(self, game: dict[str, Any]) -> None:
        turns = [asyncio.Event() for _ in range(len(game["seats"]) + 1)]
        turns[0].set()
        places = [
            Turn(
                seat["invite"],
                self.url,
                seat["agent"],
                self.identities.get(seat["agent"]),
                before=turns[at],
                after=turns[at + 1],
            )
            for at, seat in enumerate(game["seats"])
        ]
        await asyncio.gather(*(self._sit(game["key"], seat, place) for seat, place in enumerate(places)))

    async def _sit(self, key: str, seat: int, place: Turn) -> None:
        player = self.players[place.user or ""]
        try:
            await player.play(place, rng_of(self.setup.seed or self.id, key, seat))
        except (ArenaError, CannotStart, Disconnected, ConnectionError, OSError) as error:
            logger.warning("an agent failed agent=%s game=%s reason=%s", place.user, key, error)
            if not place.after.is_set():
                await self._give_up(place)

    async def _give_up(self, place: Turn) -> None:
        """Take the seat of an agent that never came to it, so that the game begins, and lose it."""
        try:
            async with place.taken() as game:
                async for event in game.events():
                    if isinstance(event, Started):
                        await game.resign()
                        return
        except (ArenaError, Disconnected, ConnectionError) as error:
            logger.warning("a seat stays empty agent=%s reason=%s", place.user, error)
