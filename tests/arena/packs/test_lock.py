import json
from typing import Any

import pytest
import yaml

from arena.packs.lock import content_hash
from arena.packs.read import parse_bundle
from tests.bundles import OURS, data, small


def digest(**changes: Any) -> str:
    return content_hash(parse_bundle(json.dumps(small(**changes))))


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_the_same_pack_has_the_same_hash_however_it_is_written(path: Any) -> None:
    text = path.read_text()
    other = yaml.safe_dump(data(path), sort_keys=True, default_flow_style=True, width=60)

    assert other != text
    assert content_hash(parse_bundle(other)) == content_hash(parse_bundle(text))


@pytest.mark.parametrize(
    "changes",
    [
        {"pack__name": " Small "},
        {"pack__color": "unknown keys do not count"},
        {"version__evaluation_spec__metrics": []},
        {"version__evaluation_spec__scorecard": {"dimensions": [{"key": "correctness"}], "strategy": "weighted"}},
        {"version__tool_policy": None},
        {"input_sets": [{"key": "d", "name": "D", "items": [{"challenge_key": "c", "item_key": "k"}]}]},
        {"challenges__0__definition": {"instructions": "Do."}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_means_the_same_has_the_same_hash(changes: Any) -> None:
    assert digest(**changes) == digest()


@pytest.mark.parametrize(
    "changes",
    [
        {"pack__name": "small"},
        {"version__number": 2},
        {"version__tool_policy": {"allow_shell": False}},
        {"version__evaluation_spec__judge_mode": "deterministic", "version__evaluation_spec__name": "other"},
        {"challenges__0__instructions": "Do not."},
        {"input_sets__0__cases": [{"challenge_key": "c", "case_key": "k", "payload": {"a": None}}]},
        {"input_sets__0__cases": [{"challenge_key": "c", "case_key": "k", "payload": {"a": 12345678901234567}}]},
    ],
    ids=lambda changes: list(changes)[-1],
)
def test_what_means_something_else_has_another_hash(changes: Any) -> None:
    assert digest(**changes) != digest()


def test_large_integers_count_to_their_last_digit() -> None:
    def case(number: int) -> str:
        return digest(input_sets__0__cases=[{"challenge_key": "c", "case_key": "k", "payload": {"a": number}}])

    assert case(12345678901234567) != case(12345678901234568)
    assert digest(input_sets__0__cases=[{"challenge_key": "c", "case_key": "k", "payload": {"a": 2.0}}]) == case(2)
