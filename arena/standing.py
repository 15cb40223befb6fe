"""What a board shows: the shapes of leaderboards on the wire."""

from typing import Literal

from pydantic import JsonValue

from arena.models import Declared, MetricDescriptor, Millis, Model, Number, RankedEntry, UserId


class SeatTally(Model):
    """How a player's games in one seat ended."""

    games: int
    wins: int
    ties: int
    losses: int


class Variant(Model):
    """One of the entrants that a line stands for."""

    player_id: UserId
    rank: int
    games_played: int
    metrics: dict[str, Number]
    declared: Declared | None = None


class BoardRow(RankedEntry):
    """A player's line on a board, with how far it can be believed and what it is made of."""

    rank: int
    rank_interval: tuple[int, int] | None = None
    tied: bool | None = None
    provisional: bool
    intervals: dict[str, tuple[Number, Number]] = {}
    opponents: int | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    forfeits: int | None = None
    timeouts: int | None = None
    voids: int | None = None
    seats: list[SeatTally] | None = None
    last_played: Millis | None = None
    median_response: int | None = None  # milliseconds, where games can tell
    p95_response: int | None = None
    declared: Declared | None = None  # self-reported
    variants: list[Variant] | None = None  # where lines are those of owners: all entrants, best first
    reported_tokens: int | None = None  # of a game, on the player's own word
    reported_cost_usd: Number | None = None


class BoardHead(Model):
    """Which board this is, and what it is made of."""

    challenge_type: str
    strategy: str
    kind: Literal["online", "batch", "global"]
    metrics: list[MetricDescriptor]
    players: int
    games: int
    second_view: bool
    fitted_at: Millis | None = None
    results_hash: str | None = None
    frozen_at: Millis | None = None
    fault: str | None = None


class BoardList(Model):
    """The boards of this server."""

    boards: list[BoardHead]


class Board(BoardHead):
    """A stretch of a board, best first."""

    metric: str
    parameters: dict[str, JsonValue] = {}
    notes: dict[str, JsonValue] = {}
    rows: list[BoardRow]
    limit: int
    offset: int
    at: Millis | None = None
    by: Literal["owner"] | None = None
    owners: int | None = None  # where lines are theirs
    recompute: str


class Point(Model):
    """A player's numbers after a game."""

    at: Millis
    games_played: int
    metrics: dict[str, Number]


class PlayerStanding(Model):
    """A player on a board, with those around it and the way it came there."""

    challenge_type: str
    strategy: str
    metric: str
    players: int
    row: BoardRow
    neighbours: list[BoardRow]
    history: list[Point]


class PlayerLine(Model):
    """A player on one of its boards."""

    challenge_type: str
    strategy: str
    metric: str
    players: int
    row: BoardRow


class PlayerBoards(Model):
    """A player on all boards that it is on."""

    user_id: UserId
    boards: list[PlayerLine]


class Met(Model):
    """The games of two players against each other, from the side of the first."""

    player: UserId
    opponent: UserId
    games: int
    wins: int
    ties: int
    losses: int


class HeadToHead(Model):
    """Who met whom, and how it ended: only pairs that have met, each once."""

    challenge_type: str
    strategy: str
    players: list[UserId]
    meetings: list[Met]
