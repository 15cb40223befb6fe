"""The evidence object of vectors, read into ours."""

from collections.abc import Mapping
from typing import Any

from arena.packs.evidence import Evidence, ToolCall, Turn, case_evidence
from arena.packs.records import error_message, read_execution, read_file, read_listing


def read_evidence(raw: Mapping[str, Any]) -> Evidence:
    """Everything that a vector knows about a run."""
    cases = raw.get("cases") or ([raw["case"]] if raw.get("case") is not None else [])
    assets = raw.get("version_assets") or ()
    return Evidence(
        final_output=raw.get("final_output"),
        cases=tuple(case_evidence(case, assets) for case in cases),
        files={key: read_file(key, each) for key, each in (raw.get("files") or {}).items()},
        directories={key: read_listing(key, each) for key, each in (raw.get("directories") or {}).items()},
        executions={key: read_execution(key, each) for key, each in (raw.get("code_executions") or {}).items()},
        tool_calls=[_call(each) for each in raw.get("tool_calls") or ()],
        turns=[_turn(each) for each in raw.get("turns") or ()],
    )


def _call(raw: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        raw["tool_name"],
        raw.get("arguments"),
        raw.get("failed") is True,
        raw.get("failure_origin") or "",
        error_message(raw.get("error_message") or ""),
    )


def _turn(raw: Mapping[str, Any]) -> Turn:
    texts = {name: raw.get(name) or "" for name in ("phase_id", "actor", "user", "assistant")}
    return Turn(raw["turn_index"], mismatch=raw.get("mismatch") is True, **texts)
