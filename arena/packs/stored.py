"""Cases as they are stored: a document, or for the oldest kind of case the bare payload."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from arena.packs.blocks import Bundle, Case, plain
from arena.packs.nodes import node_of
from arena.packs.shapes import decoder_of
from arena.packs.templates import is_document

SCHEMA_VERSION = 1
_MEMBERS = ("payload", "inputs", "expectations", "artifacts", "assets", "user_simulator", "case_timeout_seconds")


class StoredCase(NamedTuple):
    """A case with the names under which it is filed."""

    input_set: str
    challenge_key: str
    effective_key: str
    legacy_payload_only: bool
    document: dict[str, Any]


def is_payload_only(case: Case) -> bool:
    """Whether a case has nothing but its payload."""
    return not any(getattr(case, name) for name in _MEMBERS[1:])


def stored_case(case: Case) -> dict[str, Any]:
    """What is stored of a case."""
    if is_payload_only(case):
        return case.payload
    members = {name: plain(getattr(case, name)) for name in _MEMBERS if getattr(case, name)}
    key = {"case_key": case.effective_key} if case.effective_key else {}
    return {"schema_version": SCHEMA_VERSION, **key, **members}


def stored_cases(bundle: Bundle) -> list[StoredCase]:
    """All cases of a normalised bundle as they are stored."""
    return [
        StoredCase(each.key, case.challenge_key, case.effective_key, is_payload_only(case), stored_case(case))
        for each in bundle.input_sets
        for case in each.cases
    ]


def read_case(stored: Mapping[str, Any], item_key: str = "", challenge_key: str = "") -> Case:
    """A case from what was stored of it; an older one is all payload, and its key is that of its row."""
    raw: dict[str, Any] = dict(stored) if is_document(stored) else {"payload": dict(stored)}
    raw["case_key"] = raw.get("case_key") or item_key
    case: Case = decoder_of(Case)(node_of({**raw, "challenge_key": challenge_key, "item_key": item_key}))
    return case
