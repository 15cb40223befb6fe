import math
from typing import Any

import pytest

from arena.packs.errors import DecodeError
from arena.packs.nodes import Scalar, compose
from arena.packs.scalars import resolve


def read(text: str) -> Any:
    node = compose(f"[{text}]")
    return resolve(node.items[0])  # type: ignore[union-attr, arg-type]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("True", True), ("TRUE", True), ("false", False), ("tRUE", "tRUE"),
        ("yes", "yes"), ("no", "no"), ("on", "on"), ("off", "off"), ("y", "y"), ("N", "N"),
        ("~", None), ("null", None), ("Null", None), ("NULL", None), ("nULL", "nULL"),
        ("12", 12), ("+12", 12), ("-12", -12), ("0", 0), ("-0", 0), ("1_000", 1000),
        ("0x1F", 31), ("0o17", 15), ("0b101", 5), ("0777", 511), ("-0x10", -16), ("-0b11", -3), ("+0o7", 7),
        ("08", 8.0), ("0o8", "0o8"), ("0x", "0x"), ("0b2", "0b2"),
        ("9223372036854775807", 2**63 - 1), ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", 18446744073709551616.0), ("-9223372036854775809", -9223372036854775809.0),
        ("1e3", 1000.0), ("1.50", 1.5), (".5", 0.5), ("1.", 1.0), ("-1.5E-2", -0.015), ("1e999", "1e999"),
        (".inf", math.inf), ("-.INF", -math.inf), ("inf", "inf"), (".", "."), ("-", "-"), ("+", "+"), ("._5", "._5"),
        ("1:30", "1:30"), ("1.2.3", "1.2.3"), ("12e", "12e"), ("1__0", 10), ("127.0.0.1", "127.0.0.1"),
        ("2024-01-02", "2024-01-02T00:00:00Z"),
        ("2024-1-2", "2024-01-02T00:00:00Z"),
        ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
        ("2024-01-02t03:04:05.120+02:00", "2024-01-02T03:04:05.12+02:00"),
        ("2024-01-02 03:04:05.000000001", "2024-01-02T03:04:05.000000001Z"),
        ("2024-02-30", "2024-02-30"), ("2024-13-01", "2024-13-01"), ("2024-01-02T25:00:00Z", "2024-01-02T25:00:00Z"),
        ("2024-01-02 03:04:05 +1", "2024-01-02 03:04:05 +1"), ("24-01-02", "24-01-02"),
        ('"12"', "12"), ("'true'", "true"), ('""', ""), ('"2024-01-02"', "2024-01-02"),
        ("!!str 12", "12"), ("!!str true", "true"), ("!!int '12'", 12), ("!!float 1", 1.0), ("!!bool 'true'", True),
        ("!!null ''", None), ("! 12", 12), ("!!binary aGk=", "hi"),
        ("!!timestamp '2024-01-02'", "2024-01-02T00:00:00Z"),
    ],
)  # fmt: skip
def test_a_word_means_what_yaml_1_2_says_and_a_little_more(text: str, value: Any) -> None:
    found = read(text)

    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_a_number() -> None:
    assert math.isnan(read(".nan"))


@pytest.mark.parametrize(
    "text", ["!!int x", "!!bool yes", "!!float x", "!!binary '*'", "!mine x", "!!int 1.5", "!!null x"]
)
def test_a_value_that_is_not_what_its_tag_says_is_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        read(text)


def test_a_plain_scalar_keeps_its_source() -> None:
    assert Scalar("1.50", "", 1).text == "1.50"
