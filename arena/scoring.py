"""From game results to entries on a board: the plug for strategies, and the arithmetic around them.

A strategy never writes: it is handed a buffered store, and the runtime commits what it put there together with the
cursor, so a game counts once. Most strategies are a `Fold`. One that needs all games at once is a `BatchStrategy`: it
is fitted beside the server, again and again, and each fit is put in place of the one before.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar, get_args, runtime_checkable

from pydantic import BaseModel, JsonValue
from pydantic_core import to_json

from arena.models import GameResult, MetricDescriptor, ScoringEntry, UserId
from arena.statistics import Interval

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


class Certainty(NamedTuple):
    """How far a player's numbers can be believed."""

    intervals: Mapping[str, Interval] = {}  # by metric
    provisional: bool = False
    group: int = 0  # numbers of players of different groups say nothing of each other


@runtime_checkable
class Measured(Protocol):
    """A strategy that knows how sure its numbers are."""

    def measure(self, kept: JsonValue, among: int = 1) -> Certainty:
        """Of one player, from what is kept for it: 95 % for itself, or for all intervals of so many players at once."""
        ...


class FittedLine(NamedTuple):
    """What a fit says of one player."""

    entry: ScoringEntry
    kept: JsonValue  # for `measure`


class Fit(NamedTuple):
    """A whole board at once."""

    lines: Sequence[FittedLine]
    notes: Mapping[str, JsonValue] = {}  # said with the board


@runtime_checkable
class BatchStrategy(Protocol):
    """A way to turn all games into numbers at once."""

    @property
    def name(self) -> str:
        """As it is configured and shown."""
        ...

    @property
    def metrics(self) -> Sequence[MetricDescriptor]:
        """What it keeps for every player."""
        ...

    def fit(self, results: Mapping[str, Sequence[GameResult]]) -> Fit:
        """The board of these games by challenge type, several for the global one; pure, and in a process of its own."""
        ...


Strategy = ScoringStrategy | BatchStrategy


class Fold(ABC, Generic[Tally]):
    """A strategy that is arithmetic: the tallies of the players at one table and the result in, new tallies out."""

    name: ClassVar[str]
    metrics: ClassVar[Sequence[MetricDescriptor]]
    parameters: ClassVar[Mapping[str, JsonValue]] = {}  # shown with the board
    anonymous: ClassVar[Literal["skip seat", "skip game"]] = "skip seat"
    fewest_seats: ClassVar[int] = 1  # a game with fewer does not count
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

    def intervals(self, tally: Tally, among: int = 1) -> dict[str, Interval]:
        """The 95 % interval of each metric that has one, or wide enough to hold for so many players at once."""
        return {}

    def is_provisional(self, tally: Tally) -> bool:
        """Whether the numbers are too fresh to be believed, whatever the number of games."""
        return False

    def measure(self, kept: JsonValue, among: int = 1) -> Certainty:
        """The intervals of what is kept for a player."""
        _, tally = self._read_kept(kept)
        found: Any = tally
        return Certainty(self.intervals(found, among), self.is_provisional(found))

    async def update(self, result: GameResult, store: ScoringStore) -> None:
        """Load the tallies, fold, and put them back."""
        users = [result.user(seat) for seat in range(len(result.players))]
        if (self.anonymous == "skip game" and None in users) or len(users) < self.fewest_seats:
            return
        kept = [await self._load(user, store) for user in users]
        tallies: list[Any] = [tally for _, tally in kept]
        folded = self.fold(tallies, result)
        for user, (games, _), tally in zip(users, kept, folded, strict=True):
            if user is not None:
                entry = ScoringEntry(player_id=user, games_played=games + 1, metrics=dict(self.read(tally)))
                store.put(user, {"games": games + 1, "tally": tally.model_dump(mode="json")}, entry)

    async def _load(self, user: UserId | None, store: ScoringStore) -> tuple[int, BaseModel]:
        found = None if user is None else await store.get(user)
        return (0, self.tally_type()) if found is None else self._read_kept(found)

    def _read_kept(self, found: JsonValue) -> tuple[int, BaseModel]:
        match found:
            case {"games": int(games), "tally": tally}:
                return games, self.tally_type.model_validate_json(to_json(tally))
            case _:
                raise ValueError("what is kept for a player is not of this fold")


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
