"""Runs: what one agent did on one pack, repetition by repetition, kept as files that people may commit."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import ConfigDict, ValidationError

from arena.errors import CannotStart
from arena.models import Millis, Model, Number, complaint

SCHEMA = 1
FOLDER = Path(".arena")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Record(Model):
    """The base of what is kept of evaluations."""

    model_config = ConfigDict(alias_generator=None)


class Case(Record):
    """One case in one repetition."""

    score: Number
    passed: bool
    dimensions: dict[str, Number] = {}
    reason: str | None = None  # why it has no score of its own, or what is to be known of it


class Trial(Record):
    """One repetition: a seat in a session, or why it came to nothing."""

    session: str = ""
    seat: int = 0
    overall: Number = 0
    passed: bool = False
    dimensions: dict[str, Number] = {}
    cases: dict[str, Case] = {}
    cost_usd: Number | None = None
    latency_ms: Number | None = None
    tokens: Number | None = None
    error: str | None = None


class PackRef(Record):
    """Which pack was played."""

    slug: str
    version: int
    content_hash: str
    input_set: str | None = None


class Run(Record):
    """All repetitions of one agent."""

    schema_version: int = SCHEMA
    id: str
    created_at: Millis
    pack: PackRef
    agent: str
    trials: list[Trial]

    @property
    def valid(self) -> list[Trial]:
        """The repetitions that came to something."""
        return [trial for trial in self.trials if trial.error is None]

    @property
    def keys(self) -> list[str]:
        """The cases, in their order."""
        return list(dict.fromkeys(key for trial in self.valid for key in trial.cases))

    def scores(self, case: str) -> list[float]:
        """The scores of a case, one per repetition."""
        return [trial.cases[case].score for trial in self.valid if case in trial.cases]

    def passes(self, case: str) -> list[float]:
        """1 for every repetition in which a case passed, 0 for every other."""
        return [float(trial.cases[case].passed) for trial in self.valid if case in trial.cases]

    @classmethod
    def read(cls, path: Path) -> Self:
        """A run from its file."""
        try:
            run = cls.from_json(path.read_bytes())
        except OSError as error:
            raise CannotStart(f"{path}: {error.strerror or error}") from None
        except (ValidationError, ValueError) as error:
            why = complaint(error) if isinstance(error, ValidationError) else str(error)
            raise CannotStart(f"{path} is no run of an evaluation: {why}") from None
        if run.schema_version != SCHEMA:
            raise CannotStart(f"{path} was written by another version of the arena.")
        return run


class Home:
    """A folder with runs and baselines."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or FOLDER

    def keep(self, run: Run) -> Path:
        """Write a run down."""
        return self._write(self.folder / "runs" / f"{run.id}.json", run)

    def run(self, name: str) -> Run:
        """A run by its id or its file; `latest` is the newest."""
        if name == "latest":
            return Run.read(self._latest())
        path = Path(name)
        return Run.read(path if path.suffix == ".json" or path.exists() else self._file("runs", name))

    def baseline(self, name: str) -> Run | None:
        """What was set as a baseline under a name, or a run that is given as a file."""
        path = Path(name)
        kept = path if path.suffix == ".json" else self._file("baselines", name)
        return Run.read(kept) if kept.exists() else None

    def baselines(self) -> Iterator[tuple[str, Run]]:
        """All baselines by name."""
        for path in sorted((self.folder / "baselines").glob("*.json")):
            yield path.stem, Run.read(path)

    def set_baseline(self, name: str, run: Run) -> Path:
        """Make a run what later ones are compared with."""
        return self._write(self._file("baselines", name), run)

    def clear_baseline(self, name: str) -> bool:
        """Forget a baseline; says whether there was one."""
        path = self._file("baselines", name)
        there = path.exists()
        path.unlink(missing_ok=True)
        return there

    def _latest(self) -> Path:
        found = sorted((self.folder / "runs").glob("*.json"))
        if not found:
            raise CannotStart(f"There are no runs in {self.folder}: `arena eval start` makes some.")
        return found[-1]

    def _file(self, kind: str, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise CannotStart(f"{name!r} is no name of a run or a baseline.")
        return self.folder / kind / f"{name}.json"

    def _write(self, path: Path, run: Run) -> Path:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(run.model_dump_json(indent=2, exclude_none=True) + "\n", encoding="utf-8")
        except OSError as error:
            raise CannotStart(f"{path}: {error.strerror or error}") from None
        return path


def trial_of(seat: Mapping[str, Any], session: str) -> Trial:
    """A repetition from the scorecards of its seat, as a server tells them; one that gave up has none, and scores 0."""
    card = seat.get("card") or {"overall": 0.0, "passed": False}
    return Trial(
        session=session,
        seat=seat["seat"],
        overall=card["overall"],
        passed=card["passed"],
        dimensions=card.get("dimensions") or {},
        cases={each["case"]: _case(each) for each in seat["cases"]},
        cost_usd=card.get("costUsd"),
        latency_ms=card.get("latencyMs"),
        tokens=card.get("tokens"),
    )


def _case(card: Mapping[str, Any]) -> Case:
    scores = card.get("dimension_scores") or {}
    return Case(
        score=card.get("overall_score") or 0.0,
        passed=card.get("passed") is True,
        dimensions={name: score for name, score in scores.items() if score is not None},
        reason=card.get("error") or card.get("overall_reason") or None,
    )
