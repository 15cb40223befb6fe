"""OpenSkill: the numbers of the package's own examples, and the formulas of Weng and Lin by hand."""

from math import exp, sqrt

import pytest
from openskill.models import PlackettLuce

from scoring_strategies.openskill import OpenSkill, Skill
from tests.results import board_of, game, tied, won


def by_hand(one: Skill, other: Skill) -> tuple[Skill, Skill]:
    """Both after a game that the first one won: algorithm 4 of the paper for two players."""
    grown = [sqrt(skill.sigma**2 + (25 / 300) ** 2) for skill in (one, other)]
    c = sqrt(grown[0] ** 2 + grown[1] ** 2 + 2 * (25 / 6) ** 2)
    chance = 1 / (1 + exp((other.mu - one.mu) / c))
    made = []
    for skill, sigma, sign in zip((one, other), grown, (1, -1), strict=True):
        mu = skill.mu + sign * sigma**2 / c * (1 - chance)
        shrink = sigma / c * sigma**2 / c**2 * chance * (1 - chance)
        made.append(Skill(mu=mu, sigma=sigma * sqrt(1 - shrink)))
    return made[0], made[1]


def test_without_drift_the_numbers_are_those_that_the_package_publishes() -> None:
    strategy = OpenSkill()
    strategy.model = PlackettLuce(tau=0)

    winner, loser = strategy.fold([Skill(), Skill()], won("A", "B"))

    assert (winner.mu, winner.sigma) == pytest.approx((27.63523138347365, 8.065506316323548))
    assert (loser.mu, loser.sigma) == pytest.approx((22.36476861652635, 8.065506316323548))


def test_two_players_move_as_the_paper_says() -> None:
    one, other = Skill(mu=29, sigma=3), Skill(mu=21, sigma=6)

    moved = OpenSkill().fold([one, other], won("A", "B"))

    for found, expected in zip(moved, by_hand(one, other), strict=True):
        assert (found.mu, found.sigma) == pytest.approx((expected.mu, expected.sigma))


async def test_the_ordinal_is_the_mean_less_three_deviations() -> None:
    board = await board_of(OpenSkill(), won("A", "B"))

    line = board.of("A")
    assert line["openskill:ordinal"] == line["openskill:mu"] - 3 * line["openskill:sigma"]
    assert OpenSkill().read(Skill())["openskill:ordinal"] == 0


async def test_a_table_is_ranked_whatever_the_order_of_its_seats() -> None:
    one = await board_of(OpenSkill(), game(["A", "B", "C"], [(0, 3), (0, 2), (0, 1)]))
    other = await board_of(OpenSkill(), game(["C", "A", "B"], [(0, 1), (0, 3), (0, 2)]))

    assert one.of("A")["openskill:mu"] > 25 > one.of("C")["openskill:mu"]
    for player in "ABC":
        assert one.of(player) == pytest.approx(other.of(player))


async def test_a_tie_of_equals_moves_no_mean() -> None:
    board = await board_of(OpenSkill(), tied("A", "B"))

    assert board.of("A")["openskill:mu"] == pytest.approx(25)
    assert board.of("A")["openskill:sigma"] < 25 / 3
