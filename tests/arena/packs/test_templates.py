from typing import Any

import pytest

from arena.packs.blocks import CaseInput
from arena.packs.templates import BadPlaceholder, context_of, placeholders, render, unresolved


def test_an_empty_part_of_a_path_is_an_error_even_where_there_is_an_empty_key() -> None:
    context = {"a": {"": {"b": 1}}, "": 2}

    for name in ("a..b", "a."):
        with pytest.raises(BadPlaceholder, match="invalid placeholder path"):
            render(f"{{{{{name}}}}}", context, strict=True)
    assert set(unresolved(["a..b", "a"], context)) == {"a..b"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0, "0"), (1.5, "1.5"), (-0.25, "-0.25"), (1e-9, "0"), (0.000123, "0.000123"), (2.0, "2"),
     (1234567.125, "1234567.125"),
     (12345678901234567890, "12345678901234567890"), (1e21, "1000000000000000000000"), (True, "true"), (None, "null"),
     ([1, "<"], '[1,"\\u003c"]'), ("{{a}}", "{{a}}"), ("", "")],
)  # fmt: skip
def test_a_value_is_written_as_people_would(value: Any, text: str) -> None:
    assert render("{{a}}", {"a": value}) == text


@pytest.mark.parametrize("template", ["{{\va}}", "{{\u00a0a}}", "{{ a b }}", "{ {a}}", "{{a-b}}", "{{}}"])
def test_what_is_no_placeholder_is_left_alone(template: str) -> None:
    assert placeholders(template) == []
    assert render(template, {"a": 1}, strict=True) == template


def test_inputs_with_a_value_stand_over_the_payload() -> None:
    inputs = [CaseInput(key=" a ", value=0), CaseInput(key="b")]

    assert context_of({"a": 1, "b": 2}, inputs) == {"a": 0, "b": 2}
