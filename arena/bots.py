"""House bots: players that are plain objects; whether a socket or a table carries them is not their business."""

from abc import ABC
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from arena.models import ChatMessage


@dataclass(frozen=True, slots=True)
class Move:
    """An action for the operator."""

    type: str
    content: str


@dataclass(frozen=True, slots=True)
class Talk:
    """Something to say in the players' channel, to everybody or to one."""

    content: str
    to: str | None = None


Moves: TypeAlias = Iterable[Move | Talk]


class Bot(ABC):  # noqa: B024
    """A player of one game. It hears everything it may read, its own words included, and answers with moves."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def rehearse(self) -> None:  # noqa: B027
        """Nobody listens and nothing is at stake: whatever only protects messages on their way may be made cheap."""

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        """All seats are taken; both are handles as they appear in `from` and `to`."""
        return ()

    def hear(self, message: ChatMessage) -> Moves:
        """A message of either channel, each once and in order; private ones of the operator may come before `begin`."""
        return ()

    def refused(self, move: Move | Talk, code: str) -> Moves:
        """The operator or the arena did not take a move."""
        return ()
