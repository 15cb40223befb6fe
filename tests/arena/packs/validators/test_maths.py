import pytest

from arena.packs.validators.algebra import canonical, parse
from arena.packs.validators.latex import BadExpression, prepare
from arena.packs.validators.maths import math_equivalence
from arena.packs.validators.outcome import Fault


def key(text: str) -> str:
    return canonical(parse(prepare(text))).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x*2^10", "1024*x"),
        ("x*2^-32", "x/4294967296"),
        ("(-2)^3*x", "-8*x"),
        ("0*x", "0"),
        ("1*x", "x"),
        ("x^0", "1"),
        ("a-b", "a+(-1)*b"),
        (r"\frac{x}{y}", "x*y^-1"),
        ("√{x}", "sqrt(x)"),
        ("√x*y", "sqrt(x)*y"),
        ("50%*x", "x/2"),
    ],
)
def test_expressions_of_one_form_have_one_key(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("2^33*x", "8589934592*x"), ("x+x", "2*x"), ("x-x", "0"), ("(x+1)+2", "x+3"), ("(2*x)*3", "6*x")],
)
def test_what_is_not_worked_out_keeps_its_own_key(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_large_powers_are_kept_as_they_are() -> None:
    assert key("2^32") == "num:4294967296"
    assert key("2^33") == "pow(num:2,num:33)"
    assert key(f"{2**257}^2").startswith("pow(")


@pytest.mark.parametrize("text", ["1/0", "x/(1-1)", "0^-1", "1/0.0"])
def test_division_by_zero_is_an_error(text: str) -> None:
    with pytest.raises(Fault):
        math_equivalence(text, "1", None)


@pytest.mark.parametrize("text", [r"\boxed{}", r"\frac{1}{}", r"\sqrt[]{2}", r"\boxed{{1}", "", "$$", "$ $"])
def test_empty_and_open_groups_are_errors(text: str) -> None:
    with pytest.raises(BadExpression):
        prepare(text)


@pytest.mark.parametrize(
    "text", ["2x", "2(3)", "3 4", "1e", ".", "x y", "f(x)", "²", "٣", "1..2", ")", "+", "1e9999999"]
)
def test_there_is_no_guessing_at_what_was_meant(text: str) -> None:
    with pytest.raises(BadExpression):
        parse(text)


def test_infinite_values_are_never_close() -> None:
    assert not math_equivalence("1e400", "1e400", {"comparison_mode": "numeric"}).passed


def test_a_long_number_is_read_exactly() -> None:
    assert key("9" * 10_000 + "-" + "9" * 10_000) == "num:0"
