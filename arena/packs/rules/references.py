"""Rules for keys and what refers to them: assets, artifacts, inputs and expectations."""

from collections.abc import Collection, Iterator, Sequence

from arena.packs.blocks import ArtifactRef, Asset, Case, CaseInput, Expectation
from arena.packs.errors import FieldError
from arena.packs.text import is_blank, trim

Errors = Iterator[FieldError]
REQUIRED = "is required"
UNIQUE = "must be unique"
NO_ASSET = "must reference a declared version asset"


def check_key(key: str, seen: set[str], path: str) -> Errors:
    """A key must be there, and be the first of its kind; `seen` collects them."""
    key = trim(key)
    if not key:
        yield FieldError(path, REQUIRED)
    elif key in seen:
        yield FieldError(path, UNIQUE)
    seen.add(key)


def check_assets(assets: Sequence[Asset], path: str) -> Errors:
    """Assets have a key of their own and a path."""
    seen: set[str] = set()
    for index, asset in enumerate(assets):
        yield from check_key(asset.key, seen, f"{path}[{index}].key")
        if is_blank(asset.path):
            yield FieldError(f"{path}[{index}].path", REQUIRED)


def check_artifact_refs(refs: Sequence[ArtifactRef], path: str, version_assets: Collection[str]) -> Errors:
    """References name version assets, each once."""
    seen: set[str] = set()
    for index, ref in enumerate(refs):
        yield from check_key(ref.key, seen, f"{path}[{index}].key")
        if not is_blank(ref.key) and trim(ref.key) not in version_assets:
            yield FieldError(f"{path}[{index}].key", NO_ASSET)


def check_case_parts(case: Case, path: str, version_assets: Collection[str]) -> Errors:
    """The assets, artifacts, inputs and expectations of a case."""
    yield from check_assets(case.assets, f"{path}.assets")
    yield from check_artifact_refs(case.artifacts, f"{path}.artifacts", version_assets)
    yield from _keyed(case.inputs, f"{path}.inputs", version_assets)
    yield from check_expectations(case.expectations, f"{path}.expectations", input_keys(case), version_assets)


def input_keys(case: Case) -> set[str]:
    """The inputs that expectations of a case can name."""
    return {trim(each.key) for each in case.inputs}


def check_expectations(
    expectations: Sequence[Expectation], path: str, inputs: Collection[str], version_assets: Collection[str]
) -> Errors:
    """Expectations are keyed like inputs, and their sources exist."""
    yield from _keyed(expectations, path, version_assets)
    for index, each in enumerate(expectations):
        problem = _source_problem(trim(each.source), inputs, version_assets)
        if problem:
            yield FieldError(f"{path}[{index}].source", problem)


def _keyed(entries: Sequence[CaseInput | Expectation], path: str, version_assets: Collection[str]) -> Errors:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        yield from check_key(entry.key, seen, f"{path}[{index}].key")
        if is_blank(entry.kind):
            yield FieldError(f"{path}[{index}].kind", REQUIRED)
        if not is_blank(entry.artifact_key) and trim(entry.artifact_key) not in version_assets:
            yield FieldError(f"{path}[{index}].artifact_key", NO_ASSET)


def _source_problem(source: str, inputs: Collection[str], version_assets: Collection[str]) -> str | None:
    kind, colon, rest = source.partition(":")
    key = trim(rest)
    if not source:
        return None
    if not colon or kind not in {"input", "artifact"}:
        return "must start with input: or artifact:"
    if not key:
        return f"must reference a non-empty {kind} key"
    if kind == "input":
        return None if key in inputs else "must reference a declared case input"
    return None if key in version_assets else NO_ASSET
