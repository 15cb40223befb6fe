"""Runs folders of vector files: each is a JSON list of `{name, input, expected}`, its stem names its adapter."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.vectors_runner import bundle, evaluation
from tests.vectors_runner.adapters import Adapter
from tests.vectors_runner.compare import differences

ADAPTERS: dict[str, Adapter] = {**bundle.ADAPTERS, **evaluation.ADAPTERS}


@dataclass
class Report:
    """How the vectors of one file went."""

    name: str
    passed: int = 0
    failed: dict[str, list[str]] = field(default_factory=dict)  # by name of the vector, where it differs


def adapter_of(stem: str) -> Adapter | None:
    """The adapter for files of this name; `validators_` stands for all that begin so."""
    prefixes = [name for name in ADAPTERS if name.endswith("_") and stem.startswith(name)]
    return ADAPTERS.get(stem) or (ADAPTERS[max(prefixes, key=len)] if prefixes else None)


def check(stem: str, vector: dict[str, Any]) -> list[str]:
    """Where the answer to one vector differs; a crash differs too."""
    adapter = adapter_of(stem)
    if adapter is None:
        return [f"no adapter for {stem}"]
    try:
        answer = adapter(vector["input"])
    except Exception as error:  # noqa: BLE001, RUF100 - a set from elsewhere is run to its end, whatever it brings up
        return [f"{type(error).__name__}: {error}"]
    return list(differences(vector["expected"], answer))


def load(path: Path) -> list[dict[str, Any]]:
    """The vectors of a file."""
    vectors: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return vectors


def run(folder: Path) -> Iterator[Report]:
    """A report per file of the folder."""
    for path in sorted(folder.glob("*.json")):
        report = Report(path.name)
        for index, vector in enumerate(load(path)):
            if found := check(path.stem, vector):
                report.failed[f"{index} {vector['name']}"] = found
            else:
                report.passed += 1
        yield report
