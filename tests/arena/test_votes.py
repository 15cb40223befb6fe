"""Votes of those without a seat, and the scorecards of seats in a result."""

import pytest

from arena import Refused, SeatCard
from arena.errors import GameNotRunning, Internal
from arena.session import INPUT, line_of
from arena.testing import Table
from tests.plugins.court import Court
from tests.plugins.salon import Salon


def test_a_vote_is_an_input_that_the_challenge_answers() -> None:
    table = Table(Salon())
    table.vote("eve", "wall", "1")
    with pytest.raises(Refused, match="You have voted"):
        table.vote("eve", "wall", "0")
    table.act(0, "close")

    assert table.said[0] == "1 votes."
    assert [score.utility for score in table.scores] == [0, 1]
    assert table.again() == table.session


def test_a_vote_reads_back_as_it_was_written() -> None:
    table = Table(Salon())
    table.vote("eve", "wall", "1")

    assert INPUT.validate_json(line_of(table.inputs[-1])) == table.inputs[-1]


def test_nobody_votes_before_or_after_the_game_or_where_there_is_nothing_to_vote_on() -> None:
    early, other, late = Table(Salon(), seated=1), Table(Court()), Table(Salon())
    late.act(0, "close")

    for table in (early, late):
        with pytest.raises(GameNotRunning):
            table.vote("eve", "wall", "1")
    with pytest.raises(Refused) as refusal:
        other.vote("eve", "wall", "1")

    assert refusal.value.code == "NO_VOTE"


def test_a_result_has_the_scorecards_that_the_game_ended_with() -> None:
    table, wrong = Table(Salon()), Table(Salon())
    table.act(0, "close")

    with pytest.raises(Internal, match="one scorecard per seat"):
        wrong.act(0, "close", cards=1)

    assert table.result.scorecards == [SeatCard(overall=0.5, passed=True, cases=2, passes=1)] * 2
    assert table.result.from_json(table.result.to_json()) == table.result
