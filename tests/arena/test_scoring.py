"""Folds: a strategy is arithmetic on the tallies of one table."""

from typing import Literal

import pytest
from pydantic import BaseModel

from arena import Fold, GameResult, MetricDescriptor, Model
from arena.models import UserId
from tests.results import EXAMPLE, board_of, game


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
    board = await board_of(KeptSecrets(), EXAMPLE, game(["B", "A"], [(1, 1), (1, 1)]))

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
    win = game(["A", "B"], [(0, 1), (0, 0)])

    board = await board_of(Duel(), win, win)

    assert board.metrics == {"A": {"duel:points": 1190}, "B": {"duel:points": 810}}
    assert board.entries[UserId("A")].games_played == 2


@pytest.mark.parametrize("users", [["A", None], [None, None]])
async def test_a_fold_may_skip_games_with_a_seat_without_identity(users: list[str | None]) -> None:
    board = await board_of(Duel(), game(users, [(0, 1), (0, 0)]))

    assert board.entries == {}


async def test_a_fold_goes_on_from_what_a_later_version_kept() -> None:
    board = await board_of(KeptSecrets(), EXAMPLE)
    board.kept[UserId("A")] = b'{"games":5,"tally":{"games":5,"kept":4,"ofTomorrow":1},"ofTomorrow":{"more":1}}'

    await KeptSecrets().update(EXAMPLE, board)

    assert board.metrics[UserId("A")] == {"kept-secrets:rate": 5 / 6}
    assert board.entries[UserId("A")].games_played == 6
