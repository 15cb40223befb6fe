"""Every vector gets the answer it expects; `make vectors DIR=…` tries another folder of them."""

from pathlib import Path
from typing import Any

import pytest

from tests.vectors_runner.compare import differences
from tests.vectors_runner.runner import check, load

FOLDER = Path(__file__).parent / "vectors" / "packs"
VECTORS = [(path.stem, vector) for path in sorted(FOLDER.glob("*.json")) for vector in load(path)]


@pytest.mark.parametrize(("stem", "vector"), VECTORS, ids=[f"{stem}-{v['name']}" for stem, v in VECTORS])
def test_a_vector_gets_the_answer_it_expects(stem: str, vector: dict[str, Any]) -> None:
    assert check(stem, vector) == []


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"score": 0.5}, {"score": 0.5 + 1e-6}),
        ({"passed": True}, {"passed": 1}),
        ({"ok": True}, {"ok": True, "errors": [{"field": "pack.slug", "message": ""}]}),
        ({"errors": [{"field": "a", "message": ""}] * 2}, {"errors": [{"field": "a", "message": ""}]}),
        ({"decode_error": "no"}, {"errors": []}),
        ({"reason": ""}, {"reason": "something"}),
        ({"manifest": {"source": "a"}}, {"manifest": {"source": "b"}}),
        ({"value": None}, {"value": ""}),
        ({"samples": [1, None]}, {"samples": [1]}),
    ],
)
def test_the_comparison_sees_a_difference(expected: Any, actual: Any) -> None:
    assert list(differences(expected, actual))


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"score": 1}, {"score": 1.0 + 1e-12}),
        ({"reason": "in their words"}, {"reason": "in ours"}),
        ({"errors": [{"field": "a", "message": "x"}]}, {"errors": [{"field": "a", "message": "y"}]}),
        ({"manifest": {"assets": None, "n": 1}}, {"manifest": {"n": 1.0}}),
        ({"details": {"n": 1}}, {}),
    ],
)
def test_the_comparison_lets_pass_what_is_only_informative(expected: Any, actual: Any) -> None:
    assert list(differences(expected, actual)) == []
