"""From game results to entries on a board: the plug for strategies, and the arithmetic around them.

A strategy never writes: it is handed a buffered store, and the runtime commits what it put there together with the
cursor, so a game counts once. Most strategies are a `Fold`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, get_args

from pydantic import BaseModel, JsonValue
from pydantic_core import to_json

from arena.models import GameResult, MetricDescriptor, Model, ScoringEntry, UserId

Tally = TypeVar("Tally", bound=BaseModel)


class ScoringStore(Protocol):
    """What a strategy may read and put, by player; nothing is written before the game is counted."""

    async def get(self, player: UserId) -> JsonValue:
        """What was put for this player last, or None."""
        ...

    def put(self, player: UserId, kept: JsonValue, entry: ScoringEntry) -> None:
        """Keep something for this player and set its line on the board."""
        ...


class ScoringStrategy(Protocol):
    """A way to turn games into numbers."""

    @property
    def name(self) -> str:
        """As it is configured and shown."""
        ...

    @property
    def metrics(self) -> Sequence[MetricDescriptor]:
        """What it keeps for every player."""
        ...

    async def update(self, result: GameResult, store: ScoringStore) -> None:
        """Count one game. Self-play and void games never get here."""
        ...


class Kept(Model):
    """What the runtime keeps per player for a fold."""

    games: int
    tally: dict[str, JsonValue]


class Fold(ABC, Generic[Tally]):
    """A strategy that is arithmetic: the tallies of the players at one table and the result in, new tallies out."""

    name: ClassVar[str]
    metrics: ClassVar[Sequence[MetricDescriptor]]
    anonymous: ClassVar[Literal["skip seat", "skip game"]] = "skip seat"
    tally_type: ClassVar[type[BaseModel]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            if (types := get_args(base)) and isinstance(types[0], type):
                cls.tally_type = types[0]

    @abstractmethod
    def fold(self, tallies: list[Tally], result: GameResult) -> list[Tally]:
        """The tallies after this game, in seat order. A seat without identity has a blank one, which is dropped."""

    @abstractmethod
    def read(self, tally: Tally) -> dict[str, float]:
        """The metrics of a player who has played at least one game."""

    async def update(self, result: GameResult, store: ScoringStore) -> None:
        """Load the tallies, fold, and put them back."""
        users = [result.user(seat) for seat in range(len(result.players))]
        if self.anonymous == "skip game" and None in users:
            return
        kept = [await self._load(user, store) for user in users]
        tallies: list[Any] = [tally for _, tally in kept]
        folded = self.fold(tallies, result)
        for user, (games, _), tally in zip(users, kept, folded, strict=True):
            if user is not None:
                entry = ScoringEntry(player_id=user, games_played=games + 1, metrics=dict(self.read(tally)))
                store.put(user, Kept(games=games + 1, tally=tally.model_dump(mode="json")).wire(), entry)

    async def _load(self, user: UserId | None, store: ScoringStore) -> tuple[int, BaseModel]:
        found = None if user is None else await store.get(user)
        if found is None:
            return 0, self.tally_type()
        kept = Kept.model_validate(found)
        return kept.games, self.tally_type.model_validate_json(to_json(kept.tally))


class GlobalStrategy(Protocol):
    """A way to make one board of a player's entries in many challenge types."""

    @property
    def name(self) -> str:
        """As it is configured and shown."""
        ...

    @property
    def metrics(self) -> Sequence[MetricDescriptor]:
        """What it keeps for every player."""
        ...

    def combine(self, player: UserId, entries: Mapping[str, ScoringEntry]) -> ScoringEntry | None:
        """The player's line on the global board, from its line per challenge type."""
        ...
