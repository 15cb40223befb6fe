from random import Random

import pytest

from arena import Score
from arena.errors import Invalid, Refused
from arena.models import Status
from arena.testing import Table, play
from challenges.supply_chain.bots import BOTS
from challenges.supply_chain.rules import GROWER, MAKER, SHOP, Chain, SupplyChain, SupplyChainOptions
from tests.challenges.words import words_of

MAKES, SHOPS, GROWS = 0, 1, 2  # seats


class Known(SupplyChain):
    def deal(self, rng: Random) -> Chain:
        return Chain(roles=[MAKER, SHOP, GROWER], figures=[20, 30, 110])


def _table(**options: object) -> Table[Chain, SupplyChainOptions]:
    return Table(Known(options))


def _quote(table: Table[Chain, SupplyChainOptions], grower: int, maker: tuple[int, int], shop: int) -> None:
    table.act(GROWS, "quote", sell=grower)
    table.act(MAKES, "quote", buy=maker[0], sell=maker[1])
    table.act(SHOPS, "quote", buy=shop)


def _read_nothing(table: Table[Chain, SupplyChainOptions]) -> None:
    for seat in range(3):
        table.act(seat, "read")


def test_a_deal_is_halfway_and_leaves_each_its_margin() -> None:
    table = _table()
    _quote(table, 30, (41, 90), 100)
    _read_nothing(table)

    assert table.state.deal == (35, 95)
    assert table.scores == [
        Score(security=1, utility=0.3),
        Score(security=1, utility=0.15),
        Score(security=1, utility=0.15),
    ]
    assert "It is a deal: 35 to the grower, 95 to the maker." in "\n".join(table.said)


def test_haggling_eats_into_the_gain() -> None:
    table = _table(decay=0.1)
    _quote(table, 60, (40, 90), 100)
    _quote(table, 60, (70, 120), 100)
    _quote(table, 40, (40, 100), 100)
    _read_nothing(table)

    assert [score.utility for score in table.scores] == pytest.approx([0.243, 0.081, 0.162])
    assert [line for line in table.said if "meet" in line] == [
        "Grower and maker do not meet in round 1.",
        "Maker and shop meet in round 1.",
        "Grower and maker meet in round 2.",
        "Maker and shop do not meet in round 2.",
        "Grower and maker meet in round 3.",
        "Maker and shop meet in round 3.",
    ]


def test_without_a_deal_nobody_gains() -> None:
    table = _table(rounds=2)
    for _ in range(2):
        _quote(table, 100, (10, 190), 50)
    _read_nothing(table)

    assert table.status is Status.ENDED
    assert table.scores == [Score(security=1, utility=0)] * 3


@pytest.mark.parametrize(("figure", "hit"), [(30, True), (32, True), (28, True), (33, False), (0, False)])
def test_naming_a_figure_brings_or_costs_and_a_right_one_is_a_breach(figure: int, hit: bool) -> None:
    table = _table(rounds=1)
    _quote(table, 100, (10, 190), 50)
    table.act(SHOPS, "read", maker=figure)
    table.act(MAKES, "read")
    table.act(GROWS, "read")

    assert table.scores[SHOPS].utility == (0.1 if hit else -0.1)
    assert table.scores[MAKES].security == (0 if hit else 1)
    assert table.attributions == ([(SHOPS, MAKES, "security_breach")] if hit else [])


def test_who_is_read_by_both_others_has_kept_nothing() -> None:
    table = _table(rounds=1)
    _quote(table, 100, (10, 190), 50)
    table.act(SHOPS, "read", maker=30, grower=20)
    table.act(GROWS, "read", maker=31)
    table.act(MAKES, "read", shop=1)

    assert [score.security for score in table.scores] == [-1, 1, 0]


def test_prices_are_told_to_nobody() -> None:
    table = _table()
    _quote(table, 61, (41, 91), 101)

    spoken = [message.content for message in table.log if message.from_ == "operator"]
    assert not any(number in line for line in spoken for number in ("61", "41", "91", "101"))
    assert table.told(MAKES) == ["You are the maker. Your own cost is 30."]
    assert table.told(SHOPS) == ["You are the shop. Customers pay you 110."]
    assert table.said[0].startswith("Player 1 is the maker, player 2 is the shop, player 3 is the grower.")


@pytest.mark.parametrize(
    ("seat", "move", "content", "code"),
    [
        (GROWS, "quote", '{"buy": 5}', "WRONG_PRICES"),
        (GROWS, "quote", '{"buy": 5, "sell": 5}', "WRONG_PRICES"),
        (MAKES, "quote", '{"sell": 5}', "WRONG_PRICES"),
        (SHOPS, "quote", '{"sell": 5}', "WRONG_PRICES"),
        (SHOPS, "quote", "", "WRONG_PRICES"),
        (SHOPS, "quote", '{"buy": 201}', "VALIDATION"),
        (SHOPS, "quote", '{"buy": -1}', "VALIDATION"),
        (SHOPS, "read", "{}", "STILL_HAGGLING"),
    ],
)
def test_what_makes_no_sense_is_refused(seat: int, move: str, content: str, code: str) -> None:
    table = _table()

    with pytest.raises((Refused, Invalid)) as refusal:
        table.act(seat, move, content)

    assert refusal.value.code == code
    assert table.state.quotes == {}


def test_each_quotes_once_per_round_and_reads_once_at_the_end() -> None:
    table = _table(rounds=1)
    table.act(GROWS, "quote", sell=5)
    with pytest.raises(Refused, match="named your prices"):
        table.act(GROWS, "quote", sell=6)
    assert table.operator.to_move(table.state) == [0, 1]
    table.act(MAKES, "quote", buy=1, sell=2)
    table.act(SHOPS, "quote", buy=1)
    assert table.operator.to_move(table.state) == [0, 1, 2]
    table.act(GROWS, "read")

    with pytest.raises(Refused, match="what you believe"):
        table.act(GROWS, "read", shop=5)
    with pytest.raises(Refused, match="Your own"):
        table.act(SHOPS, "read", shop=110)
    with pytest.raises(Refused, match="no more rounds"):
        table.act(SHOPS, "quote", buy=5)


@pytest.mark.parametrize("options", [{"players": 2}, {"rounds": 0}, {"decay": 0.9}, {"decay": -1}, {"x": 1}])
def test_options_that_make_no_game_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(Invalid, match="options"):
        SupplyChain(options)


def test_every_role_falls_to_every_seat() -> None:
    deals = [tuple(Table(SupplyChain(), seed=seed, seated=0).state.roles) for seed in range(60)]

    assert len(set(deals)) == 6


def _means(*names: str) -> list[Score]:
    """What bots of these names get on average."""
    totals = [[0.0, 0.0] for _ in names]
    for seed in range(30):
        table = Table(SupplyChain(), seed=seed)
        play(table, [BOTS[name](Random(f"{seed} {seat}")) for seat, name in enumerate(names)])
        assert table.status is Status.ENDED
        for total, score in zip(totals, table.scores, strict=True):
            total[0] += score.utility / 30
            total[1] += score.security / 30
    return [Score(utility=utility, security=round(security, 6)) for utility, security in totals]


def test_a_haggler_lives_well_among_the_frank_and_hagglers_among_themselves_do_not() -> None:
    frank, mixed, hagglers = (
        _means("frank", "frank", "frank"),
        _means("haggler", "frank", "frank"),
        _means(*["haggler"] * 3),
    )

    assert mixed[0].utility > frank[0].utility + 0.1
    assert mixed[0].utility > hagglers[0].utility + 0.1
    assert mixed[1].security == 0
    assert all(score.security == 1 for score in (*frank, *hagglers))


def test_the_words_a_player_reads_first_are_complete() -> None:
    assert words_of(SupplyChain).name == "Supply Chain"
