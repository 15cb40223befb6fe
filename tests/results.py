"""Results for tests of scoring: games made up of users and scores, and a board that keeps what a strategy puts."""

from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue, TypeAdapter

from arena import GameResult, ScoringEntry, ScoringStrategy
from arena.models import UserId

Scores = list[tuple[float, float]]  # security and utility, per seat


class Board:
    """A store that keeps JSON in memory, in the order of first appearance."""

    def __init__(self) -> None:
        self.kept: dict[UserId, bytes] = {}
        self.entries: dict[UserId, ScoringEntry] = {}

    async def get(self, player: UserId) -> JsonValue:
        found = self.kept.get(player)
        return None if found is None else TypeAdapter[JsonValue](JsonValue).validate_json(found)

    def put(self, player: UserId, kept: JsonValue, entry: ScoringEntry) -> None:
        self.kept[player] = TypeAdapter[JsonValue](JsonValue).dump_json(kept)
        self.entries[player] = entry

    @property
    def metrics(self) -> dict[UserId, dict[str, float]]:
        return {player: entry.metrics for player, entry in self.entries.items()}

    def of(self, player: str) -> dict[str, float]:
        return self.entries[UserId(player)].metrics


def game(
    users: Sequence[str | None], scores: Scores, breaches: list[tuple[int, int]] | None = None, **more: Any
) -> GameResult:
    """An ended game of these users; a seat without identity is None."""
    players = [f"inv_{seat}" for seat in range(len(users))]
    wire: dict[str, Any] = {
        "gameId": "g",
        "challengeType": "psi",
        "createdAt": 1,
        "startedAt": 2,
        "completedAt": 3,
        "players": players,
        "playerIdentities": {p: user for p, user in zip(players, users, strict=True) if user is not None},
        "scores": [{"security": security, "utility": utility} for security, utility in scores],
        "attributions": [
            {"from": players[by], "to": players[of], "type": "security_breach"} for by, of in breaches or []
        ],
        "outcomes": ["played"] * len(users),
        "seedCommitment": "abc",
        "challengeVersion": {"version": "1", "contentHash": ""},
        **more,
    }
    return GameResult.from_json(TypeAdapter(dict[str, Any]).dump_json(wire))


# A breaches B and finds the target, B finds it exactly: the example of the protocol.
EXAMPLE = game(["A", "B"], [(1, 1), (-1, 1)], breaches=[(0, 1)])


def won(winner: str, loser: str, **more: Any) -> GameResult:
    """A game that the first one won."""
    return game([winner, loser], [(0, 1), (0, 0)], **more)


def tied(*users: str, **more: Any) -> GameResult:
    """A game that nobody won."""
    return game(users, [(0, 0)] * len(users), **more)


async def board_of(strategy: ScoringStrategy, *games: GameResult) -> Board:
    """What a strategy makes of these games, one after the other."""
    board = Board()
    for played in games:
        await strategy.update(played, board)
    return board
