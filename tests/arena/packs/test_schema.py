"""The JSON Schema for editors and the reference for people, both written from the models."""

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from arena.packs.blocks import Bundle
from arena.packs.reference import _models, reference, words_of
from arena.packs.schema import bundle_schema
from tests.bundles import OURS, ROOT, data, small

SCHEMA = jsonschema_rs.Draft202012Validator(bundle_schema())
STARTERS = sorted((ROOT / "arena" / "packs" / "starters").glob("*.yaml"))


@pytest.mark.parametrize("path", [*OURS, *STARTERS], ids=lambda path: path.stem)
def test_packs_that_work_meet_the_schema(path: Path) -> None:
    assert [error.message for error in SCHEMA.iter_errors(data(path))] == []


@pytest.mark.parametrize(
    "changes",
    [
        {"pack": {"slug": "x"}},
        {"version__number": 0},
        {"version__execution_mode": "agentic"},
        {"challenges": []},
        {"challenges__0__difficulty": "Easy"},
        {"version__evaluation_spec__vaildators": []},
        {"version__evaluation_spec__validators__0__type": "exactly"},
        {"version__evaluation_spec__scorecard": {"dimensions": [5]}},
        {"security": {"default_severity": "awful"}},
        {"version__sandbox": {"env_vars": {"A": {}}}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_editor_sees_what_is_wrong(changes: Any) -> None:
    assert SCHEMA.is_valid(small())
    assert not SCHEMA.is_valid(small(**changes))


def test_every_field_of_every_block_is_told_in_words() -> None:
    for model in _models(Bundle, set()):
        for name in model.model_fields:
            assert words_of(model, name).text, f"{model.__name__}.{name}"


def test_the_page_of_the_reference_is_up_to_date() -> None:
    page = ROOT / "docs" / "packs-reference.md"

    assert page.read_text() == reference(), "write it anew with: arena pack schema --markdown > docs/packs-reference.md"
