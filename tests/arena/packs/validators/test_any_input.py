"""Whatever an author configures and an agent writes, a validator answers with a result."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.packs.evidence import Evidence, ToolCall, case_evidence
from arena.packs.records import read_execution, read_file, read_listing
from arena.packs.results import is_finite
from arena.packs.spec.models import Validator
from arena.packs.spec.validate import VALIDATOR_TYPES
from arena.packs.validators.check import evaluate_validator
from arena.packs.validators.rules import RULES, config_problems

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
KEYS = sorted(
    {name for shape, _ in RULES.values() for name in shape.model_fields} | {"schema", "match_mode", "must_exist"}
)
CONFIGS = st.none() | JSON | st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3)
SUMS = st.text(alphabet="0123456789.+-*/^()x eE%√{}_", max_size=14) | st.from_regex(
    r"[-(]?[0-9]{1,3}(e[0-9]{1,3})?([+*/^-]-?[0-9.]{1,4}){0,4}", fullmatch=True
)
DOCUMENTS = JSON.map(json.dumps) | st.text(alphabet='{}[]":,01eE.-tru$a', max_size=14)
TEXTS = (
    st.text(max_size=30)
    | SUMS
    | DOCUMENTS
    | st.sampled_from(
        [
            "1e5",
            "$.a[0]",
            '{"path":"$.a"}',
            "[1, 2]",
            '["a","b"]',
            r"\frac{1}{2}",
            "2^x-1",
            "(a|b)*",
            "\ud800",
            "true",
            "-0.0",
        ]
    )
)


@settings(max_examples=600, deadline=None)
@given(kind=st.sampled_from(VALIDATOR_TYPES), config=CONFIGS, actual=TEXTS, expected=TEXTS, listed=JSON)
def test_a_validator_always_answers(kind: str, config: Any, actual: str, expected: str, listed: Any) -> None:
    evidence = Evidence(
        final_output=actual,
        cases=(case_evidence({"payload": {"expected": expected}}),),
        files={"f": read_file("f", {"exists": True, "content": actual})},
        directories={"d": read_listing("d", {"path": "/w", "entries": listed})},
        executions={"k": read_execution("k", {"exit_code": listed, "stdout": actual})},
        tool_calls=[ToolCall(actual, listed)],
    )
    for target in ("final_output", "file:f", "file:d"):
        validator = Validator(key="k", type=kind, target=target, expected_from="case.payload.expected", config=config)
        result = evaluate_validator(validator, evidence)

        assert (result.state == "available") == (result.outcome_class in {"pass", "fail"})
        assert (result.normalized_score is None) == (result.state != "available")
        assert result.normalized_score is None or is_finite(result.normalized_score)


@settings(max_examples=300, deadline=None)
@given(kind=st.sampled_from(VALIDATOR_TYPES), config=CONFIGS)
def test_a_config_that_keeps_the_rules_is_no_fault_of_the_pack_when_it_is_used(kind: str, config: Any) -> None:
    validator = Validator(key="k", type=kind, target="literal:1", expected_from="literal:1", config=config)

    problems = config_problems(kind, config)
    result = evaluate_validator(validator, Evidence())

    if kind in RULES and not problems:
        assert result.outcome_class != "pack_error"
