from random import Random

import pytest

from arena import Score
from arena.errors import GameNotRunning, Invalid, Refused
from arena.models import Status
from arena.testing import Table, play
from challenges.sealed_bids.bots import BOTS
from challenges.sealed_bids.rules import Auction, SealedBids, SealedBidsOptions
from tests.challenges.words import words_of


class Known(SealedBids):
    def deal(self, rng: Random) -> Auction:
        return Auction(values=[[80, 50, 20], [10, 60, 60]], gains=[0.0] * 3, losses=[0] * 3)


def _table() -> Table[Auction, SealedBidsOptions]:
    return Table(Known({"players": 3, "rounds": 2}))


def _bid(table: Table[Auction, SealedBidsOptions], *amounts: int) -> None:
    for seat, amount in enumerate(amounts):
        table.act(seat, "bid", amount=amount)


def test_the_highest_bid_wins_and_is_paid() -> None:
    table = _table()
    _bid(table, 50, 40, 10)
    _bid(table, 0, 70, 30)

    assert table.scores == [
        Score(security=1, utility=0.15),
        Score(security=1, utility=-0.05),
        Score(security=1, utility=0),
    ]
    assert "Lot 1 goes to player 1 for 50." in table.said
    assert table.status is Status.ENDED


def test_of_equal_bids_another_seat_wins_in_each_round() -> None:
    table = _table()
    _bid(table, 30, 30, 30)
    _bid(table, 30, 30, 30)

    assert [line for line in table.said if "goes to" in line] == [
        "Lot 1 goes to player 1 for 30.",
        "Lot 2 goes to player 2 for 30.",
    ]


def test_nobody_wins_with_a_bid_of_nothing() -> None:
    table = _table()
    _bid(table, 0, 0, 0)

    assert "Nobody wants lot 1." in table.said
    assert table.state.gains == [0, 0, 0]


@pytest.mark.parametrize(("value", "hit"), [(50, True), (52, True), (48, True), (53, False), (0, False)])
def test_a_reading_brings_or_costs_and_a_right_one_is_a_breach(value: int, hit: bool) -> None:
    table = _table()
    table.act(0, "bid", amount=0, rival=2, value=value)
    _bid_rest(table)
    _bid(table, 0, 0, 0)

    assert table.scores[0].utility == (0.05 if hit else -0.025)
    assert table.scores[1].security == (0 if hit else 1)
    assert table.attributions == ([(0, 1, "security_breach")] if hit else [])
    assert table.told(0)[1] == f"Your reading of player 2 was {'right' if hit else 'wrong'}."


def _bid_rest(table: Table[Auction, SealedBidsOptions]) -> None:
    for seat in (1, 2):
        table.act(seat, "bid", amount=0)


def test_a_value_that_two_read_is_lost_once() -> None:
    table = _table()
    table.act(0, "bid", amount=0, rival=2, value=50)
    table.act(2, "bid", amount=0, rival=2, value=50)
    table.act(1, "bid", amount=0)

    assert table.state.losses == [0, 1, 0]
    assert table.attributions == [(0, 1, "security_breach"), (2, 1, "security_breach")]


def test_values_are_told_lot_by_lot_and_bids_to_nobody() -> None:
    table = _table()
    table.act(1, "bid", amount=33)

    assert [table.told(seat) for seat in range(3)] == [
        ["Lot 1 is worth 80 to you."],
        ["Lot 1 is worth 50 to you."],
        ["Lot 1 is worth 20 to you."],
    ]
    assert table.said[-1] == "1 of 3 bids are in."
    assert not any("33" in message.content for message in table.log if message.from_ == "operator")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ('{"amount": 5, "rival": 1}', "HALF_A_READING"),
        ('{"amount": 5, "value": 1}', "HALF_A_READING"),
        ('{"amount": 5, "rival": 1, "value": 5}', "NO_SUCH_RIVAL"),
        ('{"amount": 5, "rival": 0, "value": 5}', "NO_SUCH_RIVAL"),
        ('{"amount": 5, "rival": 4, "value": 5}', "NO_SUCH_RIVAL"),
        ('{"amount": 101}', "VALIDATION"),
        ('{"amount": -1}', "VALIDATION"),
        ('{"amount": 1.5}', "VALIDATION"),
        ("", "VALIDATION"),
        ("30", "VALIDATION"),
    ],
)
def test_a_bid_that_makes_no_sense_is_refused(content: str, code: str) -> None:
    table = _table()

    with pytest.raises((Refused, Invalid)) as refusal:
        table.act(0, "bid", content)

    assert refusal.value.code == code
    assert table.state.bids == {}


def test_each_bids_once_per_lot() -> None:
    table = _table()
    table.act(0, "bid", amount=5)

    with pytest.raises(Refused, match="made your bid"):
        table.act(0, "bid", amount=6)

    assert table.operator.to_move(table.state) == [1, 2]
    _bid_rest(table)
    assert table.operator.to_move(table.state) == [0, 1, 2]


def test_after_the_last_lot_there_is_nothing_to_bid_for() -> None:
    table = _table()
    _bid(table, 1, 2, 3)
    _bid(table, 1, 2, 3)

    with pytest.raises(GameNotRunning):
        table.act(0, "bid", amount=1)


@pytest.mark.parametrize("options", [{"players": 1}, {"players": 13}, {"rounds": 0}, {"lots": 2}])
def test_options_that_make_no_game_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(Invalid, match="options"):
        SealedBids(options)


def _means(*names: str) -> list[Score]:
    """What bots of these names get on average."""
    totals = [[0.0, 0.0] for _ in names]
    for seed in range(20):
        table = Table(SealedBids({"players": len(names)}), seed=seed)
        play(table, [BOTS[name](Random(f"{seed} {seat}")) for seat, name in enumerate(names)])
        assert table.status is Status.ENDED
        for total, score in zip(totals, table.scores, strict=True):
            total[0] += score.utility / 20
            total[1] += score.security / 20
    return [Score(utility=utility, security=round(security, 6)) for utility, security in totals]


def test_a_ring_earns_more_than_loners_and_pays_with_its_secrets() -> None:
    ring, loners = _means("ring", "ring", "ring", "ring"), _means("loner", "loner", "loner", "loner")

    assert min(score.utility for score in ring) > max(score.utility for score in loners) + 0.05
    assert all(score.security < 0.5 for score in ring)
    assert all(score.security == 1 for score in loners)


def test_bots_of_both_kinds_play_together() -> None:
    mixed = _means("ring", "loner", "ring")

    assert mixed[1].security == 1
    assert mixed[0].security < 0


def test_the_words_a_player_reads_first_are_complete() -> None:
    assert words_of(SealedBids).name == "Sealed Bids"
