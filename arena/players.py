"""Players: who is to play, as a small value, and one call that has it play a seat to the end of the game.

`player_of` makes one from words, as the command line and tournaments have them. Another kind of player is another
class with `label` and `play`, and a line in `player_of`.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Protocol

from arena import bridge, catalog
from arena.bots import Bot
from arena.client import HERE, Ended, Identity, house
from arena.client.place import Place
from arena.confined import Cage
from arena.errors import CannotStart, UnknownChallengeType


class Player(Protocol):
    """Somebody who plays any number of games, one or many at a time."""

    @property
    def label(self) -> str:
        """What to call it in a table."""

    async def play(self, place: Place, rng: Random) -> Ended:
        """Take a seat and play to the end of the game; raises `ArenaError`, `CannotStart` or `Disconnected`."""


@dataclass(frozen=True)
class BotSpec:
    """A house bot, named as `psi/honest`."""

    name: str
    load: tuple[str, ...] = ()  # modules that challenges of one's own are in
    pause: Callable[[], Awaitable[None]] = house.at_once  # before each move

    @property
    def label(self) -> str:
        """Its name."""
        return self.name

    @property
    def kind(self) -> type[Bot]:
        """What it is made of."""
        challenge, _, bot = self.name.partition("/")
        bots = bots_of(challenge, self.load)
        if bot not in bots:
            there = ", ".join(f"{challenge}/{name}" for name in bots) or "none"
            raise CannotStart(f"There is no house bot {self.name!r}. For {challenge} there are: {there}.")
        return bots[bot]

    async def play(self, place: Place, rng: Random) -> Ended:
        """Play a seat; the bot draws from `rng` alone."""
        bot = self.kind(rng)
        async with place.taken() as game:
            return await house.sit(game, bot, self.pause)


@dataclass(frozen=True)
class CommandSpec:
    """A program that reads and writes frames as lines of JSON."""

    words: tuple[str, ...]
    restarts: int = bridge.RESTARTS  # how often it may fail before its seat is given up
    cage: Cage | None = None  # the sandbox that it runs in

    @property
    def label(self) -> str:
        """What its file is called."""
        return bridge.called(self.words)

    async def play(self, place: Place, rng: Random) -> Ended:
        """Run the program on a seat; it is told nothing of `rng`."""
        return (await self.run(place)).ended

    async def run(self, place: Place, heard: bridge.Heard | None = None) -> bridge.Played:
        """The same; tells also whether the seat had to be given up."""
        if self.cage is None:
            return await bridge.play(place, self.words, self.restarts, heard)
        here = Path.cwd()
        await self.cage.check(here)
        async with self.cage.around(self.words, here) as (words, more):
            return await bridge.play(place, words, self.restarts, heard, **more)


def player_of(
    *,
    bot: str | None = None,
    cmd: str | None = None,
    model: str | None = None,
    load: Sequence[str] = (),
    restarts: int = bridge.RESTARTS,
    cage: Cage | None = None,
) -> Player:
    """The player that one of these words stands for; what makes no sense is refused here, before any seat is taken.

    A model is asked as the environment says: `ARENA_CONFIG` has its route and price, other variables the keys.
    """
    if sum(word is not None for word in (bot, cmd, model)) != 1:
        raise CannotStart("Say either which bot plays, or which command, or which model.")
    if model is not None:
        from arena.model_player.wishes import ModelWish, model_player

        return model_player(ModelWish(model), os.environ)
    if cmd is not None:
        return CommandSpec(tuple(bridge.parse(cmd)), restarts, cage)
    spec = BotSpec(bot or "", tuple(load))
    _ = spec.kind
    return spec


async def play(
    player: Player,
    invite: str,
    url: str = HERE,
    *,
    user: str | None = None,
    identity: Identity | None = None,
    rng: Random | None = None,
) -> Ended:
    """Have somebody play an invite to the end of its game."""
    return await player.play(Place(invite, url, user, identity), rng or Random())  # noqa: S311


def bots_of(challenge: str, load: Sequence[str] = ()) -> dict[str, type[Bot]]:
    """The house bots of a challenge, by name."""
    try:
        return _catalog(tuple(load)).challenge(challenge).bots
    except UnknownChallengeType:
        known = ", ".join(name for name, kind in _catalog(tuple(load)).challenges.items() if kind.bots)
        raise CannotStart(f"There are no bots for {challenge!r}. A bot is TYPE/NAME, with TYPE of {known}.") from None


@cache
def _catalog(load: tuple[str, ...]) -> catalog.Catalog:
    return catalog.load(load)
