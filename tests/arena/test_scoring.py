from collections.abc import Mapping
from typing import Any, Literal

import pytest
from pydantic import BaseModel, JsonValue, TypeAdapter

from arena import Fold, GameResult, MetricDescriptor, Model, ScoringEntry, ScoringStrategy
from arena.models import UserId
from scoring_strategies.average import Average
from scoring_strategies.global_average import GlobalAverage

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


def _game(users: list[str | None], scores: Scores, breaches: list[tuple[int, int]] | None = None) -> GameResult:
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
    }
    return GameResult.from_json(TypeAdapter(dict[str, Any]).dump_json(wire))


# A breaches B and finds the target, B finds it exactly: the example of the protocol.
EXAMPLE = _game(["A", "B"], [(1, 1), (-1, 1)], breaches=[(0, 1)])


async def _board(strategy: ScoringStrategy, *games: GameResult) -> Board:
    board = Board()
    for game in games:
        await strategy.update(game, board)
    return board


async def test_the_average_of_one_game_is_its_scores() -> None:
    board = await _board(Average(), EXAMPLE)

    assert board.metrics == {
        "A": {"average:security": 1, "average:utility": 1},
        "B": {"average:security": -1, "average:utility": 1},
    }
    assert [entry.games_played for entry in board.entries.values()] == [1, 1]


async def test_the_average_is_the_mean_of_a_players_games() -> None:
    games = [
        _game(["A", "B"], [(1, 1), (-1, 1)]),
        _game(["B", "A"], [(1, 0), (-1, -1)]),
        _game(["A", "C"], [(0, 0.5), (1, 0)]),
        _game(["C", "A"], [(0, 0), (1, 1)]),
    ]

    board = await _board(Average(), *games)

    assert board.metrics == {
        "A": {"average:security": 0.25, "average:utility": 0.375},
        "B": {"average:security": 0, "average:utility": 0.5},
        "C": {"average:security": 0.5, "average:utility": 0},
    }
    assert {player: entry.games_played for player, entry in board.entries.items()} == {"A": 4, "B": 2, "C": 2}


async def test_the_average_leaves_a_seat_without_identity_out_and_counts_the_others() -> None:
    board = await _board(Average(), _game([None, "B"], [(1, 1), (-1, 0.5)]), _game([None, None], [(1, 1), (1, 1)]))

    assert board.metrics == {"B": {"average:security": -1, "average:utility": 0.5}}


class Tally(BaseModel):
    games: int = 0
    kept: int = 0


class KeptSecrets(Fold[Tally]):
    name = "kept-secrets"
    metrics = (MetricDescriptor(key="kept-secrets:rate", label="Secrets kept"),)

    def fold(self, tallies: list[Tally], result: GameResult) -> list[Tally]:
        exposed = {a.to for a in result.attributions if a.type == "security_breach"}
        return [
            Tally(games=tally.games + 1, kept=tally.kept + (player not in exposed))
            for player, tally in zip(result.players, tallies, strict=True)
        ]

    def read(self, tally: Tally) -> dict[str, float]:
        return {"kept-secrets:rate": tally.kept / tally.games}


async def test_the_example_of_the_house_counts_secrets_that_were_kept() -> None:
    board = await _board(KeptSecrets(), EXAMPLE, _game(["B", "A"], [(1, 1), (1, 1)]))

    assert board.metrics == {"A": {"kept-secrets:rate": 1}, "B": {"kept-secrets:rate": 0.5}}


class Rating(Model):
    points: float = 1000
    best: float | None = None
    span: tuple[float, float] = (0, 0)
    mood: Literal["calm", "wild"] = "calm"


class Duel(Fold[Rating]):
    """The better one takes a tenth of the other's points; needs to see the whole table."""

    name = "duel"
    metrics = (MetricDescriptor(key="duel:points", label="Points"),)
    anonymous = "skip game"

    def fold(self, tallies: list[Rating], result: GameResult) -> list[Rating]:
        winner = 0 if result.scores[0].utility > result.scores[1].utility else 1
        stake = tallies[1 - winner].points / 10
        made = [tally.points + (stake if seat == winner else -stake) for seat, tally in enumerate(tallies)]
        return [Rating(points=points, span=(t.span[1], points)) for points, t in zip(made, tallies, strict=True)]

    def read(self, tally: Rating) -> dict[str, float]:
        return {"duel:points": tally.points}


async def test_a_fold_sees_the_whole_table_and_keeps_a_strict_tally() -> None:
    win = _game(["A", "B"], [(0, 1), (0, 0)])

    board = await _board(Duel(), win, win)

    assert board.metrics == {"A": {"duel:points": 1190}, "B": {"duel:points": 810}}
    assert board.entries[UserId("A")].games_played == 2


@pytest.mark.parametrize("users", [["A", None], [None, None]])
async def test_a_fold_may_skip_games_with_a_seat_without_identity(users: list[str | None]) -> None:
    board = await _board(Duel(), _game(users, [(0, 1), (0, 0)]))

    assert board.entries == {}


async def test_folding_the_same_games_again_gives_identical_numbers() -> None:
    games = [_game(["A", "B"], [(0.1 * n, 0.7), (0.3, -0.2 * n)]) for n in range(50)]

    first, second = await _board(Average(), *games), await _board(Average(), *games)

    assert first.kept == second.kept
    assert first.entries == second.entries


def _entry(games: int, security: float, utility: float) -> ScoringEntry:
    metrics = {"average:security": security, "average:utility": utility}
    return ScoringEntry(player_id=UserId("A"), games_played=games, metrics=metrics)


def _combined(entries: Mapping[str, ScoringEntry]) -> ScoringEntry | None:
    return GlobalAverage().combine(UserId("A"), entries)


async def test_with_one_type_the_global_average_is_the_average() -> None:
    board = await _board(Average(), EXAMPLE)

    made = GlobalAverage().combine(UserId("B"), {"psi": board.entries[UserId("B")]})

    assert made == ScoringEntry(
        player_id=UserId("B"), games_played=1, metrics={"global-average:security": -1, "global-average:utility": 1}
    )


def test_in_the_global_average_every_type_weighs_the_same() -> None:
    made = _combined({"psi": _entry(99, 1, 1), "ultimatum": _entry(1, 0, -0.5)})

    assert made is not None
    assert made.metrics == {"global-average:security": 0.5, "global-average:utility": 0.25}
    assert made.games_played == 100


def test_a_player_without_entries_has_no_line_on_the_global_board() -> None:
    assert _combined({}) is None


async def test_the_metrics_that_a_strategy_announces_are_those_it_keeps() -> None:
    board = await _board(Average(), EXAMPLE)
    combined = _combined({"psi": _entry(1, 0, 0)})

    assert [m.key for m in Average.metrics] == list(board.metrics[UserId("A")])
    assert combined is not None
    assert [m.key for m in GlobalAverage.metrics] == list(combined.metrics)
