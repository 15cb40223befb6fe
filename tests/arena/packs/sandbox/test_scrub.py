import base64
import json
from urllib.parse import quote

import pytest

from arena.packs.sandbox.scrub import HIDDEN, scrub

SECRET = 'pa"ss wörd/+42'
SECRETS = {"KEY": SECRET}


@pytest.mark.parametrize(
    "shown",
    [SECRET, quote(SECRET, safe=""), json.dumps(SECRET)[1:-1], SECRET.encode().hex(), SECRET.encode().hex().upper()],
)
def test_a_secret_is_hidden_however_it_is_spelled(shown: str) -> None:
    assert scrub(f"before {shown} after", SECRETS) == f"before {HIDDEN} after"


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_base64_hides_nothing_whatever_stands_around_it(before: str) -> None:
    cleaned = scrub(base64.b64encode(f"{before}{SECRET} and more".encode()).decode(), SECRETS)

    assert HIDDEN in cleaned
    assert base64.b64encode(SECRET.encode()).decode()[4:12] not in cleaned


def test_members_keys_and_lists_are_looked_through() -> None:
    assert scrub({"a": [SECRET, {SECRET: 1}], "n": None}, SECRETS) == {"a": [HIDDEN, {HIDDEN: 1}], "n": None}


def test_short_values_and_no_secrets_change_nothing() -> None:
    assert scrub("abc", {"A": "b", "B": ""}) == "abc"
    assert scrub("abc", {}) == "abc"
