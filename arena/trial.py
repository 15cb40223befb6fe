"""Trial: `arena challenge test`, the fuzzer for those who write challenges."""

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
from rich.table import Table as Rows

from arena import catalog
from arena.catalog import ChallengeType
from arena.errors import CannotStart, UnknownChallengeType
from arena.fuzzing import Report, distinct, fuzz, unused
from arena.logs import set_up_logging
from arena.terminal import Screen, harmless, plural

SHOWN = 20  # findings


def run(name: str, games: int, seed: str, options: dict[str, Any], modules: Iterable[str]) -> int:
    """Play, show what came of it, and return the exit code."""
    set_up_logging("warning")
    kind = find(name, modules)
    report, screen = fuzz(kind.operator, games, seed, options, kind.bots), Screen()
    screen.print(summary(report))
    for move in unused(kind.operator, report):
        screen.print(f"Note: {move} was never taken; chance does not find what it takes.")
    for words, found in list(distinct(report.findings).items())[:SHOWN]:
        times = plural(len(found), "time", "times")
        screen.print(f"FOUND {harmless(words, 400)} ({times}, first in game {found[0].seed})", soft_wrap=True)
    screen.print(f"{plural(report.games, 'game', 'games')}, {plural(len(report.findings), 'finding', 'findings')}")
    return 1 if report.findings else 0


def find(name: str, modules: Iterable[str] = ()) -> ChallengeType:
    """A challenge that is installed or loaded, or whose folder lies in the current directory."""
    known = catalog.load(modules)
    if name in known.challenges:
        return known.challenge(name)
    package = name.replace("-", "_")
    if not (Path(package) / "rules.py").is_file():
        raise UnknownChallengeType(f"Unknown challenge type: {name}")
    sys.path.insert(0, str(Path.cwd()))
    module = f"{package}.rules"
    if importlib.util.find_spec(module) is None:
        raise UnknownChallengeType(f"Unknown challenge type: {name}")
    made = catalog.load([module])
    if module in made.broken:
        raise CannotStart(f"{module} does not load: {made.broken[module]}")
    ours = [kind for kind in made.challenges.values() if kind.operator.__module__ == module]
    return next((kind for kind in ours if kind.name == name), ours[0])


def read_options(text: str) -> dict[str, Any]:
    """Options from the command line."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise CannotStart("--options is no JSON.") from None
    if not isinstance(found, dict):
        raise CannotStart("--options is no JSON object.")
    return found


def summary(report: Report) -> Rows:
    """What was played, in a table."""
    rows = Rows("what", "times")
    for words, counted in (("ended", report.ended), ("taken", report.taken), ("refused", report.refused)):
        for name, times in counted.most_common():
            rows.add_row(f"{words} {harmless(name, 60)}", str(times))
    return rows
