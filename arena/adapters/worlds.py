"""Worlds of TextArena, one per game, each with its own chance: nothing of it is shared, and nothing is downloaded.

TextArena draws from the module `random` and fetches word lists when it is imported. Within `alone` its modules draw
from a generator of ours and fetch nothing; everybody else, also in other threads, notices nothing of that.
"""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from random import Random
from types import ModuleType
from typing import Any, NamedTuple

from arena.errors import CannotStart

_before = random.getstate()
try:
    import nltk
    import textarena
    from textarena.envs.registration import ENV_REGISTRY
    from textarena.envs.utils.jury import OpenRouterJury
except ImportError as error:
    raise ImportError(f"TextArena is not installed: pip install 'arena-server[textarena]' ({error})") from None
finally:
    random.setstate(_before)  # its import draws

VERSION = version("textarena")
COUNTS = (2, 1, 3, 4, 5, 6, 7, 8, 10, 12, 15)  # of players, in the order in which they are tried
_chance: ContextVar[Random | None] = ContextVar("chance", default=None)
_download = nltk.download


class Dice(ModuleType):
    """The module `random` for TextArena: within `alone` its draws are those of one game."""

    def __getattr__(self, name: str) -> Any:
        own = _chance.get()
        return getattr(random if own is None or not hasattr(own, name) else own, name)


def _stay(*arguments: Any, **named: Any) -> Any:
    return False if _chance.get() is not None else _download(*arguments, **named)


def _guard(agent: type) -> None:
    """Keep an environment from making agents that ask over the network, in the middle of somebody's move."""
    begin = agent.__init__  # type: ignore[misc]

    def guarded(self: Any, *arguments: Any, **named: Any) -> None:
        if _chance.get() is not None:
            raise RuntimeError(f"it asks a model by {agent.__name__}")
        begin(self, *arguments, **named)

    agent.__init__ = guarded  # type: ignore[misc]


DICE = Dice("random")
nltk.download = _stay
for _asks in (*(getattr(textarena.agents, name) for name in textarena.agents.__all__), OpenRouterJury):
    _guard(_asks)


@contextmanager
def alone(chance: Random) -> Iterator[None]:
    """Let TextArena draw from this generator, and from nothing else."""
    token = _chance.set(chance)
    try:
        yield
    finally:
        _chance.reset(token)


class Heard(NamedTuple):
    """Something that a seat is told."""

    seat: int
    words: str


class World:
    """One game of an environment; what its players are told comes out of each call."""

    def __init__(self, env_id: str, players: int, seed: int) -> None:
        self.chance = Random(seed)  # noqa: S311 - the game's own, from its deal
        with alone(self.chance):
            self.env = make(env_id)
            self.env.reset(num_players=players, seed=seed)
        self.players = players
        self.done = False
        self.first = self._listen()

    @property
    def current(self) -> int:
        """Whose turn it is."""
        return int(self.env.state.current_player_id)

    @property
    def rewards(self) -> list[float]:
        """What each player gets at the end."""
        found = self.env.state.rewards or {}
        return [float(found.get(seat, 0)) for seat in range(self.players)]

    def step(self, action: str) -> list[Heard]:
        """Let the player whose turn it is act."""
        with alone(self.chance):
            self.done = bool(self.env.step(action)[0])
        return self._listen()

    def _listen(self) -> list[Heard]:
        """Take out all that was observed, but for what a player has said itself."""
        state = self.env.state
        told: list[Heard] = []
        for seat in range(self.players):
            for sender, words, kind in state.observations.get(seat, ()):
                if kind is not textarena.ObservationType.PLAYER_ACTION:
                    told.append(Heard(seat, str(words)))
                elif sender != seat:
                    told.append(Heard(seat, f"[{state.role_mapping.get(sender, f'Player {sender}')}] {words}"))
            state.observations[seat] = []
        return told


def make(env_id: str) -> Any:
    """An environment with those of its wrappers that read actions; what players see is told piece by piece."""
    spec = ENV_REGISTRY[env_id]
    env = textarena.make(_plain(env_id))
    for wrapper in spec.default_wrappers or ():
        if issubclass(wrapper, textarena.ActionWrapper) and not _needs_more(wrapper):
            env = wrapper(env)
    _give_dice()
    return env


def probe(env_id: str) -> int:
    """The number of players of an environment; `CannotStart` says why it cannot be played here."""
    if env_id not in ENV_REGISTRY:
        raise CannotStart(f"TextArena has no environment {env_id[:64]!r}.")
    reason = ""
    for players in COUNTS:
        try:
            World(env_id, players, 0)
            return players
        except Exception as error:  # an environment may raise anything, for want of data or for another number
            reason = f"{type(error).__name__}: {str(error).strip()[:100]}"
    raise CannotStart(f"{env_id} cannot be played here: {reason}")


def source_of(env_id: str) -> ModuleType:
    """The module that an environment comes from."""
    return sys.modules[type(textarena.make(_plain(env_id))).__module__]


def _plain(env_id: str) -> str:
    return f"{env_id}-raw" if f"{env_id}-raw" in ENV_REGISTRY else env_id


def _needs_more(wrapper: type) -> bool:
    """Whether it cannot be made of an environment alone."""
    return wrapper.__name__ == "ClipWordsActionWrapper"


def _give_dice() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("textarena.") and getattr(module, "random", None) is random:
            module.random = DICE  # type: ignore[attr-defined]
