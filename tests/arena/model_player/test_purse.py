"""The purse: no call that could go beyond a limit is made, whatever calls turn out to cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.llm.routes import Price
from arena.llm.talk import Tokens
from arena.model_player.purse import Limits, Purse, Spent

PRICE = Price(match="*", input=2, output=8)


@given(
    limit=st.integers(0, 20_000),
    usd=st.floats(0, 0.1),
    calls=st.integers(0, 20),
    asks=st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 2000), st.floats(0, 1), st.booleans()), max_size=40),
)
def test_no_limit_is_ever_passed(limit: int, usd: float, calls: int, asks: list[tuple[int, int, float, bool]]) -> None:
    purse = Purse(Limits(usd=usd, tokens=limit, calls=calls), PRICE)

    for asked, wanted, part, is_billed in asks:
        try:
            room = purse.room(asked, wanted)
        except Spent:
            continue
        took = Tokens(int(asked * part), int(room * part))
        if is_billed:
            purse.charge(took, PRICE.of(took), 1)
        else:
            purse.fail()
            purse.assume(Tokens(asked, room))

    assert purse.tokens <= limit
    assert purse.usd <= usd + 1e-12
    assert purse.made <= calls
    assert purse.share <= 1 + 1e-9


def test_the_last_answer_is_shortened_rather_than_not_given() -> None:
    purse = Purse(Limits(tokens=1000))
    purse.charge(Tokens(500, 100), None, 1)

    assert purse.room(asked=200, wanted=4096) == 200
    with pytest.raises(Spent, match="600 of 1000 tokens"):
        purse.room(asked=390, wanted=4096)


def test_a_call_without_a_bill_counts_as_much_as_it_may_have_cost() -> None:
    purse = Purse(Limits(usd=0.01), PRICE)

    purse.fail()
    purse.assume(Tokens(1000, 1000))

    assert purse.usage.assumed_usd == pytest.approx(0.01)
    assert purse.usage.cost_usd == 0
    with pytest.raises(Spent, match="USD"):
        purse.room(1, 100)
