from typing import Any

import pytest

from arena.packs.json_path import BadPath, Found, follow

DOCUMENT = {"a": [{"b c": 1, "é": 2, 'q"q': 3, "'": 4}, None], "0": "zero"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$", DOCUMENT),
        ("$.a[0][b c]", 1),
        (r'$.a[0]["\u00e9"]', 2),
        (r'$["a"][0]["q\"q"]', 3),
        (r"$.a[0]['\'']", 4),
        ("$.a[+1]", None),
        ("$.0", "zero"),
    ],
)
def test_a_path_leads_to_its_value(path: str, value: Any) -> None:
    assert follow(path, DOCUMENT) == Found(True, value)


@pytest.mark.parametrize(
    "path", ["$.b", "$.a[2]", "$.a[-1]", "$.a[1].x", "$[0]", "$.a.b", "$.b..", "$.b[", "$.a[1].x.*"]
)
def test_what_is_missing_is_told_before_the_rest_is_read(path: str) -> None:
    assert not follow(path, DOCUMENT).exists


@pytest.mark.parametrize("path", ["", "a", "$a", "$.", "$..a", "$.a[]", "$.a[", "$['ab']", '$["a', '$["\\q"]', "$[']"])
def test_a_path_that_cannot_be_read_is_refused(path: str) -> None:
    with pytest.raises(BadPath):
        follow(path, DOCUMENT)
