import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.packs.text import trim
from arena.packs.values import (
    NotJson,
    as_text,
    canonical_json,
    is_number,
    loose_string,
    number_text,
    parse_json,
    same_value,
)

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | FLOATS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_canonical_json_is_json_of_the_same_value(value: Any) -> None:
    assert parse_json(canonical_json(value)) == value


@given(VALUES)
def test_canonical_json_has_one_text_per_value(value: Any) -> None:
    assert canonical_json(json.loads(json.dumps(value))) == canonical_json(value)


@given(FLOATS)
def test_a_number_as_evidence_reads_back_as_itself(value: float) -> None:
    assert float(number_text(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e6, "1e+06"),
        (999999.0, "999999"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-2.5e6, "-2.5e+06"),
        (1e100, "1e+100"),
    ],
)
def test_numbers_turn_to_exponents_at_a_million_and_below_a_ten_thousandth(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1e21, "1e+21"), (1e20, "1" + "0" * 20), (1e-6, "0.000001"), (1e-7, "1e-7"), (3.0, "3")]
)
def test_canonical_numbers_stay_plain_between_a_millionth_and_a_sextillion(value: float, text: str) -> None:
    assert canonical_json(value) == text


def test_integers_that_no_float_holds_do_not_break_a_text() -> None:
    assert as_text(10**400) == "+Inf"


@pytest.mark.parametrize(
    "text", ["", "NaN", "[1,]", "1 2", "01", "'a'", "1e999", "[" * 100_000, "9" * 5000 + "e", "{} ]"]
)
def test_what_is_not_one_json_value_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        parse_json(text)


def test_a_stray_closing_bracket_is_tolerated_only_where_asked_for() -> None:
    assert parse_json(" {} ] whatever", closing=True) == {}


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert parse_json(r'["\ud800x", "\ud83d\ude00"]') == ["\ufffdx", "😀"]


def test_a_loose_string_is_looked_for_in_members_in_their_order_and_in_lists_of_one() -> None:
    assert loose_string([{"text": "t", "content": {"answer": "c"}}]) == "c"
    assert loose_string({"value": 5}) is None
    assert loose_string(["a", "b"]) is None


def test_true_is_not_one_at_any_depth() -> None:
    assert not same_value({"a": [True]}, {"a": [1]})
    assert same_value({"a": [1, {"b": 2.0}]}, {"a": [1.0, {"b": 2}]})
    assert not is_number(True)
    assert not is_number(math.inf)


def test_trimming_leaves_separators_that_are_no_white_space() -> None:
    assert trim("\u00a0\u2003\x1c a \x1f\u3000\x85") == "\x1c a \x1f"
