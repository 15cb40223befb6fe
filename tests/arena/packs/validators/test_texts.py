from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.packs.patterns import BadPattern, compile_pattern, matches
from arena.packs.validators.numbers import numeric_match, read_number
from arena.packs.validators.outcome import Fault, PackFault
from arena.packs.validators.overlap import bleu_score, chrf_score, references, rouge_score
from arena.packs.validators.texts import fuzzy_match, normalized_match


@pytest.mark.parametrize(
    ("text", "number"),
    [("1_000.5", 1000.5), ("0x1p-2", 0.25), ("0x_1.8p1", 3.0), ("+.5e1", 5.0), ("5.", 5.0), (" -Inf ", float("-inf"))],
)
def test_numbers_are_read_as_literals(text: str, number: float) -> None:
    assert read_number(text) == number


@pytest.mark.parametrize("text", ["0x10", "1__0", "1_", "_1", "1e", "1e400", "0x1p5000", "1,000", "½", "0b1"])
def test_what_is_no_literal_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|range"):
        read_number(text)


@pytest.mark.parametrize(
    ("text", "number"), [("about $1,234.50 USD", 1234.5), ("3-4", 3), ("a-5", -5), ("50%", 50), (".5.5", 0.5)]
)
def test_the_first_number_of_a_text_is_found(text: str, number: float) -> None:
    assert read_number(text, extract=True) == number


@pytest.mark.parametrize(
    ("actual", "expected", "digits", "passed"),
    [
        ("2.5", "3", 1, True),
        ("-2.5", "-3", 1, True),
        ("1234", "1230", 3, True),
        ("0.00123", "0.00124", 3, False),
        ("0", "0", 2, True),
    ],
)
def test_significant_digits_round_halves_away_from_zero(actual: str, expected: str, digits: int, passed: bool) -> None:
    assert numeric_match(actual, expected, {"significant_digits": digits}).passed is passed


def test_either_tolerance_is_enough_and_its_edge_is_inside() -> None:
    config = {"absolute_tolerance": 0.5, "relative_tolerance": 0.01}

    assert numeric_match("10.5", "10", config).passed
    assert numeric_match("1010", "1000", config).passed
    assert not numeric_match("1011", "1000", config).passed
    assert not numeric_match("nan", "nan", config).passed


def test_a_threshold_above_one_is_one() -> None:
    assert fuzzy_match("abc", "abc", {"threshold": 7}).passed


@pytest.mark.parametrize(
    ("steps", "text"), [(["sort_lines"], "b\na"), (["sort_words"], "b  a"), (["strip_currency"], "$5 usd")]
)
def test_steps_are_taken_on_both_sides(steps: list[str], text: str) -> None:
    told = {"b\na": "a\r\nb", "b  a": "a b", "$5 usd": "5 usd"}

    assert normalized_match(text, told[text], {"pipeline": steps}).passed


def test_an_unknown_step_is_an_error() -> None:
    with pytest.raises(Fault):
        normalized_match("a", "a", {"pipeline": ["shout"]})


@pytest.mark.parametrize(
    ("text", "found"), [("[1] note", ["[1] note"]), ('["a", null]', ["a", ""]), (" \n", [""]), ("[", ["["])]
)
def test_references_are_a_list_or_the_text_itself(text: str, found: list[str]) -> None:
    assert references(text, "bleu_score") == found


@pytest.mark.parametrize("score", [bleu_score, rouge_score, chrf_score])
def test_the_same_text_scores_one_among_others(score: Any) -> None:
    assert score("a b c d", '["x", "a b c d"]', None).score == pytest.approx(1)


@pytest.mark.parametrize(
    ("score", "config"),
    [(bleu_score, {"max_ngram": 0}), (rouge_score, {"variant": "rouge-9"}), (chrf_score, {"beta": -1})],
)
def test_a_setting_out_of_range_is_the_fault_of_the_pack(score: Any, config: dict[str, Any]) -> None:
    with pytest.raises(PackFault):
        score("a", "a", config)


@pytest.mark.parametrize("pattern", [r"(?=a)", r"\1", r"(?>a)", "a++", r"\Z", r"\h", r"\C", "x{1001}", "(", "[b-a]"])
def test_patterns_beyond_re2_are_refused(pattern: str) -> None:
    with pytest.raises(BadPattern):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\Q\C\E", r"\C", True),
        (r"\\C", r"\C", True),
        ("c$", "abc\n", False),
        ("(?i)K", "\u212a", True),
        ("", "", True),
        (r"\d", "٣", False),
    ],
)
def test_patterns_mean_what_re2_means(pattern: str, text: str, found: bool) -> None:
    assert matches(pattern, text) is found


def plain_chrf(one: str, other: str, beta: float = 2) -> float:
    """The definition, word for word."""
    shares = []
    for order in range(1, min(6, len(one), len(other)) + 1):
        grams = [Counter(text[at : at + order] for at in range(len(text) - order + 1)) for text in (one, other)]
        common = (grams[0] & grams[1]).total()
        shares.append((common / grams[0].total(), common / grams[1].total()))
    precision, recall = (sum(side) / len(shares) for side in zip(*shares, strict=True))
    below = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / below if below else 0.0


@given(st.text("ab", min_size=1), st.text("ab"), st.text("abc", min_size=1), st.text("ab"))
@settings(max_examples=200, deadline=None)
def test_chrf_counts_the_same_whatever_two_texts_begin_and_end_with(head: str, one: str, other: str, tail: str) -> None:
    actual, expected = head + one + tail, head + other + tail

    assert chrf_score(actual, expected, None).score == pytest.approx(plain_chrf(actual, expected), abs=1e-12)
